/** The store in PostgreSQL meets the contract of the port, on PGlite. */
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { drizzleStore } from "./drizzle.ts";
import { storeSuite } from "./store.suite.ts";
import { testDatabase, type TestDatabase } from "./suite/database.suite.ts";

const startTimeoutMs = 120_000;

let opened: TestDatabase | undefined;
beforeAll(async () => {
  opened = await testDatabase();
}, startTimeoutMs);
afterAll(async () => {
  await opened?.pglite.close();
});

function open(): TestDatabase {
  if (opened === undefined) throw new Error("the database did not start");
  return opened;
}

storeSuite("pglite", async () => {
  const { database, empty } = open();
  await empty();
  const store = drizzleStore(database, { clock: systemClock });
  return { store, close: async () => store[Symbol.asyncDispose]() };
});
