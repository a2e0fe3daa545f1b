/** The engine contract on MariaDB in StarRocks' place, and what is the wire's own; `npm run test:real` says where the server is. */
import { engineSuite } from "@gateway/engines/engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import { open } from "@gateway/engines/starRocks/adapter.ts";
import { starRocksConfig, type StarRocksConfig } from "@gateway/engines/starRocks/config.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";

const port = process.env["GATEWAY_TEST_MARIADB"] ?? "";
const caFile = process.env["GATEWAY_TEST_MARIADB_CA"] ?? "";
const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
const endpoint = `mysql://localhost:${port}?require_ssl=true`;
const cluster = { engine: "starRocks", endpoint, auth, tls: { caFile }, database: "demo" };

async function backendOf(more: Partial<StarRocksConfig> = {}): Promise<Backend> {
  return valueOf(await open("real", starRocksConfig.parse({ ...cluster, ...more }), hostOf()));
}

const values: readonly Parameter[] = [
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\ \t\n \\' --" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_807n },
  { type: { kind: "float", bits: 64 }, value: 1e300 },
  { type: { kind: "binary" }, value: new Uint8Array([0, 1, 255, 39, 92]) },
];

engineSuite(
  "StarRocks on MariaDB",
  {
    endless:
      "select count(*) from seq_1_to_1000000000 a join seq_1_to_1000000000 b where sha1(a.seq + b.seq) = 'x'",
    flood: "select seq, concat('row ', seq) as label from seq_1_to_1000000000000",
    createTable: "create table suite_t (id integer, label varchar(100))",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "select 'x' selec from", position: 1 },
  },
  () => backendOf({ poolSize: 1 }),
  {
    skip: [
      { test: "says where a text is broken", reason: "MySQL's errors name a line and no position" },
      {
        test: "names the columns and parameters of a query",
        reason: "MySQL does not tell the types of parameters",
      },
    ],
  },
);

describe("a time limit that the server keeps", () => {
  it("is MariaDB's own, ends a statement, and is gone from the connection where there is none", async () => {
    await using limited = await backendOf({ poolSize: 1 });
    const endless =
      "select count(*) from seq_1_to_1000000000 a join seq_1_to_1000000000 b where sha1(a.seq + b.seq) = 'x'";
    expect(codeOf(await ran(limited, endless, { maxExecutionMs: 1_000 }))).toBe("query.timeout");
    expect(limited.limitsExecution).toBe(true);
    const own = "select @@max_statement_time = 0";
    expect((await ran(limited, own)).rows).toEqual((await ran(backend, own)).rows);
    const raised = `set statement max_statement_time = 100 for ${endless}`;
    expect(codeOf(await ran(limited, raised, { maxExecutionMs: 1_000 }))).toBe("query.unsupported");
  });
});

let backend: Backend;
beforeAll(async () => {
  backend = await backendOf();
  const created = await ran(
    backend,
    `create table types_t (
      i8 tinyint, u8 tinyint unsigned, i64 bigint, u64 bigint unsigned, z int(8) unsigned zerofill,
      d decimal(38,10), big decimal(65,0), f double, dt datetime(6), d0 datetime, day date, b varbinary(10), j json, e enum('a','b'), t time)`,
  );
  if (created.last?.kind !== "done") throw new Error("the table could not be made");
});
afterAll(async () => {
  await ran(backend, "drop table types_t");
  await backend[Symbol.asyncDispose]();
});

describe("types of MySQL's family", () => {
  it("arrive without losing a digit", async () => {
    const inserted = await ran(
      backend,
      `insert into types_t values (-128, 255, -9223372036854775808, 18446744073709551615, 42,
        -1234567890123456789012345678.0123456789, 12345678901234567890123456789012345678901234567890, 0.1,
        '2024-02-29 12:34:56.789012', '2024-02-29 12:34:56', '2024-02-29', x'00ff27', '{"a": 1}', 'b', '-838:59:59')`,
    );
    expect(inserted.last).toMatchObject({ kind: "done", updateType: "INSERT", updateCount: 1 });
    const { rows, columns } = await ran(backend, "select * from types_t");
    const kinds = columns.map(({ type }): DataType["kind"] => type.kind);
    expect(kinds).toEqual([
      "integer",
      "integer",
      "integer",
      "integer",
      "integer",
      "decimal",
      "text",
      "float",
      "timestamp",
      "timestamp",
      "date",
      "binary",
      "json",
      "text",
      "text",
    ]);
    const expected: readonly Value[] = [
      -128n,
      255n,
      -9_223_372_036_854_775_808n,
      18_446_744_073_709_551_615n,
      42n,
      -12345678901234567890123456780123456789n,
      "12345678901234567890123456789012345678901234567890",
      0.1,
      1_709_210_096_789_012n,
      1_709_210_096_000_000n,
      19_782n,
      new Uint8Array([0, 255, 39]),
      '{"a": 1}',
      "b",
      "-838:59:59",
    ];
    expect(rows).toEqual([expected]);
  });

  it("hold values of more than 16 MB", async () => {
    const { rows, last } = await ran(backend, "select repeat('x', 40000000) as a, 1 as b");
    expect(last?.kind).toBe("done");
    expect(rows).toEqual([["x".repeat(40_000_000), 1n]]);
  }, 60_000);
});

describe("a statement", () => {
  it("shows its tag in the server's list, and is found by it", async () => {
    const query = identifiedOf("select seq from seq_1_to_1000000000000");
    const stream = backend.execute(query, never);
    await stream.next();
    await stream.next();
    expect(await backend.running(never)).toEqual({
      ok: true,
      value: { tags: [statementTag(query)], complete: true, delayMs: 1_000 },
    });
    await stream.return();
    expect(valueOf(await backend.running(never)).tags).toEqual([]);
  });

  it.each([
    "kill 1",
    "set password = 'x'",
    "set global max_connections = 1",
    "set role none",
    "select 1; select 2",
    "set sql_mode = 'ANSI_QUOTES'",
    "set sql_mode = 4",
  ])("may not do what the service account may: %s", async (sql) => {
    expect(["query.permission", "query.unsupported"]).toContain(codeOf(await ran(backend, sql)));
  });

  it("leaves no user variable to the next session, and makes no lock or temporary table that would be gone", async () => {
    await using one = await backendOf({ poolSize: 1 });
    await ran(one, "select @left := 42");
    expect((await ran(one, "select @left")).rows).toEqual([[null]]);
    for (const sql of ["create temporary table left_t (a int)", "select get_lock('left', 0)"]) {
      expect(codeOf(await ran(one, sql))).toBe("query.unsupported");
    }
  });

  it("stands where its session stands, on whichever connection", async () => {
    await using one = await backendOf({ poolSize: 1 });
    const there = { session: { schema: "other" } };
    expect((await ran(one, "select database()", there)).rows).toEqual([["other"]]);
    expect((await ran(one, "select database()")).rows).toEqual([["demo"]]);
    expect((await ran(one, "use other")).kinds).toEqual(["session", "done"]);
    expect(codeOf(await ran(one, "use nowhere"))).toBe("query.permission");
  });

  it("finds the variables that its session has set, and no others", async () => {
    await using one = await backendOf({ poolSize: 1 });
    expect((await ran(one, "set session group_concat_max_len = 4321")).kinds).toEqual([
      "session",
      "done",
    ]);
    const session = {
      frontend: "mysqlWire",
      settings: new Map([["group_concat_max_len", "4321"]]),
    };
    const sql =
      "select cast(variable_value as int) as v from information_schema.session_variables where variable_name = 'group_concat_max_len'";
    expect((await ran(one, sql, { session })).rows).toEqual([[4321n]]);
    expect((await ran(one, sql)).rows).not.toEqual([[4321n]]);
  });

  it("is never a file of the gateway's host", async () => {
    const answer = await ran(backend, "load data local infile '/etc/passwd' into table types_t");
    expect(answer.last?.kind).toBe("failed");
    expect((await ran(backend, "select count(*) from types_t")).rows).toEqual([[1n]]);
  });

  it("reaches no server whose certificate is another's", async () => {
    await using other = await backendOf({ tls: { caFile, serverName: "elsewhere.example" } });
    expect(codeOf(await ran(other, "select 1"))).toBe("cluster.connectFailed");
    await using unknown = await backendOf({ tls: undefined });
    expect(codeOf(await ran(unknown, "select 1"))).toBe("cluster.connectFailed");
  });

  it("says that the account is refused without its name or password", async () => {
    await using wrong = await backendOf({
      auth: { type: "basic", username: "gateway", password: "wrong" },
    });
    const answer = await ran(wrong, "select 1");
    expect(codeOf(answer)).toBe("cluster.connectFailed");
    expect(JSON.stringify(answer.last)).not.toMatch(/gateway|wrong/);
  });
});

describe("clients in front of it", () => {
  const clusters = { local: cluster };

  it("read its rows over the PostgreSQL wire", async () => {
    await using gateway = await gatewayOf(configOf({ clusters }));
    const client = new pg.Client({
      host: "127.0.0.1",
      port: portOf(gateway, "postgresWire"),
      user: "u",
      database: "def",
    });
    await client.connect();
    try {
      const { rows } = await client.query(
        "select i64, d, day, e from types_t where i8 = $1",
        [-128],
      );
      expect(rows).toEqual([
        {
          i64: "-9223372036854775808",
          d: "-1234567890123456789012345678.0123456789",
          day: new Date(2024, 1, 29),
          e: "b",
        },
      ]);
    } finally {
      await client.end();
    }
  });

  it("read its rows over the MySQL wire, as text and prepared", async () => {
    await using gateway = await gatewayOf(configOf({ clusters }));
    const client = await mysql.createConnection({
      host: "127.0.0.1",
      port: portOf(gateway, "mysqlWire"),
      user: "u",
      supportBigNumbers: true,
      dateStrings: true,
    });
    try {
      const [named] = await client.query(
        "select `i8` as `odd ``name`, 'it\\'s' as s from `types_t`",
      );
      expect(named).toEqual([{ "odd `name": -128, s: "it's" }]);
      const sql = "select i64, u64, d, dt, e, t from types_t";
      const wanted = [
        {
          i64: "-9223372036854775808",
          u64: "18446744073709551615",
          d: "-1234567890123456789012345678.0123456789",
          dt: "2024-02-29 12:34:56.789012",
          e: "b",
          t: "-838:59:59",
        },
      ];
      expect((await client.query(sql))[0]).toEqual(wanted);
      expect((await client.execute(`${sql} where e = ?`, ["b"]))[0]).toEqual(wanted);
    } finally {
      await client.end();
    }
  });
});
