/** Slots whose holder is gone: nothing is suspect too early, and nothing is free before somebody under the fence says so. */
import type { ReaperVerdict } from "@gateway/core/capacity/reaper/reaperCases.ts";
import { expect } from "vitest";
import type { CapacityStore, SuspectName } from "../capacity.ts";
import type { Check } from "../store.suite.ts";
import {
  acquireOf,
  acquired,
  capsOf,
  granted,
  heldOf,
  local,
  named,
  noGrace,
  overBefore,
  process1,
  release,
  stepped,
  terms,
  waitFor,
} from "../rig/capacitySamples.ts";
import { answered } from "../rig/samples.ts";

const freed: ReaperVerdict = { advice: "freed", absent: "stays" };
const absent: ReaperVerdict = { advice: "wait", absent: "begins" };
const shown: ReaperVerdict = { advice: "goesOn", absent: "ends" };

export function capacityReaperSuite(check: Check): void {
  check("lets one lease time pass before anything is suspect when nobody ticked", async (store) => {
    const { capacity } = store;
    await capsOf(capacity, { members: { g: { c: 1 } } });
    await acquired(capacity, {}, overBefore);
    expect(await answered(capacity.tick(terms))).toBe(0);
    expect(await answered(capacity.tick(terms))).toBe(0);
    expect(await suspectsIn(capacity)).toEqual([]);
    // A tick that was away for longer than it may begins anew.
    expect(await answered(capacity.tick({ ...noGrace, graceAfterMs: -1 }))).toBe(1);
  });

  check("keeps a slot that ran out until somebody frees it", async ({ capacity }) => {
    await capsOf(capacity, { clusters: { c: 1 }, members: { g: { c: 1 } }, maxExecutionMs: 5_000 });
    const { lease, slot } = named(await acquired(capacity, {}, overBefore));
    await suspected(capacity);
    const [suspect] = await suspectsIn(capacity);
    expect(suspect).toMatchObject({ cluster: "c", group: "g", slot, lease, instance: "w" });
    expect(suspect?.holder).toBe("silent");
    expect(suspect?.expiredForMs).toBeGreaterThanOrEqual(20_000);
    expect((await acquired(capacity, {})).granted).toEqual([]);
    expect(await heldOf(capacity, "c")).toBe(1);
  });

  check("is not asked about one that ran out less than ten seconds ago", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    await acquired(capacity, {}, { ...terms, leaseMs: -1_000 });
    await suspected(capacity);
    expect(await suspectsIn(capacity)).toEqual([]);
  });

  check(
    "frees a suspect under the fence, hands it on, and tells its holder",
    async ({ capacity }) => {
      await capsOf(capacity, { members: { g: { c: 1 } } });
      const lost = named(await acquired(capacity, {}, overBefore));
      await suspected(capacity);
      await waitFor(capacity, "q1", { caller: local("other") });
      const name = await nameOf(capacity, lost.lease);
      const settled = await settle(capacity, name, freed);
      expect(settled).toMatchObject({ kind: "settled", handed: [{ queryId: "q1" }] });
      expect(await suspectsIn(capacity)).toEqual([]);
      expect(await answered(capacity.seen("w"))).toEqual([lost.lease]);
      expect(await answered(capacity.seen("other"))).toEqual([]);
      expect(await release(capacity, { granted: [{ ...lost, expiresInMs: 0 }] })).toBe(0);
      expect(await answered(capacity.readSuspect(name))).toEqual({ kind: "unknown" });
    },
  );

  check("hears nobody but the lock's present holder", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const { lease } = named(await acquired(capacity, {}, overBefore));
    await suspected(capacity);
    const name = await nameOf(capacity, lease);
    await answered(capacity.unlock("reaper", name.token));
    const next = await answered(capacity.lock("other", 60_000));
    expect(next.acquired && next.token > name.token).toBe(true);
    expect(await settle(capacity, name, freed, { version: "any" })).toEqual({ kind: "fenced" });
    expect(await answered(capacity.readSuspect(name))).toEqual({ kind: "fenced" });
    const count = { token: name.token, running: 1, complete: true };
    expect(await answered(capacity.publish("c", count))).toBe(false);
    expect((await acquired(capacity, {})).granted).toEqual([]);
  });

  check("does nothing that was decided on facts that are others by now", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const { lease } = named(await acquired(capacity, {}, overBefore));
    await suspected(capacity);
    const name = await nameOf(capacity, lease);
    const before = await versionOf(capacity, name);
    await answered(capacity.seen("w"));
    expect(await settle(capacity, name, freed, { version: before })).toEqual({ kind: "moved" });
    const [suspect] = await suspectsIn(capacity);
    expect(suspect?.holder).toBe("alive");
    expect((await settle(capacity, name, freed)).kind).toBe("settled");
  });

  check("remembers since when an engine does not show it", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } }, maxExecutionMs: 7_000 });
    const { lease } = named(await acquired(capacity, { sendsLimits: true }, overBefore));
    await suspected(capacity);
    const name = await nameOf(capacity, lease);
    expect((await factsOf(capacity, name)).absentForMs).toBeUndefined();
    await settle(capacity, name, absent);
    const after = await factsOf(capacity, name);
    expect(after.absentForMs).toBeGreaterThanOrEqual(0);
    expect(after.maxExecutionMs).toBe(7_000);
    await settle(capacity, name, shown);
    expect((await factsOf(capacity, name)).absentForMs).toBeUndefined();
  });

  check("remembers the newest listing that was heard, in whatever order", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const { lease } = named(await acquired(capacity, {}, overBefore));
    await suspected(capacity);
    const { listing } = await answered(capacity.suspects());
    const name = await nameOf(capacity, lease);
    expect((await factsOf(capacity, name)).heardForMs).toBeUndefined();
    const before = await versionOf(capacity, name);
    await settle(capacity, name, absent, { version: before, listing });
    expect(await versionOf(capacity, name)).not.toBe(before);
    // An older one comes later, and one whose name nobody knows.
    await settle(capacity, name, shown, { listing: listing - 5_000 });
    await settle(capacity, name, shown);
    const { heardForMs, nowMs } = await factsOf(capacity, name);
    expect(nowMs - (heardForMs ?? 0)).toBeCloseTo(Math.round(listing), -1);
  });

  check("tells holders the limit that their slots remember, and keeps it", async ({ capacity }) => {
    const members = { g: { c: 3 } };
    await capsOf(capacity, { members, maxExecutionMs: 7_000 });
    const sends = { sendsLimits: true, caller: local("sends") };
    const asked = acquireOf({ ...sends, requestId: "asked-once" });
    const first = granted((await stepped(capacity, { acquires: [asked] }, overBefore)).acquires[0]);
    expect(first.granted).toMatchObject([{ maxExecutionMs: 7_000 }]);
    const silent = await acquired(capacity, { caller: local("silent") }, overBefore);
    expect(silent.granted[0]).not.toHaveProperty("maxExecutionMs");
    // What comes later changes neither.
    await capsOf(capacity, { members, maxExecutionMs: 1_000 }, 2);
    const again = granted((await stepped(capacity, { acquires: [asked] })).acquires[0]);
    expect(again.granted).toMatchObject([{ maxExecutionMs: 7_000 }]);
    await suspected(capacity);
    const { token } = await answered(capacity.lock("reaper", 60_000));
    expect((await factsOf(capacity, { token, ...named(first) })).maxExecutionMs).toBe(7_000);
    const old = await factsOf(capacity, { token, ...named(silent) });
    expect(old.maxExecutionMs).toBeUndefined();
    const next = await acquired(capacity, sends);
    expect(next.granted).toMatchObject([{ maxExecutionMs: 1_000 }]);
  });

  check("tells the limit to a waiter, however it hears of its lease", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } }, maxExecutionMs: 7_000 });
    const caller = local("sends");
    const lease = await acquired(capacity, {});
    await waitFor(capacity, "q1", { caller, sendsLimits: true });
    const { handed } = await stepped(capacity, {
      releases: [{ caller: local("w"), leases: [named(lease)] }],
    });
    expect(handed[0]?.answer.granted).toMatchObject([{ maxExecutionMs: 7_000 }]);
    const heard = await acquired(capacity, { caller, queryId: "q1" });
    expect(heard.granted).toMatchObject([{ maxExecutionMs: 7_000 }]);
  });

  check("frees a suspect by hand, once, and nothing that is held", async ({ capacity }) => {
    await capsOf(capacity, { clusters: { c: 2 }, members: { g: { c: 2 } } });
    const context = { process: process1, terms };
    const held = named(await acquired(capacity, {}));
    expect(await answered(capacity.freeByHand(held, context))).toBeUndefined();
    const lost = named(await acquired(capacity, { caller: local("lost") }, overBefore));
    await suspected(capacity);
    await waitFor(capacity, "q1", { caller: local("other") });
    const foreign = { ...lost, lease: "another-lease" };
    expect(await answered(capacity.freeByHand(foreign, context))).toBeUndefined();
    const handed = await answered(capacity.freeByHand(lost, context));
    expect(handed).toMatchObject([{ queryId: "q1" }]);
    expect(await answered(capacity.freeByHand(lost, context))).toBeUndefined();
    expect(await answered(capacity.seen("lost"))).toEqual([lost.lease]);
    expect(await heldOf(capacity, "c")).toBe(2);
  });

  check("lets a suspect go on that its holder still names", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const lease = named(await acquired(capacity, {}, overBefore));
    await suspected(capacity);
    const name = await nameOf(capacity, lease.lease);
    const version = await versionOf(capacity, name);
    const renewed = await answered(capacity.renew(local("w"), [lease], terms));
    expect(renewed).toEqual({ renewed: [lease.lease], lost: [] });
    expect(await settle(capacity, name, freed, { version })).toEqual({ kind: "moved" });
    expect(await suspectsIn(capacity)).toEqual([]);
    expect(await answered(capacity.tick(noGrace))).toBe(0);
  });

  check(
    "takes what is held by an instance whose end is proven as suspect at once",
    async (store) => {
      const { capacity } = store;
      await capsOf(capacity, { members: { g: { c: 3 } } });
      const lease = named(await acquired(capacity, {}));
      const other = named(await acquired(capacity, { caller: local("other") }));
      expect(await answered(capacity.dead("w"))).toBe(1);
      expect(await answered(capacity.tick(terms))).toBe(1);
      const name = await nameOf(capacity, lease.lease);
      expect((await factsOf(capacity, name)).holder).toBe("dead");
      // Whoever speaks in its name now is not it.
      expect(await answered(capacity.renew(local("w"), [lease], terms))).toBe("refused");
      const renewed = await answered(capacity.renew(local("other"), [other], terms));
      expect(renewed).toMatchObject({ renewed: [other.lease] });
    },
  );

  check("gives the lock to one at a time, with a fence that grows", async ({ capacity }) => {
    const first = await answered(capacity.lock("a", 60_000));
    expect(first).toMatchObject({ acquired: true, token: 1 });
    expect(await answered(capacity.lock("b", 60_000))).toMatchObject({ acquired: false, token: 1 });
    expect(await answered(capacity.lock("a", 60_000))).toMatchObject({ acquired: true, token: 1 });
    expect(await answered(capacity.keepLock("b", 1))).toMatchObject({ acquired: false });
    expect(await answered(capacity.keepLock("a", 1))).toMatchObject({ acquired: true, token: 1 });
    expect(await answered(capacity.unlock("b", 1))).toBe(false);
    expect(await answered(capacity.unlock("a", 1))).toBe(true);
    expect(await answered(capacity.lock("b", -1))).toMatchObject({ acquired: true, token: 2 });
    // It ran out; who comes next is another holder, be it the same one.
    expect(await answered(capacity.lock("b", 60_000))).toMatchObject({ acquired: true, token: 3 });
    const three = await Promise.all(
      ["x", "y", "z"].map((name) => answered(capacity.lock(name, 1))),
    );
    expect(three.filter(({ acquired: got }) => got)).toEqual([]);
  });

  check("shows what engines run beside what is held", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 3 }, h: { c: 3 } } });
    await acquired(capacity, { count: 2 });
    await acquired(capacity, { group: "h" });
    const { token } = await answered(capacity.lock("a", 60_000));
    const count = { token, running: 5, complete: false };
    expect(await answered(capacity.publish("c", count))).toBe(true);
    const { clusters } = await answered(capacity.running());
    expect(clusters["c"]).toMatchObject({ running: 5, complete: false, held: 3 });
    expect(clusters["c"]?.asOfMsAgo).toBeGreaterThanOrEqual(0);
  });
}

/** Everything that ran out is suspect after it. */
async function suspected(capacity: CapacityStore): Promise<void> {
  expect(await answered(capacity.tick(noGrace))).toBeGreaterThan(0);
}

/** Of which the engine may be asked. */
async function suspectsIn(capacity: CapacityStore) {
  return (await answered(capacity.suspects())).suspects;
}

/** A suspect of cluster `c`, under the reaper's fence. */
async function nameOf(capacity: CapacityStore, lease: string): Promise<SuspectName> {
  const { token } = await answered(capacity.lock("reaper", 60_000));
  return { token, cluster: "c", slot: 0, lease };
}

async function suspectOf(capacity: CapacityStore, name: SuspectName) {
  const read = await answered(capacity.readSuspect(name));
  if (read.kind !== "suspect") throw new Error(read.kind);
  return read;
}

async function versionOf(capacity: CapacityStore, name: SuspectName): Promise<string> {
  return (await suspectOf(capacity, name)).version;
}

async function factsOf(capacity: CapacityStore, name: SuspectName) {
  return (await suspectOf(capacity, name)).facts;
}

async function settle(
  capacity: CapacityStore,
  name: SuspectName,
  verdict: ReaperVerdict,
  { version, listing }: { readonly version?: string; readonly listing?: number } = {},
) {
  const known = version ?? (await versionOf(capacity, name));
  const context = { version: known, listing, process: process1, terms };
  return answered(capacity.settle(name, verdict, context));
}
