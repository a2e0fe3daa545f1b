/** The contract of the store on a driver, with the tables made by our own runner. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { replicaOn, untilWaiting } from "../../worker/testReplica.ts";
import type { Database } from "../database.ts";
import { drizzleStore } from "../drizzle.ts";
import { migrate } from "../migrate/migrate.ts";
import { readMigrations } from "../migrate/migration.ts";
import { storeSuite } from "../store.suite.ts";
import { emptyTables } from "../suite/database.suite.ts";
import { hostOf } from "./driver.suite.ts";

const migrations = new URL("../../../../../migrations/", import.meta.url);
const startMsMax = 60_000;

/** Opens one empty database for all guarantees; each finds its tables empty. */
export function driverStoreSuite(name: string, open: () => Promise<Database>): void {
  let database: Database | undefined;

  beforeAll(async () => {
    database = await open();
    const files = await readMigrations(migrations);
    if (!files.ok) throw new Error(JSON.stringify(files.error));
    const migrated = await migrate(database, files.value);
    if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
  }, startMsMax);

  afterAll(async () => {
    await database?.[Symbol.asyncDispose]();
  });

  storeSuite(name, async () => {
    if (database === undefined) throw new Error("no database was opened");
    await emptyTables(database);
    const store = drizzleStore(keptOpen(database), { clock: systemClock });
    return { store, close: async () => store[Symbol.asyncDispose]() };
  });

  replicasSuite(name, async () => {
    if (database === undefined) throw new Error("no database was opened");
    await emptyTables(database);
    return keptOpen(database);
  });
}

/** Each holds calls of its own, and learns from the database alone what the other does. */
function replicasSuite(name: string, open: () => Promise<Database>): void {
  describe(`${name}: two control planes on one database`, () => {
    it("answer a call that is held at one when a slot is freed at the other", async () => {
      const [database, host] = [await open(), hostOf()];
      using one = replicaOn(database, host);
      using other = replicaOn(database, host);
      let held = await other.acquire();
      // The first call of a process begins to listen, each further one finds it listening.
      for (const queryId of ["q1", "q2"]) {
        const waits = one.acquire(queryId);
        await untilWaiting(other);
        await other.release(held);
        held = await waits;
        expect(held.granted).toHaveLength(1);
      }
      await one.release(held);
    });
  });
}

/** The same database for a store that closes what it was given. */
function keptOpen(database: Database): Database {
  const listens = database.listen !== undefined;
  const listen: Database["listen"] = (channel, wake) =>
    database.listen?.(channel, wake) ?? { [Symbol.asyncDispose]: () => Promise.resolve() };
  return {
    kind: database.kind,
    run: (sql, parameters) => database.run(sql, parameters),
    script: (sql) => database.script(sql),
    transaction: (work) => database.transaction(work),
    ...(listens ? { listen } : {}),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
