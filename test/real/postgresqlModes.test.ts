/** What a client says of its transaction behind its BEGIN, direct and through the gateway, in each way of pooling. */
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let direct: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("modes");
  direct = new pg.Client({ connectionString: server.href });
  await direct.connect();
  await direct.query("create table written (a int)");
});
afterAll(async () => await direct.end());

const write = "insert into written values (1)";
const look = `select concat_ws(' ', current_setting('transaction_isolation'),
  current_setting('transaction_read_only'), current_setting('transaction_deferrable'))`;
const scripts: readonly (readonly string[])[] = [
  ["begin read only", "set transaction read write", look, write],
  ["begin", "set transaction read only", look, write],
  ["begin", "set transaction_read_only = on", "show transaction_read_only", write],
  ["begin", "set transaction_deferrable = on", look],
  ["begin isolation level serializable", "set transaction deferrable, read only", look, write],
  ["begin", "set transaction isolation level serializable", look, "commit", look],
  ["begin", "set local transaction_isolation = 'repeatable read'", look, "commit", look],
  ["set transaction read only", look, write],
  ["set session characteristics as transaction read only", write, "begin", write],
  ["set session characteristics as transaction read only", "begin read write", write],
];

async function said(client: pg.Client, script: readonly string[]): Promise<readonly string[]> {
  const all: string[] = [];
  for (const sql of [...script, "rollback", look]) {
    const answer = await client.query<Record<string, unknown>>(sql).then(
      ({ command, rows }) => [command, ...rows.flatMap((row) => Object.values(row))].join(" "),
      (error: unknown) => (error instanceof pg.DatabaseError ? error.message : String(error)),
    );
    all.push(`${sql}: ${answer}`);
  }
  return all;
}

it.each(["session", "transaction"])("counts, pooled by %s", async (poolMode) => {
  const auth = { type: "basic", username: server.username, password: "none" };
  const hosts = [server.host];
  const local = { engine: "postgresql", hosts, database: "modes", auth, poolSize: 3, poolMode };
  await using gateway = await gatewayOf(configOf({ clusters: { local } }));
  for (const script of scripts) {
    const expected = new pg.Client({ connectionString: server.href });
    const place = { host: "127.0.0.1", port: portOf(gateway, "postgresWire") };
    const found = new pg.Client({ ...place, user: "ann", database: "modes" });
    await Promise.all([expected.connect(), found.connect()]);
    try {
      expect(await said(found, script)).toEqual(await said(expected, script));
    } finally {
      await Promise.all([expected.end(), found.end()]);
    }
  }
});
