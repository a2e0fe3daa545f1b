/** Every neutral type from DuckDB to each protocol, text and binary: no digit and no microsecond is lost. */
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";

interface Row {
  /** DuckDB's expression. */
  readonly sql: string;
  /** As text over PostgreSQL. */
  readonly pg: string;
  /** As text over MySQL. */
  readonly mysql: string;
  /** As JSON over Trino. */
  readonly trino: unknown;
}

const rows: readonly Row[] = [
  { sql: "true", pg: "t", mysql: "1", trino: true },
  { sql: "(-128)::tinyint", pg: "-128", mysql: "-128", trino: -128 },
  { sql: "(-32768)::smallint", pg: "-32768", mysql: "-32768", trino: -32768 },
  { sql: "(-2147483648)::int", pg: "-2147483648", mysql: "-2147483648", trino: -2147483648 },
  same("9223372036854775807::bigint", "9223372036854775807"),
  same("18446744073709551615::ubigint", "18446744073709551615"),
  same(
    "170141183460469231731687303715884105727::hugeint",
    "170141183460469231731687303715884105727",
  ),
  same(
    "(-170141183460469231731687303715884105728)::hugeint",
    "-170141183460469231731687303715884105728",
  ),
  same(
    "12345678901234567890123456789012345678::decimal(38,0)",
    "12345678901234567890123456789012345678",
  ),
  same("(-0.05)::decimal(4,2)", "-0.05"),
  { sql: "0.1::float", pg: "0.1", mysql: "0.1", trino: 0.1 },
  { sql: "1e300::double", pg: "1e+300", mysql: "1e300", trino: 1e300 },
  same("'naïve 漢字 🙂'", "naïve 漢字 🙂"),
  { sql: "unhex('00FF')", pg: "\\x00ff", mysql: "\u0000ÿ", trino: "AP8=" },
  same("date '2024-02-29'", "2024-02-29"),
  {
    sql: "time '23:59:59.123456'",
    pg: "23:59:59.123456",
    mysql: "23:59:59.123456",
    trino: "23:59:59.123456",
  },
  {
    sql: "timestamp '2024-02-29 23:59:59.123456'",
    pg: "2024-02-29 23:59:59.123456",
    mysql: "2024-02-29 23:59:59.123456",
    trino: "2024-02-29 23:59:59.123456",
  },
  {
    sql: "timestamptz '2024-02-29 23:59:59.123456+02'",
    pg: "2024-02-29 21:59:59.123456+00",
    mysql: "2024-02-29 21:59:59.123456",
    trino: "2024-02-29 21:59:59.123456 UTC",
  },
  same("uuid '01234567-89ab-cdef-0123-456789abcdef'", "01234567-89ab-cdef-0123-456789abcdef"),
  { sql: "[1, null, 3]", pg: "{1,NULL,3}", mysql: "[1,null,3]", trino: [1, null, 3] },
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayOf(configOf());
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

describe("a cell of each type", () => {
  it("arrives exactly over PostgreSQL as text", async () => {
    expect(await pgCells(false)).toEqual(rows.map((row) => row.pg));
  });

  it("arrives over PostgreSQL in binary as the driver reads it from a PostgreSQL server", async () => {
    const cells = await pgCells(true);
    const exact = ["-2147483648", "9223372036854775807", "18446744073709551615", "-0.05"];
    for (const text of exact) expect(cells).toContain(text);
  });

  it("arrives exactly over MySQL, as text and in a prepared statement", async () => {
    const options = {
      host,
      port: portOf(gateway, "mysqlWire"),
      user: "a",
      supportBigNumbers: true,
    };
    const client = await mysql.createConnection({
      ...options,
      bigNumberStrings: true,
      dateStrings: true,
    });
    const asText = {
      sql: select(),
      rowsAsArray: true,
      typeCast: (field: { string(): string | null }) => field.string(),
    };
    const [text] = await client.query(asText as unknown as mysql.QueryOptions);
    expect((text as unknown[][])[0]).toEqual(rows.map((row) => row.mysql));
    const [binary] = await client.execute({ sql: select(), rowsAsArray: true });
    const cells = ((binary as unknown[][])[0] ?? []).map(String);
    for (const wanted of ["9223372036854775807", "18446744073709551615", "-0.05"]) {
      expect(cells).toContain(wanted);
    }
    await client.end();
  });

  it("arrives exactly over Trino", async () => {
    expect(await trinoCells()).toEqual(rows.map((row) => row.trino));
  });

  it("is NULL in every protocol when it is NULL", async () => {
    const nulls = rows.map((row, n) => `case when false then ${row.sql} end as c${n}`).join(", ");
    const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "a" });
    await client.connect();
    const result = await client.query({ text: `select ${nulls}`, rowMode: "array" });
    await client.end();
    expect(new Set(result.rows[0])).toEqual(new Set([null]));
  });
});

function same(sql: string, text: string): Row {
  return { sql, pg: text, mysql: text, trino: text };
}

function select(): string {
  return `select ${rows.map((row, n) => `${row.sql} as c${n}`).join(", ")}`;
}

async function pgCells(binary: boolean): Promise<unknown[]> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "a" });
  await client.connect();
  const raw = { getTypeParser: () => (text: string) => text };
  const query = { text: select(), rowMode: "array", binary, ...(binary ? {} : { types: raw }) };
  const result = await client.query(query as unknown as pg.QueryArrayConfig);
  await client.end();
  return (result.rows[0] ?? []).map((cell: unknown) => (binary ? String(cell) : cell));
}

async function trinoCells(): Promise<unknown[]> {
  const headers = { "x-trino-user": "a" };
  const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  let text = await (await fetch(url, { method: "POST", headers, body: select() })).text();
  for (;;) {
    // A bigint stays exact only as text: JSON's own numbers would round it.
    const page = JSON.parse(text.replaceAll(/([[,])(-?\d{16,})(?=[,\]])/g, '$1"$2"')) as {
      data?: unknown[][];
      nextUri?: string;
      error?: { message: string };
    };
    if (page.error !== undefined) throw new Error(page.error.message);
    if (page.data !== undefined) return page.data[0] ?? [];
    if (page.nextUri === undefined) throw new Error("no rows");
    text = await (await fetch(page.nextUri, { headers })).text();
  }
}
