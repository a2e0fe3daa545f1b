/** node-postgres on a PostgreSQL server: driver, migration runner and store. */
import { beforeAll } from "vitest";
import { driverSuite, hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { driverStoreSuite } from "@gateway/control/store/driver/driverStore.suite.ts";
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { migrateSuite } from "@gateway/control/store/migrate/migrate.suite.ts";
import { Secret } from "@gateway/core/secret.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const host = hostOf();
let shared: URL;

beforeAll(async () => {
  shared = await emptyDatabase("drivers_test");
});

driverSuite({ name: "node-postgres", listens: true, open: () => opened() });
migrateSuite({ name: "node-postgres", open: () => opened() });
driverStoreSuite("postgres", async () => opened(await emptyDatabase("drivers_store_test")));

function opened(url = shared): Promise<Database> {
  return Promise.resolve(openPostgres({ url: new Secret(url.href), connectionsMax: 4, host }));
}
