/**
 * How often the lexer walks the text of one statement of 8 MB, from its client to its engine: what V8
 * counted as calls of `nextToken`, by the tokens of the text. ARCHITECTURE.md names these figures.
 */
import { Session } from "node:inspector/promises";
import mysql from "mysql2/promise";
import pg from "pg";
import { openSql } from "@gateway/core/sql/lex/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex/lex.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const user = "somebody";
/** A busy machine takes long over 8 MB. */
const patienceMs = 120_000;

let trino: FakeTrino;
let overDuckDb: TestGateway;
let overTrino: TestGateway;

beforeAll(async () => {
  trino = await fakeTrino();
  const limits = { maxStatementBytes: 1 << 24 };
  const clusters = { local: { engine: "trino", endpoint: trino.origin } };
  overDuckDb = await gatewayOf(configOf({}, limits));
  overTrino = await gatewayOf(configOf({ clusters }, limits));
}, 60_000);

afterAll(async () => {
  await overDuckDb[Symbol.asyncDispose]();
  await overTrino[Symbol.asyncDispose]();
  await trino[Symbol.asyncDispose]();
});

/** Once as the client's, once as the engine's, and once for its guard. */
it(
  "walks a text of PostgreSQL's three times over DuckDB, however often it runs",
  async () => {
    await using client = await postgres(overDuckDb);
    const sql = textOf("a");
    expect(await passesOf(sql, () => client.query(sql))).toBe(3);
    const prepared = { name: "p", text: `${textOf("b")} and $1`, values: [true] };
    const twice = async () => {
      await client.query(prepared);
      await client.query(prepared);
    };
    expect(await passesOf(prepared.text, twice)).toBe(3);
  },
  patienceMs,
);

it(
  "walks a text of MySQL's three times over DuckDB, and once more where it is written anew",
  async () => {
    await using client = await mysqlClient(overDuckDb);
    const sql = textOf("c");
    expect(await passesOf(sql, () => client.query(sql))).toBe(3);
    const quoted = `${textOf("d")} and 'a\\'b' <> 'a'`;
    expect(await passesOf(quoted, () => client.query(quoted))).toBe(4);
  },
  patienceMs,
);

it(
  "walks a text of Trino's three times over DuckDB, whatever is around it",
  async () => {
    for (const [letter, end] of [
      ["e", ""],
      ["f", " ;\n"],
    ] as const) {
      const sql = `${textOf(letter)}${end}`;
      expect(await passesOf(sql, () => trinoQuery(overDuckDb, sql))).toBe(3);
    }
  },
  patienceMs,
);

/** Once as the client's, twice to write it anew, once as the engine's. */
it(
  "walks a text of PostgreSQL's four times over an engine of another lexis",
  async () => {
    await using client = await postgres(overTrino);
    const sql = textOf("g");
    trino.answers.set(sql, () => ({ columns: [["i", "bigint"]], pages: ["[[1]]"].values() }));
    expect(await passesOf(sql, () => client.query(sql))).toBe(4);
  },
  patienceMs,
);

/** 8 MB of few tokens, which nothing has read before. */
function textOf(letter: string): string {
  const values = Array.from({ length: 2_000 }, (_, row) => `'${`${row}`.padEnd(4_190, letter)}'`);
  return `select 1 where 'x' not in (${values.join(", ")})`;
}

/** Whole passes: what is looked at beside them is a few tokens. */
async function passesOf(sql: string, work: () => Promise<unknown>): Promise<number> {
  const cursor = openSql(sql, "postgres");
  let tokens = 0;
  while (nextToken(cursor)) tokens += 1;
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  try {
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const lexer = result.find(({ url }) => url.endsWith("/sql/lex/lex.ts"));
    const walked = lexer?.functions.find(({ functionName }) => functionName === "nextToken");
    return Math.round((walked?.ranges[0]?.count ?? 0) / tokens);
  } finally {
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}

async function postgres(gateway: TestGateway) {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function mysqlClient(gateway: TestGateway) {
  const port = portOf(gateway, "mysqlWire");
  const client = await mysql.createConnection({ host, port, user });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function trinoQuery(gateway: TestGateway, sql: string): Promise<void> {
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
