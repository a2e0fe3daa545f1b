import { describe, expect, it } from "vitest";
import type { Slot } from "../query/slot.ts";
import { askedPerGroupMax } from "./queue/askWindow.ts";
import { slotOf, type Admission } from "./rig/admission.ts";
import { fleetOf } from "./rig/leased.ts";

describe("leased capacity with a limit for each user", () => {
  it("lets a user run its limit over all workers, and others beside", async () => {
    const fleet = fleetOf({ cap: 8, perUser: 2 });
    const workers = [fleet.worker(), fleet.worker()];
    const anns = [0, 1, 0, 1, 0, 1, 0, 1].map((at) => workers[at]?.admit({ user: "ann" }));
    await fleet.host.advance(1_000);
    expect(granted(anns)).toHaveLength(2);
    const bobs = workers.map((worker) => worker.admit({ user: "bob" }));
    await fleet.host.advance(1_000);
    expect(granted(bobs)).toHaveLength(2);
    for (let ran = 2; ran < 8; ran += 1) {
      await (await firstOf(anns)).slot[Symbol.asyncDispose]();
      await fleet.host.advance(1_000);
      expect(granted(anns)).toHaveLength(Math.min(2, 8 - ran + 1));
    }
    expect(fleet.leases.taken).toBe(4);

    /** A granted one, taken out of the list. */
    async function firstOf(list: (Admission | undefined)[]) {
      const at = list.findIndex((one) => one?.result !== undefined);
      const [admission] = list.splice(at, 1);
      if (admission === undefined) throw new Error("none was granted");
      return { slot: await slotOf(admission) };
    }
  });

  it("keeps no lease that nobody uses, so that another worker of the user has it", async () => {
    const fleet = fleetOf({ cap: 8, perUser: 1 });
    const [one, other] = [fleet.worker(), fleet.worker()];
    const slots: Slot[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const admission = (turn % 2 === 0 ? one : other).admit({ user: "ann" });
      await fleet.host.advance(50);
      const slot = await slotOf(admission);
      slots.push(slot);
      await slot[Symbol.asyncDispose]();
      await fleet.host.advance(10);
      expect(fleet.leases.taken).toBe(0);
    }
    expect(new Set(slots.map(({ holder }) => holder)).size).toBe(6);
  });

  it("asks for others however many of one user wait, here or for slots elsewhere", async () => {
    const fleet = fleetOf({ cap: 200, perUser: 1 });
    const [here, there] = [fleet.worker(), fleet.worker()];
    const users = Array.from({ length: askedPerGroupMax + 1 }, (_, at) => `user-${at}`);
    for (const user of users) there.admit({ user });
    await fleet.host.advance(1_000);
    // Each holds all that it may on the other worker, and one of them sends many more.
    for (const user of users) here.admit({ user });
    for (let more = 0; more < 2 * askedPerGroupMax; more += 1) here.admit({ user: "user-0" });
    await fleet.host.advance(1_000);
    const carls = here.admit({ user: "carl" });
    await fleet.host.advance(1_000);
    expect(carls.result?.ok).toBe(true);
  });

  it("says why a user waited in vain whose slots are taken on another worker", async () => {
    const fleet = fleetOf({ cap: 8, perUser: 1 });
    const [here, there] = [fleet.worker(), fleet.worker()];
    await fleet.host.advance(0);
    there.admit({ user: "ann" });
    await fleet.host.advance(1_000);
    const waits = here.admit({ user: "ann", waitTimeoutMs: 3_000 });
    await fleet.host.advance(4_000);
    expect(waits.result).toMatchObject({
      ok: false,
      error: { code: "capacity.timeout", message: expect.stringContaining("of this user") },
    });
  });

  it("begins nothing of a limited user while nobody counts for the fleet", async () => {
    const fleet = fleetOf({ cap: 8, perUser: 2 });
    const worker = fleet.worker();
    const first = worker.admit({ user: "ann" });
    await fleet.host.advance(1_000);
    worker.cut("all");
    const next = worker.admit({ user: "bob" });
    await fleet.host.advance(5_000);
    await (await slotOf(first))[Symbol.asyncDispose]();
    await fleet.host.advance(1_000);
    expect(next.result).toBeUndefined();
    worker.cut();
    await fleet.host.advance(5_000);
    expect(next.result?.ok).toBe(true);
  });
});

function granted(list: readonly (Admission | undefined)[]): readonly (Admission | undefined)[] {
  return list.filter((one) => one?.result?.ok === true);
}
