/** ClickHouse's own parser, functions and formats behind the gateway; `npm run test:real` says where the server is. */
import { codeOf, hostOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import { open } from "@gateway/engines/clickHouse/adapter.ts";
import { clickHouseConfig } from "@gateway/engines/clickHouse/config.ts";
import { callerOf, textFor } from "@gateway/engines/clickHouse/identity.ts";
import { quoteIdentifier, quoteText } from "@gateway/engines/clickHouse/sql/quote.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import { createClient } from "@clickhouse/client";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewayOf, configOf, portOf } from "../e2e/gateway.ts";
import { hostileNames } from "../fake/hostileNames.ts";

const endpoint = process.env["GATEWAY_TEST_CLICKHOUSE"] ?? "";
const auth = { type: "basic", username: "gateway", password: "gateway-secret" };

let backend: Backend;
beforeAll(async () => {
  const config = clickHouseConfig.parse({
    engine: "clickHouse",
    endpoint,
    auth,
    database: "default",
  });
  backend = valueOf(await open("real", config, hostOf()));
});
afterAll(() => backend[Symbol.asyncDispose]());

async function valueFrom(
  expression: string,
): Promise<{ readonly type: DataType | undefined; readonly value: Value | undefined }> {
  const { rows, columns, last } = await ran(backend, `select ${expression} as v from numbers(1)`);
  if (last?.kind === "failed")
    throw new Error(`${expression}: ${last.error.code} ${last.error.message}`);
  return { type: columns[0]?.type, value: rows[0]?.[0] };
}

describe("types of ClickHouse", () => {
  const text: DataType = { kind: "text" };
  const integer = (bits: 8 | 16 | 32 | 64 | 128, signed: boolean): DataType => ({
    kind: "integer",
    bits,
    signed,
  });
  it.each<[string, DataType, Value]>([
    ["toInt8(-128)", integer(8, true), -128n],
    ["toUInt16(65535)", integer(16, false), 65_535n],
    ["toInt32(-5)", integer(32, true), -5n],
    ["toUInt64(18446744073709551615)", integer(64, false), 18_446_744_073_709_551_615n],
    ["toInt128('-170141183460469231731687303715884105728')", integer(128, true), -(2n ** 127n)],
    [
      "toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935')",
      text,
      `${2n ** 256n - 1n}`,
    ],
    ["toInt256(-1)", text, "-1"],
    ["toFloat32(-1.5)", { kind: "float", bits: 32 }, -1.5],
    ["nan", { kind: "float", bits: 64 }, Number.NaN],
    ["toDecimal32(1.5, 2)", { kind: "decimal", precision: 9, scale: 2 }, 150n],
    ["toDecimal64('-12.345', 3)", { kind: "decimal", precision: 18, scale: 3 }, -12_345n],
    ["toDecimal128('1.5', 3)", { kind: "decimal", precision: 38, scale: 3 }, 1_500n],
    ["toDecimal256('-1.5', 3)", text, "-1.500"],
    ["true", { kind: "boolean" }, true],
    ["'h\u00e9llo \u{1f600}'", text, "h\u00e9llo \u{1f600}"],
    ["unhex('ff41')", text, "\ufffdA"],
    ["toFixedString('ab', 4)", { kind: "binary" }, new Uint8Array([0x61, 0x62, 0, 0])],
    [
      "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')",
      { kind: "uuid" },
      "61f0c404-5cb3-11e7-907b-a6006ad3dba0",
    ],
    ["toDate('2024-02-29')", { kind: "date" }, 19_782n],
    ["toDate32('1900-01-01')", { kind: "date" }, -25_567n],
    [
      "toDateTime('2024-02-29 12:34:56', 'UTC')",
      { kind: "timestamp", unit: "s", zoned: true },
      1_709_210_096n,
    ],
    [
      "toDateTime64('2024-02-29 12:34:56.789', 3, 'UTC')",
      { kind: "timestamp", unit: "ms", zoned: true },
      1_709_210_096_789n,
    ],
    [
      "toDateTime64('2024-02-29 12:34:56.7', 1, 'UTC')",
      { kind: "timestamp", unit: "ms", zoned: true },
      1_709_210_096_700n,
    ],
    ["toIPv4('1.2.3.4')", text, "1.2.3.4"],
    ["toIPv6('2001:db8::1')", text, "2001:db8::1"],
    ["toIPv6('::')", text, "::"],
    ["cast('it''s', 'Enum8(\\'it\\\\\\'s\\' = 1, \\'b, (c\\' = 2)')", text, "it's"],
    ["toLowCardinality('x')", text, "x"],
    ["cast(null, 'LowCardinality(Nullable(String))')", text, null],
    ["toNullable(3)", integer(8, false), 3n],
    ["null", { kind: "null" }, null],
    ["[1, 2, 3]", { kind: "list", item: integer(8, false) }, [1n, 2n, 3n]],
    ["emptyArrayString()", { kind: "list", item: text }, []],
    [
      "cast([['a'], []], 'Array(Array(LowCardinality(String)))')",
      { kind: "list", item: { kind: "list", item: text } },
      [["a"], []],
    ],
    [
      "(1, 'a')",
      {
        kind: "struct",
        fields: [
          { name: "1", type: integer(8, false) },
          { name: "2", type: text },
        ],
      },
      [1n, "a"],
    ],
    ["map('k', 1)", { kind: "map", key: text, value: integer(8, false) }, [["k", 1n]]],
    ["interval 3 month", { kind: "interval" }, { months: 3, days: 0, nanoseconds: 0n }],
    [
      "interval 2 hour",
      { kind: "interval" },
      { months: 0, days: 0, nanoseconds: 7_200_000_000_000n },
    ],
    [
      "(1.5, 2.5)::Point",
      {
        kind: "struct",
        fields: [
          { name: "1", type: { kind: "float", bits: 64 } },
          { name: "2", type: { kind: "float", bits: 64 } },
        ],
      },
      [1.5, 2.5],
    ],
  ])("%s arrives as it is", async (expression, type, value) => {
    expect(await valueFrom(expression)).toEqual({ type, value });
  });

  it("says which type it can not read", async () => {
    const { last } = await ran(backend, "select 1::Variant(UInt8, String) as v");
    expect(last).toMatchObject({ kind: "failed", error: { code: "query.unsupported" } });
  });

  it("reads dictionaries over many blocks", async () => {
    const sql = "select toLowCardinality(toString(number % 300)) as v, number from numbers(200000)";
    const { rows } = await ran(backend, sql);
    expect(rows.length).toBe(200_000);
    expect(rows.every(([v, n]) => v === `${Number(n) % 300}`)).toBe(true);
  });

  it("answers the columns of an empty result", async () => {
    const { columns, kinds } = await ran(
      backend,
      "select number as n, toString(number) as s from numbers(0)",
    );
    expect(kinds).toEqual(["columns", "done"]);
    expect(columns.map(({ name, type }) => [name, type.kind])).toEqual([
      ["n", "integer"],
      ["s", "text"],
    ]);
  });
});

describe("parameters of ClickHouse", () => {
  it.each<[Parameter]>([
    [{ type: { kind: "boolean" }, value: true }],
    [{ type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n }],
    [{ type: { kind: "integer", bits: 128, signed: false }, value: 2n ** 128n - 1n }],
    [{ type: { kind: "float", bits: 64 }, value: 0.1 }],
    [
      {
        type: { kind: "decimal", precision: 38, scale: 10 },
        value: 12345678901234567890123456789012345678n,
      },
    ],
    [{ type: { kind: "text" }, value: "it's \\ a \t tab \n and ` \" {p1:String} \u{1f600}" }],
    [{ type: { kind: "text" }, value: null }],
    [{ type: { kind: "date" }, value: -25_567n }],
    [{ type: { kind: "timestamp", unit: "us", zoned: true }, value: 1_577_836_800_000_001n }],
    [{ type: { kind: "uuid" }, value: "61f0c404-5cb3-11e7-907b-a6006ad3dba0" }],
  ])("give back $type.kind as it came", async (parameter) => {
    const { rows, last } = await ran(backend, "select $1 as v", { parameters: [parameter] });
    expect(last).toMatchObject({ kind: "done" });
    expect(rows).toEqual([[parameter.value]]);
  });

  it("are described without running", async () => {
    const { identifiedOf } = await import("@gateway/engines/rig/backend.ts");
    const found = await backend.describe(
      identifiedOf("select number + 1 as n from numbers(3) where number = $1"),
      never,
    );
    expect(found).toMatchObject({
      ok: true,
      value: { columns: [{ name: "n", type: { kind: "integer" } }] },
    });
  });
});

describe("quoting for ClickHouse", () => {
  const hostile = [
    "'",
    "\\",
    "\\'",
    "`",
    '"',
    "\u0000x",
    "\n",
    "'; drop table t; --",
    "\u202e",
    "{p:String}",
    "\uff07",
    "a'b\\",
  ];
  it("is read back exactly by its own parser", async () => {
    for (const text of hostile) {
      expect((await valueFrom(quoteText(text))).value).toBe(text);
      const { columns } = await ran(backend, `select 1 as ${quoteIdentifier(text)}`);
      expect(columns[0]?.name).toBe(text);
    }
  });
});

describe("EXECUTE AS in ClickHouse's grammar", () => {
  /** Its tree of what would be sent, as lines. */
  const treeOf = async (name: string, sql: string): Promise<readonly string[]> => {
    const text = textFor({ kind: "user", name, group: "g" }, sql);
    if (!text.ok) return [text.error.code];
    const { rows, last } = await ran(backend, `explain ast ${text.value.sql}`);
    return last?.kind === "done"
      ? rows.map(([line]) => (typeof line === "string" ? line : "?"))
      : ["refused"];
  };

  it("names 300 hostile users exactly, and ends where the name ends", async () => {
    const before = "ExecuteAsQuery (children 2)\n UserNameWithHost (children 1)\n  Identifier ";
    const behind = "\n SelectWithUnionQuery (children 1)\n";
    const wrong: (readonly [string, string])[] = [];
    let carried = 0;
    for (const name of hostileNames) {
      const identity = { mode: "impersonate", principal: name } as const;
      const query = { backendIdentity: identity, group: "g" };
      if (!callerOf(query, { auth: undefined, queryAuth: { type: "impersonate" } }).ok) continue;
      carried += 1;
      const text = (await treeOf(name, "select 1")).join("\n");
      // The tree's writer stops at a NUL; how NUL is read is shown by aliases above.
      const [shown = ""] = name.split("\0");
      const wanted = before + shown + (shown === name ? behind : "");
      if (!text.startsWith(wanted)) wrong.push([name, text]);
    }
    expect(wrong).toEqual([]);
    expect(carried).toBeGreaterThan(200);
  });

  it.each([
    ["select 1", " SelectWithUnionQuery"],
    ["-- first\nselect 1", " SelectWithUnionQuery"],
    ["(select 1) union all (select 2)", " SelectWithUnionQuery"],
    ["with 1 as x select x", " SelectWithUnionQuery"],
    ["insert into t select 1", " InsertQuery"],
    ["drop table a parallel with drop table b", " ParallelWithQuery"],
    ["describe table (select 1)", " DescribeQuery"],
    ["show tables", " ShowTables"],
    ["alter table t delete where 1", " AlterQuery"],
  ])("holds the whole of: %s", async (sql, kind) => {
    const tree = await treeOf("alice", sql);
    expect(tree.slice(0, 3)).toEqual([
      "ExecuteAsQuery (children 2)",
      " UserNameWithHost (children 1)",
      "  Identifier alice",
    ]);
    // Nothing but the user and one query stands on the level below.
    expect(tree.slice(3).filter((line) => /^ \S/.test(line))).toHaveLength(1);
    expect(tree[3]).toContain(kind);
  });

  it.each([
    ["@'bob' select 1", "query.unsupported"],
    ["`bob` select 1", "query.unsupported"],
    ["insert into t values (1)", "refused"],
    ["execute as bob select 1", "refused"],
  ])("has no place for: %s", async (sql, outcome) => {
    expect(await treeOf("alice", sql)).toEqual([outcome]);
  });

  it("says that the setting is off before it looks for the user", async () => {
    const identity = { mode: "impersonate", principal: "nobody" } as const;
    const config = { engine: "clickHouse", endpoint, auth, queryAuth: { type: "impersonate" } };
    await using users = valueOf(await open("real", clickHouseConfig.parse(config), hostOf()));
    expect(await users.probe(never)).toBe("unhealthy");
    const lane: Pick<Backend, "execute"> = {
      execute: (query, signal) => users.execute({ ...query, backendIdentity: identity }, signal),
    };
    expect(codeOf(await ran(lane, "select 1"))).toBe("auth.noBackendIdentity");
  });
});

describe("errors of ClickHouse", () => {
  it.each<[string, string]>([
    ["selec 1", "query.syntax"],
    ["select * from nowhere", "query.unknownObject"],
    ["select nothing", "query.unknownObject"],
    ["select nofunction(1)", "query.unknownObject"],
    ["select toInt32('x')", "query.data"],
    [
      "select throwIf(number = 150000) from numbers(1000000) settings max_block_size = 1000",
      "query.data",
    ],
    ["select 1 format JSON", "query.unsupported"],
  ])("%s is %s", async (sql, code) => {
    expect(codeOf(await ran(backend, sql))).toBe(code);
  });
});

describe("clients in front of ClickHouse", () => {
  const clusters = { local: { engine: "clickHouse", endpoint, auth, database: "default" } };
  const sql =
    "select number as n, toString(number) as s, toDecimal64(number, 2) as d from numbers(3) order by n";

  it("read its rows over the PostgreSQL wire", async () => {
    await using gateway = await gatewayOf(configOf({ clusters }));
    const client = new pg.Client({
      host: "127.0.0.1",
      port: portOf(gateway, "postgresWire"),
      user: "u",
    });
    await client.connect();
    try {
      const { rows } = await client.query(sql);
      expect(rows).toEqual([0, 1, 2].map((n) => ({ n: `${n}`, s: `${n}`, d: `${n}.00` })));
      const one = await client.query("select toInt32($1) + 1 as n", ["41"]);
      expect(one.rows).toEqual([{ n: "42" }]);
    } finally {
      await client.end();
    }
  });

  it("read its rows over the MySQL wire", async () => {
    await using gateway = await gatewayOf(configOf({ clusters }));
    const client = await mysql.createConnection({
      host: "127.0.0.1",
      port: portOf(gateway, "mysqlWire"),
      user: "u",
    });
    try {
      const [rows] = await client.query(sql);
      expect(rows).toEqual([0, 1, 2].map((n) => ({ n, s: `${n}`, d: `${n}.00` })));
      const [again] = await client.execute("select toInt32(?) + 1 as n", ["41"]);
      expect(again).toEqual([{ n: 42 }]);
    } finally {
      await client.end();
    }
  });

  it("insert rows of their own format over ClickHouse's wire, and read them back", async () => {
    const listener = { host: "127.0.0.1", port: 0 };
    const { gateway: plain } = configOf() as { gateway: object };
    const only = { ...plain, frontends: { clickhouseHttp: listener } };
    await using gateway = await gatewayOf(configOf({ clusters, gateway: only }));
    const client = createClient({
      url: `http://127.0.0.1:${portOf(gateway, "clickhouseHttp")}`,
      username: "u",
      log: { level: 127 },
    });
    try {
      await client.command({ query: "create table own (a Int32, b String) engine = Memory" });
      const values = Array.from({ length: 1000 }, (_, a) => ({ a, b: `row '${a}'` }));
      await client.insert({ table: "own", values, format: "JSONEachRow" });
      const query = "select * from own where a < {n:Int32} order by a";
      const query_params = { n: 500 };
      const answer = await client.query({ query, query_params, format: "JSONEachRow" });
      expect(await answer.json()).toEqual(values.slice(0, 500));
      const failed = client.query({ query: "select throwIf(1, 'no')", format: "JSON" });
      await expect(failed).rejects.toMatchObject({ code: "395" });
      await client.command({ query: "drop table own" });
    } finally {
      await client.close();
    }
  });
});
