/** DuckDB lets every client read its temporary files. There are none by default, and where the operator wants some they hold nothing readable. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

/** Stands a million times in the rows that are sorted. */
const canary = "canary-of-alice";
const rows = `select i, '${canary}' || (i % 10) || repeat('x', 60) as t from range(1000000) r(i)`;
const small = { engine: "duckDb", memoryLimit: "60MB", threads: 1 };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-spill-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("data that does not fit into memory", () => {
  it("fails with a typed error where no folder for temporary files is set", async () => {
    await using gateway = await gatewayOf(configOf({ clusters: { local: small } }));
    const client = await clientOf(gateway);
    const failure = await client.query(`create table spilled as ${rows} order by hash(i)`).then(
      () => "finished",
      (error: unknown) => (error as { code?: string }).code,
    );
    expect(failure).toBe("53200");
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await client.end();
  }, 300_000);

  it("leaves no readable value in the temporary files of the folder that is set", async () => {
    const local = { ...small, tempDirectory: folder };
    await using gateway = await gatewayOf(configOf({ clusters: { local } }));
    const client = await clientOf(gateway);
    await client.query(`create table spilled as ${rows}`);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    expect(files.reduce((sum, file) => sum + file.length, 0)).toBeGreaterThan(1_000_000);
    for (const file of files) expect(file.includes(canary)).toBe(false);
    await client.end();
  }, 300_000);
});

async function clientOf(gateway: TestGateway): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host: "127.0.0.1", port, user: "alice" });
  await client.connect();
  return client;
}
