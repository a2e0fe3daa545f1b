/**
 * `COMMIT AND CHAIN` direct and through the gateway: the next transaction has every characteristic of the one before,
 * however that was told. On a real server, in each way of pooling that has transactions.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let direct: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("chains");
  direct = new pg.Client({ connectionString: server.href });
  await direct.connect();
  await direct.query("create table chained (a int)");
});
afterAll(async () => await direct.end());

const write = "insert into chained values (1)";
/** From the server. */
const look = `select concat_ws(' ', current_setting('transaction_isolation'),
  current_setting('transaction_read_only'), current_setting('transaction_deferrable'))`;

/** How a client may say what a transaction is. */
const openings: readonly (readonly string[])[] = [
  ["begin"],
  ["begin read only"],
  ["begin isolation level serializable, read only, deferrable"],
  ["begin", "set transaction isolation level repeatable read"],
  ["begin isolation level serializable", "set transaction isolation level read committed"],
  ["begin read only", "set transaction isolation level serializable"],
  ["begin", "set transaction_isolation = 'serializable'"],
  ["begin", "set local transaction_isolation = 'repeatable read'"],
  ["set session characteristics as transaction isolation level serializable", "begin"],
  ["set default_transaction_isolation = 'repeatable read'", "begin isolation level serializable"],
];

/** The same where a session has its connection for itself: else the gateway does not take all of these. */
const ofServer: readonly (readonly string[])[] = [
  ["begin", "set transaction isolation level serializable, read only, deferrable"],
  ["begin", "set transaction read only"],
  ["begin read only", "set transaction read write"],
  ["begin", "set local transaction_read_only = on"],
  ["begin", "set transaction_deferrable = on"],
  ["begin", "select set_config('transaction_isolation', 'serializable', true)"],
  ["begin", "select 1", "set transaction read only"],
  ["begin", "savepoint a", "set transaction read only", "rollback to a"],
];

/** How one transaction follows another. */
const chains: readonly (readonly string[])[] = [
  ["commit and chain"],
  ["rollback and chain"],
  [write, "commit and chain"],
  ["select nothing from chained", "commit and chain"],
  ["select nothing from chained", "rollback and chain"],
  ["commit and chain", "rollback and chain", "select 1", "commit and chain"],
];

/** What the server says of each statement, and of the transaction behind it. */
async function said(client: pg.Client, statements: readonly string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const sql of statements) {
    const answer = await client.query<Record<string, unknown>>(sql).then(
      ({ command, rows }) => [command, ...rows.flatMap((row) => Object.values(row))],
      (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
    );
    all.push([sql, answer]);
  }
  return all;
}

const ends = [look, write, "rollback", look, "reset default_transaction_isolation"];
const sequencesOf = (some: readonly (readonly string[])[]) =>
  some.flatMap((opening) => chains.map((chain) => [...opening, ...chain, ...ends]));

describe.each(["transaction", "session"])("in %s mode", (poolMode) => {
  let gateway: TestGateway;
  let through: pg.Client;
  beforeAll(async () => {
    const auth = { type: "basic", username: server.username, password: "none" };
    const own = { engine: "postgresql", hosts: [server.host], database: "chains", auth };
    const local = { ...own, poolMode, poolSize: 2 };
    gateway = await gatewayOf(configOf({ clusters: { local } }));
    const port = portOf(gateway, "postgresWire");
    through = new pg.Client({ host: "127.0.0.1", port, user: "ann", database: "chains" });
    await through.connect();
  });
  afterAll(async () => {
    await through.end();
    await gateway[Symbol.asyncDispose]();
  });

  it("a chain says what the server's own says, and leaves nothing behind it", async () => {
    const all = poolMode === "session" ? [...openings, ...ofServer] : openings;
    for (const sequence of sequencesOf(all)) {
      expect(await said(through, sequence)).toEqual(await said(direct, sequence));
    }
  });

  it("stays on its connection, and gives it back when its client leaves", async () => {
    const pid = "select 0 + pg_backend_pid()";
    const port = portOf(gateway, "postgresWire");
    const client = new pg.Client({ host: "127.0.0.1", port, user: "ann", database: "chains" });
    await client.connect();
    await client.query("begin");
    const { rows } = await client.query(pid);
    await client.query("commit and chain");
    expect((await client.query(pid)).rows).toEqual(rows);
    await client.query(write);
    await client.end();
    // Whoever waits for this lock waits for what the client left open.
    await direct.query("lock table chained in access exclusive mode nowait").catch(() => undefined);
    await direct.query("begin; lock table chained in access exclusive mode; rollback");
  });
});
