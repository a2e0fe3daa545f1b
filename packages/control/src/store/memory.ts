/**
 * The store in memory, for `persistence.type: inMemory`: every guarantee of the port except that
 * anything outlives the process. What grows with use (history, audit) keeps its newest part.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { memoryAudit } from "./memory/audit.ts";
import { memoryCapacity } from "./memory/capacity.ts";
import { memoryConfig } from "./memory/configuration.ts";
import { memoryRecords } from "./memory/records.ts";
import { memoryUsers } from "./memory/users.ts";
import { memoryWorkers } from "./memory/workers.ts";
import type { Store, WorkerRow } from "./store.ts";

/** An empty store. Watchers wake from a timer of `clock` that is due at once. */
export function memoryStore(clock: Clock): Store {
  const audit = memoryAudit();
  const instances = new Map<string, WorkerRow>();
  return {
    kind: "memory",
    config: memoryConfig(clock, audit.add),
    records: memoryRecords(),
    workers: memoryWorkers(instances),
    capacity: memoryCapacity(clock, (id, tokenHash) => instances.get(id)?.tokenHash === tokenHash),
    users: memoryUsers(),
    audit: audit.store,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
