/**
 * The store in PostgreSQL, over whatever driver leads there.
 *
 * Atomic steps are one statement each, because the HTTP driver of Neon has no transactions. The
 * database belongs to the store from here on and is closed with it.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Database } from "./database.ts";
import { askedOf } from "./drizzle/asked.ts";
import { auditTable } from "./drizzle/audit.ts";
import { capacityTables } from "./drizzle/capacity.ts";
import { configTables } from "./drizzle/configuration.ts";
import { recordTables } from "./drizzle/records.ts";
import { userTables } from "./drizzle/users.ts";
import { workerTables } from "./drizzle/workers.ts";
import type { Store } from "./store.ts";

export interface DrizzleStoreOptions {
  readonly clock: Clock;
  /** How often a watcher looks where notifications come, in case one was lost. */
  readonly checkMs?: number;
  /** How often a watcher looks where none come. */
  readonly pollMs?: number;
}

const checkMsDefault = 5_000;
const pollMsDefault = 1_000;

/** The store of a database whose migrations are applied. */
export function drizzleStore(
  database: Database,
  { clock, checkMs = checkMsDefault, pollMs = pollMsDefault }: DrizzleStoreOptions,
): Store {
  const asked = askedOf(database);
  const lookMs = database.listen === undefined ? pollMs : checkMs;
  return {
    kind: database.kind,
    config: configTables(asked, { database, clock, lookMs }),
    records: recordTables(asked),
    workers: workerTables(asked),
    capacity: capacityTables(asked, { database, clock, lookMs }),
    users: userTables(asked),
    audit: auditTable(asked),
    [Symbol.asyncDispose]: async () => database[Symbol.asyncDispose](),
  };
}
