/**
 * Long series of executions of one statement, whose answers are not waited for one by one: every message that comes back
 * is the server's, wherever something else stands in the middle, and what a failure leaves is what it leaves there.
 */
import {
  bindOf,
  cancelOf,
  closeOf,
  describeOf,
  executeOf,
  fieldsOf,
  flush,
  keyOf,
  messageOf,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  sync,
  type Seen,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const count = 300;
const numbers = Array.from({ length: count }, (_, index) => String(index + 1));
const insert = "insert into t values (100 / (200 - $1::int), $2)";
const returning = "insert into t values ($1, $2) returning a, b";
const parsed = [parseOf("s", "insert into t values ($1, $2)", [23, 25]), sync];

function executed(at: string, statement = "s"): Uint8Array[] {
  return [bindOf({ statement, values: [at, `row ${at}`] }), executeOf()];
}

function described(at: string): Uint8Array[] {
  const bind = bindOf({ statement: "s", values: [at, `row ${at}`], resultFormats: [1] });
  return [bind, describeOf("P"), executeOf()];
}

const all = numbers.flatMap((at) => executed(at));
const half = numbers.slice(0, count / 2).flatMap((at) => executed(at));

/** Each with what its client sends: every part ends with what the server says that it is ready for. */
const series: Readonly<Record<string, readonly (readonly Uint8Array[])[]>> = {
  "executed again and again": [parsed, [...all, sync]],
  "that describe each result": [
    [parseOf("s", returning, [23, 25]), sync],
    [...numbers.flatMap(described), sync],
  ],
  "of reads in a transaction": [
    [parseOf("s", "select $1::int, $2::text", [23, 25]), sync],
    [queryOf("begin")],
    [...numbers.flatMap(described), sync],
    [queryOf("commit")],
  ],
  "of a statement without a name": [
    [
      parseOf("", "insert into t values ($1, $2)", [23, 25]),
      ...numbers.flatMap((at) => executed(at, "")),
      sync,
    ],
  ],
  "that fail in the middle": [
    [parseOf("s", insert, [23, 25]), sync],
    [...all, sync],
  ],
  "that fail in the middle of a transaction": [
    [parseOf("s", insert, [23, 25]), sync],
    [queryOf("begin")],
    [...all, sync],
    [...half, sync],
    [queryOf("rollback")],
    [...half, sync],
  ],
  "that fail, and the client sends on": [
    [parseOf("s", insert, [23, 25]), sync],
    [...all, flush, ...half, sync],
    [...half, sync],
  ],
  "with a Flush in the middle": [parsed, [...half, flush, ...half, sync]],
  "with a Close in the middle": [parsed, [...half, closeOf("P", ""), ...half, sync]],
  "with another statement in the middle": [
    parsed,
    [...half, parseOf("o", "delete from t where a = 7"), bindOf({ statement: "o" })],
    [executeOf(), ...half, sync],
  ],
  "with a portal that has a name in the middle": [
    parsed,
    [...half, bindOf({ portal: "p", statement: "s", values: ["9", "x"] }), executeOf("p")],
    [...half, executeOf("p"), sync],
  ],
  "with a Bind of too few values in the middle": [
    parsed,
    [...half, bindOf({ statement: "s", values: ["1"] }), executeOf(), ...half, sync],
  ],
  "with a Bind that names wrong formats in the middle": [
    parsed,
    [...half, bindOf({ statement: "s", values: ["1", "x"], formats: [0, 0, 0] }), ...half, sync],
  ],
  "with a Bind of no statement in the middle": [
    parsed,
    [...half, bindOf({ statement: "none" }), executeOf(), ...half, sync],
  ],
  "with a statement executed twice": [parsed, [...half, executeOf(), ...half, sync]],
  "with a portal that nobody executes": [
    parsed,
    [...half, bindOf({ statement: "s", values: ["1", "x"] }), ...half, sync],
  ],
  "that ends with a portal that nobody executes": [
    [parseOf("s", returning, [23, 25]), sync],
    [...half, bindOf({ statement: "s", values: ["1", "x"] }), describeOf("P"), sync],
  ],
  "with a number of rows in the middle": [
    [parseOf("s", returning, [23, 25]), sync],
    [...half, bindOf({ statement: "s", values: ["1", "x"] }), executeOf("", 1), ...half, sync],
  ],
  "with a text that can not be read in the middle": [
    parsed,
    [...half, messageOf("P", Buffer.from([0, 0xff, 0xfe, 0, 0, 0])), ...half, sync],
  ],
  "with BEGIN and COMMIT in the middle": [
    [parseOf("b", "begin"), parseOf("c", "commit"), ...parsed],
    [...half, bindOf({ statement: "b" }), executeOf(), ...half],
    [bindOf({ statement: "c" }), executeOf(), ...half, sync],
  ],
  "with savepoints in the middle": [
    [parseOf("s", insert, [23, 25]), sync],
    [queryOf("begin; savepoint one")],
    [...all, sync],
    [queryOf("rollback to one")],
    [...half, sync],
    [queryOf("commit")],
  ],
};

let owner: pg.Client;
let database: URL;
const gateways = new Map<string, TestGateway>();

beforeAll(async () => {
  database = await emptyDatabase("series");
  owner = new pg.Client({ connectionString: database.href });
  await owner.connect();
  await owner.query("create table t (a int, b text)");
  await owner.query(`create function slow() returns trigger language plpgsql as
    $$ begin if new.a = 50 then perform pg_sleep(60); end if; return new; end $$`);
  await owner.query("create table slowly (a int, b text)");
  await owner.query(
    "create trigger slow before insert on slowly for each row execute function slow()",
  );
  for (const poolMode of ["transaction", "session"]) gateways.set(poolMode, await pooled(poolMode));
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
  await owner.end();
});

describe.each(["transaction", "session"])("a series pooled by %s", (poolMode) => {
  it.each(Object.entries(series))("%s", async (_what, parts) => {
    const direct = await played(
      { port: Number(database.port), user: database.username, database: "series" },
      parts,
    );
    const through = await played({ ...clientOf(poolMode), user: "ann" }, parts);
    expect(through).toEqual(direct);
  });

  it("ends with the statement that runs when its client cancels it", async () => {
    await owner.query("truncate slowly");
    const { port } = clientOf(poolMode);
    await using client = await RawClient.open(port);
    client.send(startupOf({ user: "ann", database: "series" }));
    const key = keyOf(await client.until("Z"));
    client.send(parseOf("s", "insert into slowly values ($1, $2)", [23, 25]), ...all, sync);
    await asleep(true);
    await using other = await RawClient.open(port);
    other.send(cancelOf(key));
    await other.rest();
    const seen = await client.until("Z");
    expect(seen.filter(({ type }) => type === "C")).toHaveLength(49);
    expect(seen.slice(-2).map(({ type }) => type)).toEqual(["E", "Z"]);
    expect(fieldsOf(seen.at(-2) ?? none)["C"]).toBe("57014");
    expect((await owner.query("select from slowly")).rowCount).toBe(0);
    client.send(queryOf("select 1"));
    expect((await client.until("Z")).map(({ type }) => type).join("")).toBe("TDCZ");
  });

  it("gives everything back when its client leaves in the middle", async () => {
    const { gateway, port } = clientOf(poolMode);
    const client = await RawClient.start(port, { database: "series" });
    client.send(parseOf("s", "insert into slowly values ($1, $2)", [23, 25]), ...all, sync);
    await asleep(true);
    client.destroy();
    await asleep(false);
    const held = /^gateway_running_queries\{.*\} (\d+)$/m;
    while (held.exec(await gateway.metrics())?.[1] !== "0") await asleep(false);
    expect((await owner.query("select from slowly")).rowCount).toBe(0);
  });
});

/** Waits until a statement sleeps in the server, or none does. */
async function asleep(wanted: boolean): Promise<void> {
  const sql = `select from pg_stat_activity
    where wait_event = 'PgSleep' and datname = current_database()`;
  while (((await owner.query(sql)).rowCount ?? 0) > 0 !== wanted);
}

const none: Seen = { type: "", body: Buffer.alloc(0) };

/** All that comes back, and what is in the table then. */
async function played(
  { port, user, database: name }: { port: number; user: string; database: string },
  parts: readonly (readonly Uint8Array[])[],
): Promise<readonly string[]> {
  await owner.query("truncate t");
  await using client = await RawClient.start(port, { user, database: name });
  const seen: string[] = [];
  const bytes = parts.flat();
  client.send(...bytes);
  const ends = bytes.filter((one) => one === sync || one[0] === 0x51).length;
  for (let end = 0; end < ends; end += 1)
    seen.push(...(await client.until("Z")).filter(isCompared).map(shownOf));
  const { rows } = await owner.query<{ a: number; b: string }>("select a, b from t order by a, b");
  return [...seen, ...rows.map(({ a, b }) => `${a} ${b}`)];
}

function isCompared({ type }: Seen): boolean {
  return type !== "S";
}

function shownOf(seen: Seen): string {
  if (seen.type !== "E") return `${seen.type} ${seen.body.toString("latin1")}`;
  const { S = "", C = "", M = "" } = fieldsOf(seen);
  // Which byte can not be read the server alone says.
  return `E ${S} ${C} ${M.replace(/: 0x.*/, "")}`;
}

function clientOf(poolMode: string): { gateway: TestGateway; port: number; database: string } {
  const gateway = gateways.get(poolMode);
  if (gateway === undefined) throw new Error(`no gateway pooled by ${poolMode}`);
  return { gateway, port: portOf(gateway, "postgresWire"), database: "series" };
}

async function pooled(poolMode: string): Promise<TestGateway> {
  const local = {
    engine: "postgresql",
    hosts: [database.host],
    database: "series",
    auth: { type: "basic", username: database.username, password: "none" },
    preparedStatementsMax: 10,
    poolMode,
  };
  return await gatewayOf(configOf({ clusters: { local } }));
}
