/** The queue of shared capacity: a freed slot goes to the first live waiter, in the fair order, in the step that frees it. */
import type { AcquireResponse } from "@gateway/contract/capacityApi.ts";
import { expect } from "vitest";
import type { CapacityStore } from "../capacity.ts";
import type { Check } from "../store.suite.ts";
import {
  acquireOf,
  acquired,
  capsOf,
  heldOf,
  leasesOf,
  local,
  process1,
  process2,
  release,
  stepped,
  terms,
  waitFor,
} from "../rig/capacitySamples.ts";
import { answered } from "../rig/samples.ts";

export function capacityQueueSuite(check: Check): void {
  check(
    "hands a freed slot to the waiter, and tells the process that holds its call",
    async (store) => {
      const { capacity } = store;
      await capsOf(capacity, { members: { g: { c: 1 } } });
      const first = await acquired(capacity, {});
      const { position } = await waitFor(capacity, "q1", { requestId: "r1" });
      expect(position).toBe(1);
      const { handed } = await stepped(capacity, {
        releases: [{ caller: local("w"), leases: first.granted }],
      });
      expect(handed).toMatchObject([{ instance: "w", queryId: "q1" }]);
      const { answer } = handed[0] ?? { answer: { granted: [] } };
      expect(answer.granted).toMatchObject([{ cluster: "c", slot: 0, expiresInMs: terms.leaseMs }]);
      expect(await heldOf(capacity, "c")).toBe(1);
      // Asked again under the same question or a new one before anybody said it arrived: the same lease.
      const again = await acquired(capacity, { queryId: "q1", requestId: "r1", waits: true });
      expect(leasesOf(again)).toEqual(leasesOf(answer));
    },
  );

  check("gives a waiter what it was handed between two of its calls", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    await waitFor(capacity, "q1");
    await release(capacity, first);
    const next = await acquired(capacity, { queryId: "q1", waits: true });
    expect(next.granted).toHaveLength(1);
    // Told once: another question of the query is a new one.
    expect((await acquired(capacity, { queryId: "q1" })).granted).toEqual([]);
    expect(await release(capacity, next)).toBe(1);
  });

  check("forgets a waiter that was told of its lease", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    await waitFor(capacity, "q1");
    await release(capacity, first);
    await stepped(capacity, { taken: [{ instance: "w", queryId: "q1" }] });
    expect((await acquired(capacity, { queryId: "q1" })).granted).toEqual([]);
    expect((await answered(capacity.waiting())).size).toBe(0);
  });

  check("shortens the life of a lease that nobody could be told of", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    await waitFor(capacity, "q1", { requestId: "r1" });
    await release(capacity, first);
    await stepped(capacity, { missed: [{ instance: "w", queryId: "q1" }] });
    const again = await acquired(capacity, { queryId: "q1", requestId: "r1" });
    expect(again.granted[0]?.expiresInMs).toBeLessThanOrEqual(terms.handOverMs);
  });

  check(
    "hands on to another process a lease that lives until that has heard of it",
    async (store) => {
      const { capacity } = store;
      await capsOf(capacity, { members: { g: { c: 1 } } });
      const first = await acquired(capacity, {});
      const asked = acquireOf({ queryId: "q1", requestId: "r1" });
      await stepped(capacity, { process: process2, acquires: [asked] });
      const { handed } = await stepped(capacity, {
        releases: [{ caller: local("w"), leases: first.granted }],
      });
      const collected = await answered(capacity.collect(process2, terms));
      const mine = await answered(capacity.collect(process1, terms));
      // A store of one process has no other process to hand to.
      const told = [...handed, ...collected];
      expect(mine).toEqual([]);
      expect(told.map(({ queryId }) => queryId).filter((id) => id !== "q1")).toEqual([]);
      expect(await heldOf(capacity, "c")).toBe(1);
    },
  );

  check("goes by turns of users, and by age within one", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    for (const [queryId, user] of [
      ["a1", "ann"],
      ["a2", "ann"],
      ["a3", "ann"],
      ["b1", "bob"],
    ] as const) {
      await waitFor(capacity, queryId, { user });
    }
    expect(await drained(capacity, first.granted)).toEqual(["a1", "b1", "a2", "a3"]);
  });

  check("serves groups by their weights", async ({ capacity }) => {
    const members = { g: { c: 1 }, h: { c: 1 } };
    await capsOf(capacity, { clusters: { c: 1 }, members, weights: { g: 1, h: 3 } });
    const first = await acquired(capacity, {});
    for (let at = 0; at < 8; at += 1) {
      await waitFor(capacity, `g${at}`);
      await waitFor(capacity, `h${at}`, { group: "h" });
    }
    const order = await drained(capacity, first.granted);
    expect(order).toHaveLength(16);
    expect(order.slice(0, 8).filter((query) => query.startsWith("h"))).toHaveLength(6);
  });

  check("begins an idle group level with those who wait", async ({ capacity }) => {
    const members = { g: { c: 1 }, h: { c: 1 } };
    await capsOf(capacity, { clusters: { c: 1 }, members });
    const first = await acquired(capacity, {});
    for (let at = 0; at < 8; at += 1) await waitFor(capacity, `g${at}`);
    const { granted: last } = await served(capacity, first.granted, 4);
    for (let at = 0; at < 8; at += 1) await waitFor(capacity, `h${at}`, { group: "h" });
    const { order } = await served(capacity, last, 4);
    expect(order.filter((query) => query.startsWith("h"))).toHaveLength(2);
  });

  check("puts a waiter past half of its wait before everybody", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } }, waitMs: 100_000 });
    const first = await acquired(capacity, {});
    await waitFor(capacity, "young", { user: "a" });
    await waitFor(capacity, "old", { user: "b", ageMs: 60_000 });
    await waitFor(capacity, "older", { user: "c", ageMs: 70_000 });
    expect(await drained(capacity, first.granted)).toEqual(["older", "old", "young"]);
  });

  check("passes those who can not use the slot", async ({ capacity }) => {
    const members = { g: { c: 1, d: 1 }, h: { c: 1 } };
    await capsOf(capacity, { members });
    const onC = await acquired(capacity, {});
    await acquired(capacity, { group: "h" });
    await acquired(capacity, { candidates: ["d"] });
    await waitFor(capacity, "needs-d", { candidates: ["d"] });
    await waitFor(capacity, "other-group", { group: "h" });
    await waitFor(capacity, "fits", { candidates: ["d", "c"] });
    const { handed } = await stepped(capacity, {
      releases: [{ caller: local("w"), leases: onC.granted }],
    });
    expect(handed.map(({ queryId }) => queryId)).toEqual(["fits"]);
  });

  check("hands raised room to those who wait", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } }, 1);
    await acquired(capacity, {});
    await waitFor(capacity, "q1");
    await waitFor(capacity, "q2");
    await capsOf(capacity, { members: { g: { c: 2 } } }, 2);
    expect(await heldOf(capacity, "c")).toBe(2);
    expect((await acquired(capacity, { queryId: "q1" })).granted).toHaveLength(1);
    expect((await acquired(capacity, { queryId: "q2" })).granted).toEqual([]);
  });

  check("says positions, counts the queue, and refuses beyond its limit", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } }, maxQueued: 2 });
    await acquired(capacity, {});
    expect((await waitFor(capacity, "q1")).position).toBe(1);
    expect((await waitFor(capacity, "q2")).position).toBe(2);
    expect(await waitFor(capacity, "q3")).toEqual({ granted: [], queueFull: true });
    expect((await waitFor(capacity, "q2")).position).toBe(2);
    expect(await answered(capacity.waiting())).toEqual(new Map([["g", 2]]));
    const { leaves } = await stepped(capacity, {
      leaves: [
        { caller: local("w"), queryId: "q1" },
        { caller: local("w"), queryId: "q1" },
        { caller: local("other"), queryId: "q2" },
      ],
    });
    expect(leaves).toEqual([true, false, false]);
    expect((await waitFor(capacity, "q2")).position).toBe(1);
  });

  check("estimates the wait once slots were handed on", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    expect((await waitFor(capacity, "q1")).estimateMs).toBeUndefined();
    await waitFor(capacity, "q2");
    await release(capacity, first);
    expect((await waitFor(capacity, "q2")).estimateMs).toBeGreaterThanOrEqual(0);
  });

  check("gives nothing to a waiter that has not called for too long", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    const gone = { ...terms, waiterMs: -1 };
    await acquired(capacity, { queryId: "gone", waits: true }, gone);
    await waitFor(capacity, "there", { user: "z" });
    expect(await drained(capacity, first.granted)).toEqual(["there"]);
    await answered(capacity.tick(terms));
    expect((await answered(capacity.waiting())).size).toBe(0);
  });

  check(
    "asks the engine about a lease that was handed to a query that left",
    async ({ capacity }) => {
      await capsOf(capacity, { members: { g: { c: 1 } } });
      const first = await acquired(capacity, {});
      await waitFor(capacity, "q1");
      await release(capacity, first);
      await stepped(capacity, { leaves: [{ caller: local("w"), queryId: "q1" }] });
      // Nobody can say whether its answer arrived before it left.
      expect(await heldOf(capacity, "c")).toBe(1);
      expect((await acquired(capacity, {})).granted).toEqual([]);
    },
  );
}

/** Gives back what is held, one after the other, and answers who was served. */
async function drained(
  capacity: CapacityStore,
  leases: Parameters<typeof served>[1],
): Promise<readonly string[]> {
  return (await served(capacity, leases, 100)).order;
}

async function served(capacity: CapacityStore, leases: AcquireResponse["granted"], count: number) {
  const order: string[] = [];
  let held = leases;
  while (order.length < count) {
    const { handed } = await stepped(capacity, {
      releases: [{ caller: local("w"), leases: held }],
    });
    const [next] = handed;
    if (next === undefined) break;
    const { instance, queryId } = next;
    await stepped(capacity, { taken: [{ instance, queryId }] });
    order.push(queryId);
    held = next.answer.granted;
  }
  return { order, granted: held };
}
