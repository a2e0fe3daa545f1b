/**
 * How often the lexer walks the text of one long statement, from its client to its engine: what V8
 * counted as calls of `nextToken`, by the tokens of the text. ARCHITECTURE.md names these figures.
 *
 * The texts are hardly longer than the shortest that is read in slices: of 8 MB the figures are the same,
 * and take twenty seconds.
 */
import { Session } from "node:inspector/promises";
import mysql from "mysql2/promise";
import pg from "pg";
import { openSql } from "@gateway/core/sql/lex/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex/lex.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
/** Whose statements run on the other engine. */
const ofTrino = "bob";

let trino: FakeTrino;
let gateway: TestGateway;
let counter: Session;

beforeAll(async () => {
  trino = await fakeTrino();
  gateway = await gatewayOf(configOf(twoEngines(trino.origin)));
  counter = new Session();
  counter.connect();
  await counter.post("Profiler.enable");
  await counter.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
}, 60_000);

afterAll(async () => {
  counter.disconnect();
  await gateway[Symbol.asyncDispose]();
  await trino[Symbol.asyncDispose]();
});

/** Once as the client's, and once as the engine's with its guard. */
it("walks a text of PostgreSQL's twice over DuckDB, however often it runs", async () => {
  await using client = await postgres("ann");
  const sql = textOf("a");
  expect(await passesOf(sql, () => client.query(sql))).toBe(2);
  const prepared = { name: "p", text: `${textOf("b")} and $1`, values: [true] };
  const twice = async () => {
    await client.query(prepared);
    await client.query(prepared);
  };
  expect(await passesOf(prepared.text, twice)).toBe(2);
});

/** What its client means is read as MySQL's, what is sent on as DuckDB's, and then by the guard of the cluster. */
it("walks a text of MySQL's three times over DuckDB, and once more where it is written anew", async () => {
  await using client = await mysqlClient("ann");
  const sql = textOf("c");
  expect(await passesOf(sql, () => client.query(sql))).toBe(3);
  const quoted = `${textOf("d")} and 'a\\'b' <> 'a'`;
  expect(await passesOf(quoted, () => client.query(quoted))).toBe(4);
});

it("walks a text of Trino's twice over DuckDB, whatever is around it", async () => {
  for (const [letter, end] of [
    ["e", ""],
    ["f", " ;\n"],
  ] as const) {
    const sql = `${textOf(letter)}${end}`;
    expect(await passesOf(sql, () => trinoQuery("ann", sql))).toBe(2);
  }
});

/** Once as the client's, twice to write it anew, once as the engine's. */
it("walks a text of PostgreSQL's four times over an engine of another lexis", async () => {
  await using client = await postgres(ofTrino);
  const sql = textOf("g");
  trino.answers.set(sql, () => ({ columns: [["i", "bigint"]], pages: ["[[1]]"].values() }));
  expect(await passesOf(sql, () => client.query(sql))).toBe(4);
});

/** Users of a cluster each: over the embedded DuckDB, but for the one of Trino's. */
function twoEngines(endpoint: string): object {
  const groupOf = (member: string) => ({ members: [member], maxRunningQueries: 4 });
  return {
    clusters: { local: { engine: "duckDb" }, remote: { engine: "trino", endpoint } },
    clusterGroups: { default: groupOf("local"), others: groupOf("remote") },
    routers: [{ type: "userGroup", userToGroup: { [ofTrino]: "others" } }],
  };
}

/** A long text of few tokens, which nothing has read before. */
function textOf(letter: string): string {
  const values = Array.from({ length: 500 }, (_, row) => `'${`${row}`.padEnd(400, letter)}'`);
  const sql = `select 1 where 'x' not in (${values.join(", ")})`;
  expect(sql.length).toBeGreaterThan(longTextUnits);
  return sql;
}

/** Whole passes: what is looked at beside them is a few tokens. */
async function passesOf(sql: string, work: () => Promise<unknown>): Promise<number> {
  const cursor = openSql(sql, "postgres");
  let tokens = 0;
  while (nextToken(cursor)) tokens += 1;
  await walkedTokens();
  await work();
  return Math.round((await walkedTokens()) / tokens);
}

/** Since it was asked last. */
async function walkedTokens(): Promise<number> {
  const { result } = await counter.post("Profiler.takePreciseCoverage");
  const lexer = result.find(({ url }) => url.endsWith("/sql/lex/lex.ts"));
  const walked = lexer?.functions.find(({ functionName }) => functionName === "nextToken");
  return walked?.ranges[0]?.count ?? 0;
}

async function postgres(user: string) {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function mysqlClient(user: string) {
  const port = portOf(gateway, "mysqlWire");
  const client = await mysql.createConnection({ host, port, user });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function trinoQuery(user: string, sql: string): Promise<void> {
  const headers = { "x-trino-user": user };
  const first = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  let answer = await fetch(first, { method: "POST", body: sql, headers });
  for (;;) {
    const page = (await answer.json()) as { nextUri?: string; error?: { message: string } };
    expect(page.error).toBeUndefined();
    if (page.nextUri === undefined) return;
    answer = await fetch(page.nextUri, { headers });
  }
}
