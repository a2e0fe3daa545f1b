/** What a client keeps prepared, as the server's own list tells it: each session's own, in each way of pooling connections. */
import {
  describeOf,
  letters,
  parseOf,
  RawClient,
  sync,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let direct: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("prepared");
  direct = new pg.Client({ connectionString: server.href });
  await direct.connect();
  await direct.query("create table kept (id int, gone text)");
  await direct.query(`create function listed() returns text language plpgsql as
    $$ begin return (select string_agg(statement, ';') from pg_prepared_statements); end $$`);
});
afterAll(async () => await direct.end());

const list =
  "select name, statement, parameter_types::text, from_sql from pg_prepared_statements order by prepare_time";
const contexts =
  "select count(*)::int from pg_backend_memory_contexts where ident like '%' || $1 || '%'";

/** Who says what: a text, or a statement with its name and values. */
type Turn = readonly [
  who: 0 | 1,
  sql: string,
  name?: string | undefined,
  values?: readonly unknown[],
];

/** Statements of two clients under the same names, in turns. */
const turns: readonly Turn[] = [
  [0, "select $1::int as ada", "s", [1]],
  [1, "select $1::text as bob", "s", ["b"]],
  [0, list],
  [1, list],
  [0, "select gone from kept where id = $1", 'odd "name"', [1]],
  [1, list, "l"],
  [0, list],
  [1, "select $1::text as bob", "s", ["c"]],
  [0, "select $1::int as ada", "s", [2]],
  [0, contexts, undefined, ["as bob"]],
  [1, contexts, undefined, ["as ada"]],
  [0, list],
  [1, "deallocate s"],
  [1, list],
  [0, list],
];

/** On a connection of their own: by SQL too. */
const keptTurns: readonly Turn[] = [
  ...turns,
  [0, "execute s(3)"],
  [1, "execute s('x')"],
  [1, "prepare s as select 'by sql'"],
  [1, "execute s"],
  [0, "prepare s as select 'taken'"],
  [0, "explain (costs off) execute s(4)"],
  [0, list],
  [1, list],
  [1, "deallocate s"],
  [1, "deallocate s"],
  [0, "deallocate all"],
  [0, list],
  [1, list],
];

/** In a transaction, where one of them can not be prepared any more. */
const brokenTurns: readonly Turn[] = [
  [0, "select gone from kept where id = $1", "first", [1]],
  [0, "select $1::int", "second", [1]],
  [1, "select $1::date", "second", ["2020-01-01"]],
  [0, "begin"],
  [1, "begin"],
  [0, list],
  [0, "insert into kept values (7) returning id", "third"],
  [0, list],
  [1, list],
  [0, "select count(*)::int from kept"],
  [0, "rollback"],
  [1, "rollback"],
  [0, list],
];

/** A PREPARE as text is a statement that runs, and has its tag. */
function untagged(row: { readonly statement?: string }): object {
  const { statement } = row;
  if (statement === undefined) return row;
  return { ...row, statement: statement.replace(/^\/\* gateway\/\S+ \*\/ (?=prepare )/, "") };
}

async function said(clients: readonly pg.Client[], script: readonly Turn[]) {
  const all: unknown[] = [];
  for (const [who, text, name, values] of script) {
    const question: pg.QueryConfig = { text, ...(name === undefined ? {} : { name }) };
    if (values !== undefined) question.values = [...values];
    const answer = await clients[who]?.query<{ statement?: string }>(question).then(
      ({ command, rows }) => [command, rows.map(untagged)],
      (error: unknown) => (error instanceof pg.DatabaseError ? error.message : String(error)),
    );
    all.push([who, text, answer]);
  }
  return all;
}

async function pair(place: pg.ClientConfig): Promise<AsyncDisposable & { all: pg.Client[] }> {
  const all = [new pg.Client(place), new pg.Client(place)];
  await Promise.all(all.map((client) => client.connect()));
  const end = async (): Promise<void> => void (await Promise.all(all.map((one) => one.end())));
  return { all, [Symbol.asyncDispose]: end };
}

describe.each([
  { poolMode: "session", pinning: "allow", preparedStatementsMax: undefined },
  { poolMode: "session", pinning: "allow", preparedStatementsMax: 0 },
  { poolMode: "transaction", pinning: "allow", preparedStatementsMax: undefined },
  { poolMode: "transaction", pinning: "allow", preparedStatementsMax: 9 },
  { poolMode: "transaction", pinning: "refuse", preparedStatementsMax: 9 },
  { poolMode: "statement", pinning: "allow", preparedStatementsMax: 9 },
])("in mode $poolMode, pinning $pinning, $preparedStatementsMax prepared", (pooled) => {
  const { poolMode, pinning } = pooled;
  /** Where connections are shared, both have the same one. */
  const poolSize = poolMode === "session" || pinning === "allow" ? 2 : 1;
  const through = async (script: readonly Turn[]) => {
    const auth = { type: "basic", username: server.username, password: "none" };
    const place = { engine: "postgresql", hosts: [server.host], database: "prepared", auth };
    const local = { ...place, ...pooled, poolSize };
    await using gateway = await gatewayOf(configOf({ clusters: { local } }));
    const port = portOf(gateway, "postgresWire");
    await using clients = await pair({
      host: "127.0.0.1",
      port,
      user: "ann",
      database: "prepared",
    });
    return await said(clients.all, script);
  };
  const expected = async (script: readonly Turn[]) => {
    await using clients = await pair({ connectionString: server.href });
    return await said(clients.all, script);
  };
  const keeps = pinning === "allow" && poolMode !== "statement";

  it("each client finds its own statements and no other's", async () => {
    const script = keeps ? keptTurns : turns;
    expect(await through(script)).toEqual(await expected(script));
  });

  it.skipIf(poolMode === "statement" || poolSize === 1)("so it does in a transaction", async () => {
    expect(await through(brokenTurns)).toEqual(await expected(brokenTurns));
  });

  it("a function that reads the list finds no other's", async () => {
    const script: readonly Turn[] = [...turns.slice(0, 2), [0, "select listed()"]];
    const found = await through(script);
    expect(JSON.stringify(found.at(-1))).not.toContain("as bob");
  });
});

it("a statement whose table is gone is left out, and its transaction goes on", async () => {
  const auth = { type: "basic", username: server.username, password: "none" };
  const local = { engine: "postgresql", hosts: [server.host], database: "prepared", auth };
  await using gateway = await gatewayOf(configOf({ clusters: { local } }));
  const port = portOf(gateway, "postgresWire");
  await using clients = await pair({ host: "127.0.0.1", port, user: "ann", database: "prepared" });
  const [client] = clients.all;
  await direct.query("create table short_lived (id int)");
  for (const [name, text] of [
    ["a", "select 1"],
    ["b", "select id from short_lived"],
    ["c", "select 3"],
  ] as const)
    await client?.query({ name, text });
  await direct.query("drop table short_lived");
  await client?.query("begin");
  await client?.query("insert into kept values (8)");
  const found = await client?.query<{ name: string }>(list);
  expect(found?.rows.map(({ name }) => name)).toEqual(["a", "c"]);
  await client?.query("commit");
  expect((await direct.query("delete from kept where id = 8")).rowCount).toBe(1);
});

it.each(["session", "transaction"])(
  "EXECUTE is described by it, pooled by %s",
  async (poolMode) => {
    const auth = { type: "basic", username: server.username, password: "none" };
    const place = { engine: "postgresql", hosts: [server.host], database: "prepared", auth };
    await using gateway = await gatewayOf(
      configOf({ clusters: { local: { ...place, poolMode } } }),
    );
    const at = portOf(gateway, "postgresWire");
    await using client = await RawClient.start(at, { database: "prepared" });
    client.send(parseOf("s", "select 1 as one"), sync);
    expect(letters(await client.until("Z"))).toBe("1Z");
    client.send(parseOf("x", "execute s"), describeOf("S", "x"), sync);
    expect(letters(await client.until("Z"))).toBe("1tTZ");
  },
);
