/** The contract of the store on a driver, with the tables made by our own runner. */
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import type { Database } from "../database.ts";
import { drizzleStore } from "../drizzle.ts";
import { migrate } from "../migrate/migrate.ts";
import { readMigrations } from "../migrate/migration.ts";
import { storeSuite } from "../store.suite.ts";
import { emptyTables } from "../suite/database.suite.ts";

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
