/**
 * Random interleavings of everything that workers, a slow network and the reaper do: acquires, repeats,
 * foreign and late releases, renewals, expiry, sightings, changed limits. The books are kept here, from
 * what was answered; the store is trusted in nothing.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { GrantedLease } from "@gateway/contract/capacityApi.ts";
import type { CapacityStore, HandOver } from "../capacity.ts";
import type { Check } from "../store.suite.ts";
import {
  acquireOf,
  capsOf,
  granted,
  heldOf,
  local,
  noGrace,
  overBefore,
  process1,
  process2,
  stepped,
  terms,
} from "../rig/capacitySamples.ts";
import { answered } from "../rig/samples.ts";

const instances = ["w1", "w2", "w3"] as const;
const groups = ["g", "h"] as const;
const users = ["ann", "bob"] as const;
/** Whose users have limits of their own. */
const limited = "g";

const action = fc.record({
  kind: fc.constantFrom(
    "acquire",
    "acquire",
    "wait",
    "repeat",
    "release",
    "release",
    "lateRelease",
    "foreignRelease",
    "renew",
    "expire",
    "reap",
    "limit",
    "leave",
  ),
  instance: fc.constantFrom(...instances),
  group: fc.constantFrom(...groups),
  user: fc.constantFrom(...users),
  process: fc.constantFrom(process1, process2),
  count: fc.integer({ min: 1, max: 3 }),
  at: fc.nat(50),
});
type Action = typeof action extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** For whom something is asked: a repeat asks for the same. */
interface Asker {
  readonly instance: string;
  readonly group: string;
  readonly user: string;
}

interface Held extends GrantedLease, Asker {}

interface Asked extends Asker {
  readonly requestId: string;
  readonly queryId?: string;
}

/** What was answered so far. */
interface Books {
  /** Leases that are somebody's: granted, and neither released nor freed by the reaper. */
  readonly held: Map<string, Held>;
  readonly released: Held[];
  readonly ever: Set<string>;
  readonly requests: Asked[];
  readonly waiting: (Asker & { readonly queryId: string })[];
  cap: number;
  userCap: number;
  sequence: number;
}

export function capacityStormSuite(check: Check): void {
  check(
    "keeps the caps and gives every lease once, whatever comes in whatever order",
    async (store) => {
      const { capacity } = store;
      let sequence = 0;
      const holds = fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        sequence += 1_000;
        const books: Books = {
          held: new Map(),
          released: [],
          ever: new Set(),
          requests: [],
          waiting: [],
          cap: 3,
          userCap: 2,
          sequence,
        };
        // Each run has a cluster and groups of its own, so that one store does for all.
        const cluster = `c${sequence}`;
        await limit(capacity, books, cluster);
        let before = 0;
        let had = heldByUsers(books);
        for (const drawn of actions) {
          await perform({ capacity, books, cluster }, drawn);
          const have = heldByUsers(books);
          for (const [at, count] of have.entries()) {
            expect(count).toBeLessThanOrEqual(Math.max(books.userCap, had[at] ?? 0));
          }
          had = have;
          // What nobody gave back counts, and nothing is given beyond the cap; a lowered one lets what runs end.
          const now = await heldOf(capacity, cluster);
          expect(now).toBeGreaterThanOrEqual(books.held.size);
          expect(now).toBeLessThanOrEqual(Math.max(books.cap, before));
          before = now;
        }
      });
      await fc.assert(holds, { numRuns: 15 });
    },
  );
}

/** What each user holds where users have limits. */
function heldByUsers({ held }: Books): readonly number[] {
  const theirs = [...held.values()].filter(({ group }) => group.startsWith(limited));
  return users.map((one) => theirs.filter(({ user }) => user === one).length);
}

interface Scene {
  readonly capacity: CapacityStore;
  readonly books: Books;
  readonly cluster: string;
}

async function limit(capacity: CapacityStore, books: Books, cluster: string): Promise<void> {
  books.sequence += 1;
  const caps = { [cluster]: books.cap };
  const members = Object.fromEntries(groups.map((group) => [`${group}-${cluster}`, caps]));
  const perUser = { [`${limited}-${cluster}`]: books.userCap };
  await capsOf(capacity, { clusters: { [cluster]: books.cap }, members, perUser }, books.sequence);
}

async function perform(scene: Scene, drawn: Action): Promise<void> {
  const { capacity, books, cluster } = scene;
  const { kind, instance, group, user, at } = drawn;
  const asker: Asker = { instance, group: `${group}-${cluster}`, user };
  const held = [...books.held.values()];
  const some = held[at % Math.max(1, held.length)];
  switch (kind) {
    case "acquire":
      return ask(scene, drawn, { ...asker, requestId: `${cluster}-${books.requests.length}` });
    case "wait": {
      const queryId = `${cluster}-q${books.waiting.length}`;
      books.waiting.push({ ...asker, queryId });
      return ask(scene, drawn, { ...asker, requestId: `${queryId}-r`, queryId });
    }
    case "repeat": {
      const again = books.requests[at % Math.max(1, books.requests.length)];
      if (again !== undefined) await ask(scene, drawn, again);
      return;
    }
    case "release":
      if (some !== undefined) await give(scene, some, some.instance);
      return;
    case "lateRelease": {
      const late = books.released[at % Math.max(1, books.released.length)];
      if (late !== undefined) await give(scene, late, late.instance);
      return;
    }
    case "foreignRelease":
      if (some !== undefined && some.instance !== instance) await give(scene, some, instance);
      return;
    case "renew": {
      const answer = await answered(capacity.renew(local(instance), held, terms));
      const own = held.filter((lease) => lease.instance === instance).map(({ lease }) => lease);
      expect(answer).toMatchObject({ renewed: expect.arrayContaining(own) });
      return;
    }
    case "expire":
      await answered(capacity.tick(noGrace));
      return;
    case "reap":
      return reap(scene);
    case "limit":
      books.cap = 1 + (at % 4);
      books.userCap = 1 + (at % 3);
      return limit(capacity, books, cluster);
    case "leave": {
      const waiter = books.waiting[at % Math.max(1, books.waiting.length)];
      if (waiter === undefined) return;
      const { queryId } = waiter;
      await stepped(capacity, { leaves: [{ caller: local(waiter.instance), queryId }] });
    }
  }
}

async function ask(
  { capacity, books, cluster }: Scene,
  { process, count, at }: Pick<Action, "process" | "count" | "at">,
  asking: Asked,
): Promise<void> {
  const { instance, group, user, requestId, queryId } = asking;
  books.requests.push(asking);
  const asked = acquireOf({
    caller: local(instance),
    requestId,
    group,
    user,
    candidates: [cluster],
    queryId,
    count,
    waits: queryId !== undefined,
  });
  const within = at % 3 === 0 ? overBefore : terms;
  const step = await stepped(capacity, { process, acquires: [asked] }, within);
  const before = books.held.size;
  note(books, asking, granted(step.acquires[0]).granted);
  for (const handed of step.handed) noteHanded(books, handed);
  const more = books.held.size - before;
  expect(more === 0 || books.held.size <= books.cap).toBe(true);
}

/** A lease that is answered again is the same lease of the same holder. */
function note(books: Books, asker: Asker, leases: readonly GrantedLease[]): void {
  const { instance, group, user } = asker;
  for (const lease of leases) {
    const known = books.held.get(lease.lease);
    if (known !== undefined) {
      expect(known.instance).toBe(instance);
      continue;
    }
    expect(books.ever.has(lease.lease)).toBe(false);
    books.ever.add(lease.lease);
    books.held.set(lease.lease, { ...lease, instance, group, user });
  }
}

/** What came free goes to one who waited. */
function noteHanded(books: Books, { queryId, instance, answer }: HandOver): void {
  const waiter = books.waiting.find((one) => one.queryId === queryId);
  if (waiter === undefined) throw new Error("a lease for nobody");
  expect(instance).toBe(waiter.instance);
  note(books, waiter, answer.granted);
}

async function give({ capacity, books }: Scene, lease: Held, instance: string): Promise<void> {
  const { releases, handed } = await stepped(capacity, {
    releases: [{ caller: local(instance), leases: [lease] }],
  });
  const mine = books.held.has(lease.lease) && lease.instance === instance;
  expect(releases).toEqual([mine ? 1 : 0]);
  if (mine) {
    books.held.delete(lease.lease);
    books.released.push(lease);
  }
  for (const one of handed) noteHanded(books, one);
}

/** Frees what it may be asked about, as if every engine ran nothing. */
async function reap({ capacity, books, cluster }: Scene): Promise<void> {
  const { token } = await answered(capacity.lock("reaper", 60_000));
  const { suspects, listing } = await answered(capacity.suspects());
  for (const suspect of suspects) {
    if (suspect.cluster !== cluster) continue;
    const name = { token, cluster, slot: suspect.slot, lease: suspect.lease };
    const read = await answered(capacity.readSuspect(name));
    if (read.kind !== "suspect") throw new Error(read.kind);
    const { version } = read;
    const settled = await answered(
      capacity.settle(
        name,
        { advice: "freed", absent: "stays" },
        { version, listing, process: process1, terms },
      ),
    );
    expect(settled.kind).toBe("settled");
    books.held.delete(suspect.lease);
    if (settled.kind !== "settled") continue;
    for (const one of settled.handed) noteHanded(books, one);
  }
}
