/** One of several control planes on one database, as far as capacity goes: its own store, and the shared capacity over it. */
import type { AcquireResponse } from "@gateway/contract/capacityApi.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Database } from "../../store/database.ts";
import { drizzleStore } from "../../store/drizzle.ts";
import { sharedCapacity, type CapacityDeps } from "../capacity/sharedCapacity.ts";

export interface TestReplica extends Disposable {
  /** Asks for the one slot that there is. With `queryId` the call is held while it waits. */
  acquire(queryId?: string): Promise<AcquireResponse>;
  release(answer: AcquireResponse): Promise<void>;
  /** Queries that wait, as the database has them. */
  waiting(): Promise<number>;
}

const caller = { instance: "worker", tokenHash: undefined };
/** Longer than any test: what is not told is never found by looking. */
const neverMs = 3_600_000;
/** A call that nobody tells of its lease ends without one. */
const heldMs = 10_000;

let requests = 0;

/** The cap is one query on cluster `c` in group `g`. */
export function replicaOn(database: Database, host: Host): TestReplica {
  const looks = database.listen === undefined ? {} : { checkMs: neverMs };
  const store = drizzleStore(database, { clock: host.clock, ...looks });
  const stopping = new AbortController();
  const built = {
    revision: { epoch: 1, sequence: 1, hash: "sha256:0" },
    body: {
      clusters: { c: { maxRunningQueries: 1 } },
      clusterGroups: { g: { members: ["c"], maxRunningQueries: 1 } },
    },
  };
  const { clock, log, metrics } = host;
  const deps = {
    store,
    clock,
    log,
    metrics,
    config: { current: () => built, onChange: () => ({ [Symbol.dispose]: () => {} }) },
    randomBytes: (length: number) => host.randomBytes(length),
    host: "container",
    stopping: stopping.signal,
  };
  // It reads the limits of a configuration, and nothing else of it.
  const shared = sharedCapacity(deps as unknown as CapacityDeps);
  return {
    acquire: async (queryId) => {
      requests += 1;
      const named = queryId === undefined ? { waitMs: 0 } : { queryId, waitMs: heldMs };
      const question = { requestId: `request-${requests}`, group: "g", candidates: ["c"] };
      const answer = await shared.acquire(
        caller,
        { ...question, user: "ann", count: 1, ...named },
        new AbortController().signal,
      );
      if (!answer.ok) throw new Error(answer.error.code);
      return answer.value;
    },
    release: async ({ granted }) => {
      const released = await shared.release(caller, granted);
      if (!released.ok || released.value.released !== granted.length) throw new Error("not held");
    },
    waiting: async () => {
      const groups = await store.capacity.waiting();
      if (!groups.ok) throw new Error(groups.error.code);
      return groups.value.get("g") ?? 0;
    },
    [Symbol.dispose]: () => stopping.abort(),
  };
}

/** Until a query waits in the database. */
export async function untilWaiting(replica: Pick<TestReplica, "waiting">): Promise<void> {
  while ((await replica.waiting()) === 0);
}
