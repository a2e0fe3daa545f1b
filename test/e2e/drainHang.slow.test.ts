/** A drain of a process whose engine hangs under a client of every wire: it ends by its deadline all the same. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastOf, type TrinoPage } from "./clients.ts";
import { exitOf, loggedPort, spawnProgram } from "./program.ts";

/** Planning looks at no flag, so neither a cancel nor a deadline reaches it. */
const unplannable = `select 1 from (select 1 as b) a where true ${"and a.b=1 ".repeat(80_000)}`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-drain-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(["process", "thread"])("statements that hang in planning in a %s", (isolation) => {
  it("are told of the drain over every wire, and the gateway ends with 3", async () => {
    const child = spawnProgram(["start", "--config", configFile(isolation)]);
    const [postgres, mysqlPort, trino, ops] = await Promise.all([
      loggedPort(child, "postgresWire"),
      loggedPort(child, "mysqlWire"),
      loggedPort(child, "trinoHttp"),
      loggedPort(child, "adminApi"),
    ]);
    const answers = Promise.all([ofPg(postgres), ofMysql(mysqlPort), ofTrino(trino)]);
    await running(ops, 3);
    const ended = exitOf(child);
    child.kill("SIGTERM");
    expect(await ended).toBe(3);
    expect(await answers).toEqual(["57P01", "1053", "SERVER_SHUTTING_DOWN"]);
  }, 90_000);
});

async function ofPg(port: number): Promise<string> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "a" });
  client.on("error", () => {});
  await client.connect();
  return client.query(unplannable).then(String, codeOf);
}

async function ofMysql(port: number): Promise<string> {
  const client = await mysql.createConnection({ host: "127.0.0.1", port, user: "a" });
  client.on("error", () => {});
  return client.query(unplannable).then(String, codeOf);
}

async function ofTrino(port: number): Promise<string> {
  const headers = { "x-trino-user": "a" };
  const url = `http://127.0.0.1:${port}/v1/statement`;
  const first = await fetch(url, { method: "POST", headers, body: unplannable });
  return lastOf((await first.json()) as TrinoPage, headers).catch(codeOf);
}

function codeOf(error: unknown): string {
  const { errno, code } = error as { readonly errno?: unknown; readonly code?: unknown };
  return String(errno ?? code ?? error);
}

async function running(ops: number, count: number): Promise<void> {
  const line = new RegExp(`^gateway_running_queries\\{.*\\} ${count}$`, "m");
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${ops}/metrics`);
    if (line.test(await answer.text())) return;
    await new Promise(setImmediate);
  }
}

function configFile(isolation: string): string {
  const wire = "{host: 127.0.0.1, port: 0, maxStatementTokens: 1000000}";
  const file = join(folder, `${isolation}.yaml`);
  const text = `
gateway:
  shutdownDrainTimeoutSecs: 1
  frontends:
    postgresWire: ${wire}
    mysqlWire: ${wire}
    trinoHttp: ${wire}
  adminApi: {host: 127.0.0.1, port: 0}
  persistence: {type: inMemory}
clusters: {local: {engine: duckDb, isolation: ${isolation}}}
clusterGroups: {default: {members: [local], maxRunningQueries: 4}}
routingFallback: default
`;
  writeFileSync(file, text);
  return file;
}
