import { describe, expect, it } from "vitest";
import type { Store } from "../../store/store.ts";
import { acquired, capsOf, named } from "../../store/rig/capacitySamples.ts";
import { answered } from "../../store/rig/samples.ts";
import { testAdmin } from "../rig/admin.ts";

const suspectsPath = "/admin/capacity/suspects";

describe("suspect slots", () => {
  it("are shown to viewers, and given again by admins alone", async () => {
    const { json, ask, store, host } = await testAdmin();
    const lease = await suspectIn(store);
    await host.advance(10_000);
    const { items } = (await json("GET", suspectsPath, { as: "viewer" })).body as {
      items: unknown[];
    };
    expect(items).toEqual([
      expect.objectContaining({ lease, cluster: "c", group: "g", instance: "w", holder: "dead" }),
    ]);
    const path = `${suspectsPath}/${lease}/free`;
    expect((await ask("POST", path, { as: "operator" })).status).toBe(403);
    expect((await acquired(store.capacity, { caller: other })).granted).toEqual([]);
    const freed = await json("POST", path, { as: "admin" });
    expect(freed).toMatchObject({ status: 200, body: { lease, state: "freed" } });
    expect((await acquired(store.capacity, { caller: other })).granted).toHaveLength(1);
  });

  it("are freed once, and each with its row in the trail", async () => {
    const { json, ask, store, host } = await testAdmin();
    const lease = await suspectIn(store);
    const path = `${suspectsPath}/${lease}/free`;
    // Its last statement may still be on its way.
    expect((await ask("POST", path)).status).toBe(404);
    await host.advance(10_000);
    expect((await ask("POST", `${suspectsPath}/another/free`)).status).toBe(404);
    expect((await ask("POST", path)).status).toBe(200);
    expect((await ask("POST", path)).status).toBe(404);
    const { items } = (await json("GET", "/admin/audit?action=free")).body as { items: unknown[] };
    const detail = { cluster: "c", group: "g", slot: 0, instance: "w" };
    expect(items).toEqual([
      expect.objectContaining({ by: "anna", target: `slot/${lease}`, detail }),
    ]);
    expect(host.log.lines).toContainEqual(
      expect.objectContaining({
        event: "capacity.slotFreed",
        fields: { cluster: "c", slot: 0, seen: "byHand" },
      }),
    );
  });
});

const other = { instance: "other", tokenHash: undefined };

/** Its holder is proven dead. */
async function suspectIn({ capacity }: Store): Promise<string> {
  await capsOf(capacity, { members: { g: { c: 1 } } });
  const { lease } = named(await acquired(capacity, {}));
  await answered(capacity.dead("w"));
  return lease;
}
