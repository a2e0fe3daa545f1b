/** Attack 6: a statement that one reader takes for harmless and the engine does not. No text reaches the host's files. */
import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const host = "127.0.0.1";
const canary = "canary-4711";

let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "abuse-"));
  await mkdir(join(folder, "allowed"));
  await mkdir(join(folder, "outside"));
  await writeFile(join(folder, "outside", "secret.csv"), `${canary}\n`);
  await writeFile(join(folder, "allowed", "open.csv"), "a\nvisible\n");
  const allowedDirectories = [join(folder, "allowed")];
  gateway = await gatewayOf(
    configOf({ clusters: { local: { engine: "duckDb", allowedDirectories } } }),
  );
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe.each([
  ["pg, simple", byPg],
  ["pg, prepared", byPgPrepared],
  ["mysql2, text", byMysql],
  ["mysql2, prepared", byMysqlPrepared],
] as const)("host files through %s", (_name, ask) => {
  it("are read in an allowed directory, so that the refusals mean something", async () => {
    expect(await ask(`select a from read_csv('${folder}/allowed/open.csv')`)).toContain("visible");
  });

  it.each([
    "select * from read_text('F/outside/secret.csv')",
    "select * from read_text('F/allowed/../outside/secret.csv')",
    "select * from read_blob('file://F/outside/secret.csv')",
    "select file from glob('F/outside/*')",
    "from read_csv(['F/allowed/open.csv', 'F/outside/secret.csv'])",
    "from query('select 1')",
    "from \"QUERY\" /* */ ('select 1')",
    "select json_execute_serialized_sql('{}')",
    "explain analyze copy (select 1) to 'F/allowed/new.csv'",
    "copy (select 1) to 'F/allowed/new.csv'",
    "select 1; copy (select 1) to 'F/allowed/new.csv'",
    "/* /* */ select 1 */ copy (select 1) to 'F/allowed/new.csv'",
    "attach 'F/allowed/new.db'",
    "export database 'F/allowed/new'",
    "install httpfs",
    "load 'F/allowed/new.duckdb_extension'",
    "set enable_external_access = true",
    "pragma enable_profiling",
    "call enable_logging()",
  ])("%s is refused", async (text) => {
    const before = await readdir(join(folder, "allowed"));
    const answer = await ask(text.replaceAll("F/", `${folder}/`));
    expect(answer).toMatch(/^refused/);
    expect(answer).not.toContain(canary);
    expect(await readdir(join(folder, "allowed"))).toEqual(before);
  });
});

describe("a symbolic link inside an allowed directory", () => {
  it("leads nobody out of it", async () => {
    await symlink(join(folder, "outside"), join(folder, "allowed", "link"));
    for (const path of ["link/secret.csv", "link/../../outside/secret.csv"]) {
      const answer = await byPg(`select * from read_text('${folder}/allowed/${path}')`);
      expect(answer).toMatch(/^refused/);
      expect(answer).not.toContain(canary);
    }
  });
});

/** The rows as JSON, or `refused` with the message. */
async function byPg(sql: string): Promise<string> {
  return withPg((client) => client.query(sql));
}

async function byPgPrepared(sql: string): Promise<string> {
  return withPg((client) => client.query({ name: "one", text: sql, values: [] }));
}

async function withPg(run: (client: pg.Client) => Promise<unknown>): Promise<string> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "u" });
  await client.connect();
  try {
    return JSON.stringify(await run(client));
  } catch (error) {
    return `refused: ${String(error)}`;
  } finally {
    await client.end();
  }
}

async function byMysql(sql: string): Promise<string> {
  return withMysql((client) => client.query(sql));
}

async function byMysqlPrepared(sql: string): Promise<string> {
  return withMysql((client) => client.execute(sql));
}

async function withMysql(run: (client: mysql.Connection) => Promise<unknown>): Promise<string> {
  const port = portOf(gateway, "mysqlWire");
  const client = await mysql.createConnection({ host, port, user: "u" });
  try {
    return JSON.stringify(await run(client));
  } catch (error) {
    return `refused: ${String(error)}`;
  } finally {
    client.destroy();
  }
}
