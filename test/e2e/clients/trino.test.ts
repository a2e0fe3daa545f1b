/** What Trino's own clients ask, over the real pipeline and a real DuckDB: the statements behind JDBC's DatabaseMetaData and SQLAlchemy's inspection, transactions, and rows in segments. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
  await rows(
    "CREATE TABLE orders (id BIGINT NOT NULL, price DECIMAL(12,2), moment TIMESTAMPTZ, tags VARCHAR[])",
  );
  await rows("CREATE VIEW cheap AS SELECT * FROM orders WHERE price < 1");
}, 30_000);

afterAll(() => gateway[Symbol.asyncDispose]());

describe("the statements of JDBC's DatabaseMetaData", () => {
  it("list catalogs, schemas, tables and views", async () => {
    expect(await rows("SELECT TABLE_CAT FROM system.jdbc.catalogs ORDER BY TABLE_CAT")).toEqual([
      ["memory"],
    ]);
    expect(
      await rows(
        "SELECT TABLE_SCHEM, TABLE_CATALOG\nFROM system.jdbc.schemas\nWHERE TABLE_CATALOG = 'memory' AND TABLE_SCHEM LIKE 'ma%' ESCAPE '\\'\nORDER BY TABLE_CATALOG, TABLE_SCHEM",
      ),
    ).toEqual([["main", "memory"]]);
    expect(
      await rows(
        "SELECT TABLE_CAT, TABLE_SCHEM, TABLE_NAME, TABLE_TYPE, REMARKS,\n  TYPE_CAT, TYPE_SCHEM, TYPE_NAME,   SELF_REFERENCING_COL_NAME, REF_GENERATION\nFROM system.jdbc.tables\nWHERE TABLE_CAT = 'memory' AND TABLE_NAME LIKE '%' ESCAPE '\\' AND TABLE_TYPE IN ('TABLE', 'VIEW')\nORDER BY TABLE_TYPE, TABLE_CAT, TABLE_SCHEM, TABLE_NAME",
      ),
    ).toEqual([
      ["memory", "main", "orders", "TABLE", null, null, null, null, null, null],
      ["memory", "main", "cheap", "VIEW", null, null, null, null, null, null],
    ]);
  });

  it("list columns with Trino's types and java.sql's numbers for them", async () => {
    expect(
      await rows(
        "SELECT COLUMN_NAME, TYPE_NAME, DATA_TYPE, DECIMAL_DIGITS, NULLABLE, IS_NULLABLE FROM system.jdbc.columns WHERE TABLE_NAME LIKE 'orders' ESCAPE '\\' ORDER BY ORDINAL_POSITION",
      ),
    ).toEqual([
      ["id", "bigint", -5, 0, 0, "NO"],
      ["price", "decimal(12,2)", 3, 2, 1, "YES"],
      ["moment", "timestamp(6) with time zone", 2014, null, 1, "YES"],
      ["tags", "array(varchar)", 2003, null, 1, "YES"],
    ]);
  });

  it("find every other table of system.jdbc, with nothing in it", async () => {
    for (const table of [
      "attributes",
      "procedures",
      "procedure_columns",
      "pseudo_columns",
      "super_tables",
      "super_types",
      "udts",
    ]) {
      expect(await rows(`SELECT * FROM system.jdbc.${table} LIMIT 0`)).toEqual([]);
    }
    expect(await rows("SELECT TYPE_NAME FROM system.jdbc.types WHERE DATA_TYPE = 12")).toEqual([
      ["varchar"],
    ]);
  });
});

describe("the statements of SQLAlchemy's inspection", () => {
  it("find a catalog's own information_schema", async () => {
    expect(
      await rows(
        `SELECT "table_name" FROM "memory"."information_schema"."tables" WHERE "table_schema" = 'main' AND "table_type" = 'BASE TABLE'`,
      ),
    ).toEqual([["orders"]]);
    expect(
      await rows(
        `SELECT "column_name", "data_type", "comment" FROM "memory"."information_schema"."columns" WHERE table_name = 'orders' ORDER BY ordinal_position LIMIT 2`,
      ),
    ).toEqual([
      ["id", "bigint", null],
      ["price", "decimal(12,2)", null],
    ]);
    expect(
      await rows(
        `SELECT "comment" FROM "system"."metadata"."table_comments" WHERE table_name = 'orders'`,
      ),
    ).toEqual([[null]]);
  });
});

describe("SHOW", () => {
  it("answers with what would make a table", async () => {
    expect(await rows("SHOW CREATE TABLE orders")).toEqual([
      [
        "CREATE TABLE orders (\n   id bigint,\n   price decimal(12,2),\n   moment timestamp(6) with time zone,\n   tags array(varchar)\n)",
      ],
    ]);
  });
});

describe("a transaction", () => {
  it("is rolled back by the id that its client was given", async () => {
    const none = { "x-trino-transaction-id": "NONE" };
    const begun = await ask("START TRANSACTION", none);
    const id = begun.headers["x-trino-started-transaction-id"] ?? "";
    const inside = { "x-trino-transaction-id": id };
    await ask("INSERT INTO orders VALUES (1, 1, NULL, NULL)", inside);
    expect((await ask("SELECT count(*) FROM orders", inside)).rows).toEqual([[1]]);
    const ended = await ask("ROLLBACK", inside);
    expect(ended.headers["x-trino-clear-transaction-id"]).toBe("true");
    expect(await rows("SELECT count(*) FROM orders")).toEqual([[0]]);
  });
});

describe("a session's time zone", () => {
  it("is the one in which instants are shown", async () => {
    const sql = "SELECT TIMESTAMPTZ '2024-02-29 12:00:00+00'";
    const tokyo = await ask(sql, { "x-trino-time-zone": "Asia/Tokyo" });
    expect(tokyo.rows).toEqual([["2024-02-29 21:00:00.000000 Asia/Tokyo"]]);
    const nowhere = await ask(sql, { "x-trino-time-zone": "Nowhere/City" });
    expect(nowhere.error).toBe("NOT_SUPPORTED");
  });
});

describe("rows in segments", () => {
  it("are the same rows", async () => {
    const { rows: found } = await ask("SELECT i FROM range(40000) r(i)", {
      "x-trino-query-data-encoding": "json",
    });
    expect(found).toHaveLength(40_000);
    expect(found.at(-1)).toEqual([39_999]);
  });
});

interface Asked {
  readonly rows: readonly (readonly unknown[])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly error: string | undefined;
}

interface Answer {
  readonly nextUri?: string;
  readonly data?: unknown;
  readonly error?: { readonly errorName: string };
}

async function rows(sql: string): Promise<Asked["rows"]> {
  const asked = await ask(sql);
  if (asked.error !== undefined) throw new Error(`${asked.error}: ${sql}`);
  return asked.rows;
}

/** Follows a statement's links to its end. */
async function ask(sql: string, more: Readonly<Record<string, string>> = {}): Promise<Asked> {
  const headers = { "x-trino-user": "alice", ...more };
  const found: (readonly unknown[])[] = [];
  const seen: Record<string, string> = {};
  let url = `http://127.0.0.1:${portOf(gateway, "trinoHttp")}/v1/statement`;
  let init: RequestInit = { method: "POST", body: sql, headers };
  for (;;) {
    const response = await fetch(url, init);
    const answer = (await response.json()) as Answer;
    response.headers.forEach((value, name) => (seen[name] = value));
    found.push(...rowsOf(answer.data));
    if (answer.nextUri === undefined) {
      return { rows: found, headers: seen, error: answer.error?.errorName };
    }
    url = answer.nextUri;
    init = { headers };
  }
}

function rowsOf(data: unknown): readonly (readonly unknown[])[] {
  if (data === undefined || Array.isArray(data)) return data ?? [];
  const { segments } = data as { readonly segments: readonly { readonly data: string }[] };
  return segments.flatMap(
    (segment) => JSON.parse(Buffer.from(segment.data, "base64").toString()) as unknown[][],
  );
}
