/** Limits of users in shared capacity: what one user holds of a group, over all workers and clusters, and who goes on beside it. */
import type { AcquireResponse } from "@gateway/contract/capacityApi.ts";
import { expect } from "vitest";
import type { CapacityStore } from "../capacity.ts";
import type { Check } from "../store.suite.ts";
import {
  acquireOf,
  acquired,
  capsOf,
  heldOf,
  local,
  noGrace,
  overBefore,
  process1,
  release,
  stepped,
  terms,
  waitFor,
} from "../rig/capacitySamples.ts";
import { answered } from "../rig/samples.ts";

const four = { members: { g: { c: 4 } }, perUser: { g: 2 } };

export function capacityUsersSuite(check: Check): void {
  check("gives a user its limit over all workers, and others their slots", async ({ capacity }) => {
    await capsOf(capacity, four);
    const asked = ["w1", "w2", "w1", "w2"].map((name) => acquireOf({ caller: local(name) }));
    const bobs = acquireOf({ caller: local("w1"), user: "bob" });
    const { acquires } = await stepped(capacity, { acquires: [...asked, bobs] });
    expect(acquires.map(grantedCount)).toEqual([1, 1, 0, 0, 1]);
    expect(acquires[2]).toMatchObject({ userFull: true });
    expect(await heldOf(capacity, "c")).toBe(3);
  });

  check("counts a user over all clusters of the group, and in no other group", async (store) => {
    const { capacity } = store;
    const members = { g: { c: 4, d: 4 }, h: { c: 4 } };
    await capsOf(capacity, { members, perUser: { g: 2 } });
    const one = await acquired(capacity, { candidates: ["c"] });
    expect((await acquired(capacity, { candidates: ["d"] })).granted).toHaveLength(1);
    expect((await acquired(capacity, { candidates: ["c", "d"] })).granted).toEqual([]);
    expect((await acquired(capacity, { group: "h" })).granted).toHaveLength(1);
    // What is given back on one cluster is room on the other.
    await waitFor(capacity, "q1", { candidates: ["d"] });
    const { handed } = await stepped(capacity, {
      releases: [{ caller: local("w"), leases: one.granted }],
    });
    expect(handed.map(({ queryId }) => queryId)).toEqual(["q1"]);
    expect(handed[0]?.answer.granted[0]?.cluster).toBe("d");
  });

  check("gives no leases ahead where users are limited, and gives them beside", async (store) => {
    const { capacity } = store;
    const ahead = { queryId: undefined, count: 2 };
    await capsOf(capacity, { members: { g: { c: 4 }, h: { c: 4 } }, perUser: { g: 1 } });
    expect((await acquired(capacity, ahead)).granted).toEqual([]);
    await acquired(capacity, {});
    // A query that waits for its own user's slot is in nobody's way.
    await waitFor(capacity, "q1");
    expect((await acquired(capacity, { ...ahead, group: "h" })).granted).toHaveLength(2);
  });

  check("passes waiters whose user holds its limit", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 3 } }, perUser: { g: 2 } });
    const anns = [await acquired(capacity, {}), await acquired(capacity, {})];
    const bobs = await acquired(capacity, { user: "bob" });
    await waitFor(capacity, "a1");
    await waitFor(capacity, "c1", { user: "carl" });
    await waitFor(capacity, "c2", { user: "carl" });
    expect(await servedBy(capacity, bobs)).toEqual(["c1"]);
    // The slot that ann gives back is hers, and the turn of whoever waited longer.
    expect(await servedBy(capacity, anns[0])).toEqual(["c2"]);
    expect(await heldOf(capacity, "c")).toBe(3);
    expect(await servedBy(capacity, anns[1])).toEqual(["a1"]);
  });

  check("keeps the slots of a dead worker's user until the engine was asked", async (store) => {
    const { capacity } = store;
    await capsOf(capacity, { members: { g: { c: 4 } }, perUser: { g: 1 } });
    await acquired(capacity, { caller: local("dead") }, overBefore);
    await answered(capacity.tick(noGrace));
    await waitFor(capacity, "q1");
    const { token } = await answered(capacity.lock("reaper", 60_000));
    const { suspects, listing } = await answered(capacity.suspects());
    expect(suspects).toHaveLength(1);
    const { slot = 0, lease = "" } = suspects[0] ?? {};
    const name = { token, cluster: "c", slot, lease };
    const read = await answered(capacity.readSuspect(name));
    if (read.kind !== "suspect") throw new Error(read.kind);
    const context = { version: read.version, listing, process: process1, terms };
    const freed = { advice: "freed", absent: "stays" } as const;
    const settled = await answered(capacity.settle(name, freed, context));
    expect(settled).toMatchObject({ kind: "settled", handed: [{ queryId: "q1" }] });
  });

  check("follows a limit that rises, falls, comes and goes", async ({ capacity }) => {
    const members = { g: { c: 4 } };
    await capsOf(capacity, { members, perUser: { g: 1 } }, 1);
    const first = await acquired(capacity, {});
    await waitFor(capacity, "q1");
    await waitFor(capacity, "q2");
    await waitFor(capacity, "q3");
    await capsOf(capacity, { members, perUser: { g: 2 } }, 2);
    expect(await heldOf(capacity, "c")).toBe(2);
    await capsOf(capacity, { members, perUser: { g: 1 } }, 3);
    expect(await servedBy(capacity, first)).toEqual([]);
    await capsOf(capacity, { members }, 4);
    expect(await heldOf(capacity, "c")).toBe(3);
  });

  check("never gives a user more than its limit, whoever asks in what order", async (store) => {
    const { capacity } = store;
    await capsOf(capacity, { members: { g: { c: 6, d: 6 } }, perUser: { g: 2 } });
    const held = new Map<string, { readonly user: string; readonly lease: AcquireResponse }>();
    const users = new Map<string, string>();
    const note = (queryId: string, lease: AcquireResponse): void => {
      if (lease.granted.length > 0) held.set(queryId, { user: users.get(queryId) ?? "", lease });
    };
    for (let round = 0; round < 60; round += 1) {
      const user = ["ann", "ann", "bob", "carl"][(round * 7) % 4] ?? "";
      const queryId = `q${round}`;
      users.set(queryId, user);
      const candidates = round % 3 === 0 ? ["d", "c"] : ["c", "d"];
      const [oldest] = round % 2 === 0 ? held : [];
      if (oldest !== undefined) held.delete(oldest[0]);
      const leases = oldest?.[1].lease.granted ?? [];
      const step = await stepped(capacity, {
        releases: [{ caller: local("w"), leases }],
        acquires: [acquireOf({ queryId, user, candidates })],
      });
      const [answer] = step.acquires;
      if (answer !== undefined && answer !== "refused") note(queryId, answer);
      for (const given of step.handed) {
        note(given.queryId, given.answer);
        const { instance } = given;
        await stepped(capacity, { taken: [{ instance, queryId: given.queryId }] });
      }
      for (const one of ["ann", "bob", "carl"]) {
        const own = [...held.values()].filter((slot) => slot.user === one);
        expect(own.length).toBeLessThanOrEqual(2);
      }
    }
    expect(held.size).toBe(6);
    for (const { lease } of held.values()) await release(capacity, lease);
  });
}

function grantedCount(answer: AcquireResponse | "refused"): number {
  return answer === "refused" ? Number.NaN : answer.granted.length;
}

/** Gives a lease back; answers which queries were served. */
async function servedBy(
  capacity: CapacityStore,
  lease: AcquireResponse | undefined,
): Promise<readonly string[]> {
  const { handed } = await stepped(capacity, {
    releases: [{ caller: local("w"), leases: lease?.granted ?? [] }],
  });
  const taken = handed.map(({ instance, queryId }) => ({ instance, queryId }));
  await stepped(capacity, { taken });
  return handed.map(({ queryId }) => queryId);
}
