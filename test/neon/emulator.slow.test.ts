/** The Neon driver through the emulator, in front of PGlite; `npm run test:real` does it in front of a server. */
import { neon, neonConfig } from "@neondatabase/serverless";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { driverSuite, hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { openNeon } from "@gateway/control/store/driver/neon.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { Secret } from "@gateway/core/secret.ts";
import { startNeonEmulator, type NeonEmulator } from "./emulator.ts";
import { startPgliteServer, type PgliteServer } from "./pgliteServer.ts";

const url = "postgresql://gateway:secret@neon-pglite.example/postgres";
let server: PgliteServer;
let emulator: NeonEmulator;

beforeAll(async () => {
  server = await startPgliteServer();
  emulator = await startNeonEmulator(server);
}, 60_000);

afterAll(async () => {
  await emulator[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

driverSuite({ name: "Neon on PGlite", listens: false, open: () => Promise.resolve(opened()) });

describe("startNeonEmulator", () => {
  it("runs a batch as one transaction, as the serverless driver sends it", async () => {
    // Routed by the driver under test, which the suites above opened.
    expect(neonConfig.fetchEndpoint).toBeTypeOf("function");
    const sql = neon(url, { arrayMode: true });
    await sql.query("create table batch (i int)");
    const failing = sql.transaction([
      sql.query("insert into batch values ($1)", [1]),
      sql.query("select * from no_such_table"),
    ]);
    await expect(failing).rejects.toMatchObject({ code: "42P01" });
    const [, rows] = await sql.transaction(
      [sql.query("insert into batch values ($1)", [2]), sql.query("select i from batch")],
      { isolationLevel: "Serializable" },
    );
    expect(rows).toEqual([[2]]);
  });
});

function opened(): Database {
  const { endpoints } = emulator;
  return openNeon({ url: new Secret(url), connectionsMax: 4, host: hostOf(), endpoints });
}
