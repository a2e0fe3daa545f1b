/**
 * Neon's driver through the emulator in front of a PostgreSQL server: driver and migration runner, and at night the
 * store, whose every statement is a request and a connection here.
 */
import { afterAll, beforeAll } from "vitest";
import { driverSuite, hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { driverStoreSuite } from "@gateway/control/store/driver/driverStore.suite.ts";
import { openNeon } from "@gateway/control/store/driver/neon.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { migrateSuite } from "@gateway/control/store/migrate/migrate.suite.ts";
import { Secret } from "@gateway/core/secret.ts";
import { startNeonEmulator, type NeonEmulator } from "../neon/emulator.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const host = hostOf();
let shared: URL;
let emulator: NeonEmulator;

beforeAll(async () => {
  shared = await emptyDatabase("neon_test");
  emulator = await startNeonEmulator({ host: shared.hostname, port: Number(shared.port) });
});

afterAll(async () => {
  await emulator[Symbol.asyncDispose]();
});

driverSuite({ name: "Neon", listens: false, open: () => opened() });
migrateSuite({ name: "Neon", open: () => opened() });
if (process.env["GATEWAY_NIGHTLY"] === "1") {
  driverStoreSuite("neon", async () => opened(await emptyDatabase("neon_store_test")));
}

function opened(at = shared): Promise<Database> {
  const url = new URL(at);
  url.host = "neon.example";
  const { endpoints } = emulator;
  return Promise.resolve(
    openNeon({ url: new Secret(url.href), connectionsMax: 4, host, endpoints }),
  );
}
