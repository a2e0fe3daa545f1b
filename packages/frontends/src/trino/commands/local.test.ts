import { gatewayError } from "@gateway/core/error.ts";
import type { Description, ResultEvent } from "@gateway/core/query/event.ts";
import { err, ok } from "@gateway/core/result.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { describe, expect, it } from "vitest";
import type { Handling } from "../read/handling.ts";
import { handle } from "./local.ts";
import { queryOf, sessionOf } from "../rig/trino.ts";
import type { TrinoSession } from "../session/session.ts";

describe("handle", () => {
  it("leaves every other statement to the engine as it is", () => {
    for (const sql of [
      "SELECT 1",
      "  -- USE a.b\n SELECT '?'",
      "SELECT ? FROM t",
      "SHOW STATS FOR t",
      "SHOW CREATE VIEW v",
      "SHOW CREATE TABLE a.b.",
      "SET threads = 4",
      "RESET threads",
      "DESCRIBE SELECT 1",
      "DESCRIBE a.b.c.d",
      "USE 'x'",
      "EXPLAIN SELECT 1",
      "useless",
      "(SELECT 1)",
    ]) {
      expect(handle(sql, sessionOf(), doorOf())).toEqual({
        kind: "run",
        sql,
        parameters: [],
        verbatim: true,
        headers: [],
      });
    }
  });

  it("reads keywords in any case, comments anywhere and one semicolon at the end", async () => {
    const answer = await answerOf('/* a */ uSe /* b */ Tpch . "Ti ny" ;');
    expect(answer).toMatchObject({ updateType: "USE" });
    expect(answer.headers).toEqual([
      ["X-Trino-Set-Catalog", "tpch"],
      ["X-Trino-Set-Schema", "Ti ny"],
    ]);
  });

  it("refuses an unknown catalog in USE with Trino's own code", async () => {
    expect((await answerOf("USE nowhere.x")).error).toMatchObject({ sqlState: "3D000" });
    expect((await answerOf("USE tiny")).headers).toEqual([["X-Trino-Set-Schema", "tiny"]]);
  });

  it("sets and resets session properties", async () => {
    const headers = async (sql: string) => (await answerOf(sql)).headers;
    expect(await headers("SET SESSION query_max_run_time = '5m'")).toEqual([
      ["X-Trino-Set-Session", "query_max_run_time=5m"],
    ]);
    expect(await headers("SET SESSION tpch.splits = 4")).toEqual([
      ["X-Trino-Set-Session", "tpch.splits=4"],
    ]);
    expect(await headers("SET SESSION a = true")).toEqual([["X-Trino-Set-Session", "a=true"]]);
    expect(await headers("RESET SESSION a")).toEqual([["X-Trino-Clear-Session", "a"]]);
    expect((await answerOf("SET SESSION a = now()")).error?.code).toBe("query.unsupported");
    expect((await answerOf("SET SESSION a")).error?.code).toBe("query.syntax");
  });

  it("refuses another user's authorization and lets go of it", async () => {
    expect((await answerOf("SET SESSION AUTHORIZATION bob")).error?.code).toBe("query.permission");
    expect((await answerOf("RESET SESSION AUTHORIZATION")).headers).toEqual([
      ["X-Trino-Reset-Authorization-User", "true"],
    ]);
  });

  it("sets the time zone by name, offset and interval, and lets go of it", async () => {
    const headers = async (sql: string) => (await answerOf(sql)).headers;
    expect(await headers("SET TIME ZONE 'Europe/Berlin'")).toEqual([
      ["X-Trino-Set-Session", "time_zone_id=Europe%2FBerlin"],
    ]);
    expect(await headers("SET TIME ZONE INTERVAL '-08:30' HOUR TO MINUTE")).toEqual([
      ["X-Trino-Set-Session", "time_zone_id=-08%3A30"],
    ]);
    expect(await headers("SET TIME ZONE INTERVAL -'8' HOUR")).toEqual([
      ["X-Trino-Set-Session", "time_zone_id=-08%3A00"],
    ]);
    expect(await headers("SET TIME ZONE LOCAL")).toEqual([
      ["X-Trino-Clear-Session", "time_zone_id"],
    ]);
    for (const sql of ["SET TIME ZONE 'Nowhere'", "SET SESSION time_zone_id = 'Nowhere'"]) {
      expect((await answerOf(sql)).error).toMatchObject({
        code: "query.unsupported",
        message: "Time zone not supported: Nowhere",
      });
    }
  });

  it("begins a transaction only for a client that can end it", async () => {
    expect((await answerOf("START TRANSACTION")).error?.message).toBe(
      "Client does not support transactions",
    );
    const session = sessionOf({ "x-trino-transaction-id": "NONE" });
    expect(handle("START TRANSACTION", session, doorOf())).toMatchObject({ verbatim: true });
  });

  it("refuses to begin and to end a transaction where Trino does", async () => {
    const outside = sessionOf({ "x-trino-transaction-id": "NONE" });
    const within = sessionOf({ "x-trino-transaction-id": "t1" });
    const refusal = async (sql: string, session: TrinoSession) => {
      const { error } = await answerOf(sql, session);
      return [error?.code, error?.message, error?.position];
    };
    const nothing = ["query.transaction", "No transaction in progress", undefined];
    expect(await refusal("COMMIT", outside)).toEqual(nothing);
    expect(await refusal("rollback work", sessionOf())).toEqual(nothing);
    expect(await refusal("START TRANSACTION", within)).toEqual([
      "query.unsupported",
      "Nested transactions not supported",
      undefined,
    ]);
    expect(await refusal(" START TRANSACTION READ ONLY, READ WRITE", outside)).toEqual([
      "query.syntax",
      "Multiple transaction read modes specified",
      2,
    ]);
    for (const sql of ["COMMIT", "ROLLBACK"]) {
      expect(handle(sql, within, doorOf())).toMatchObject({ kind: "run", verbatim: true });
    }
    const modes = "START TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED";
    expect(handle(modes, outside, doorOf())).toMatchObject({ kind: "run", verbatim: true });
  });
});

describe("prepared statements", () => {
  const prepared = (sql: string) =>
    sessionOf({ "x-trino-prepared-statement": `p=${encodeURIComponent(sql)}` });

  it("are handed to the client to keep, as they were written", async () => {
    const answer = await answerOf("PREPARE p FROM\n SELECT '?', ? FROM t -- end");
    expect(answer.updateType).toBe("PREPARE");
    expect(answer.headers).toEqual([
      ["X-Trino-Added-Prepare", "p=SELECT+%27%3F%27%2C+%3F+FROM+t+--+end"],
    ]);
  });

  it("run with typed values and numbered places", () => {
    const session = prepared("SELECT '?', ? FROM t WHERE a = ?");
    expect(handle("EXECUTE p USING 'x', BIGINT '5'", session, doorOf())).toEqual({
      kind: "run",
      sql: "SELECT '?', $1 FROM t WHERE a = $2",
      parameters: [
        { type: { kind: "text" }, value: "x" },
        { type: { kind: "integer", bits: 64, signed: true }, value: 5n },
      ],
      verbatim: false,
      headers: [],
    });
    expect(
      handle("EXECUTE IMMEDIATE 'SELECT ''a'', ?' USING 1", sessionOf(), doorOf()),
    ).toMatchObject({ sql: "SELECT 'a', $1", parameters: [{ value: 1n }] });
  });

  it("need as many values as they have places", async () => {
    const session = prepared("SELECT ?, ?");
    expect((await answerOf("EXECUTE p", session)).error).toMatchObject({
      code: "query.parameters",
      message: "Incorrect number of parameters: expected 2 but found 0",
    });
    expect((await answerOf("EXECUTE p USING 1, 2, 3", session)).error?.code).toBe(
      "query.parameters",
    );
  });

  it("that are unknown are refused by name", async () => {
    for (const sql of [
      "EXECUTE q",
      "DEALLOCATE PREPARE q",
      "DESCRIBE INPUT q",
      "DESCRIBE OUTPUT q",
    ]) {
      expect((await answerOf(sql)).error?.message).toBe("Prepared statement not found: q");
    }
  });

  it("may be statements about the session, but not about prepared statements", async () => {
    const use = prepared("USE tpch.tiny");
    expect((await answerOf("EXECUTE p", use)).headers).toEqual([
      ["X-Trino-Set-Catalog", "tpch"],
      ["X-Trino-Set-Schema", "tiny"],
    ]);
    expect((await answerOf("PREPARE p FROM EXECUTE q")).error?.code).toBe("query.unsupported");
    const nested = prepared("EXECUTE IMMEDIATE 'SELECT 1'");
    expect((await answerOf("EXECUTE p", nested)).error?.code).toBe("query.unsupported");
  });

  it("are forgotten by the client when deallocated", async () => {
    const answer = await answerOf("DEALLOCATE PREPARE p", prepared("SELECT 1"));
    expect(answer.headers).toEqual([["X-Trino-Deallocated-Prepare", "p"]]);
  });

  it("that no header could carry are refused", async () => {
    const long = `PREPARE p FROM SELECT '${"x".repeat(40_000)}'`;
    expect((await answerOf(long)).error?.code).toBe("query.unsupported");
  });

  it("are described by the engine, every place also without a type", async () => {
    const door = doorOf({
      "SELECT $1, a FROM t WHERE b = $2": {
        parameters: [{ kind: "null" }],
        columns: [
          columnOf("x", { kind: "null" }),
          columnOf("a", { kind: "decimal", precision: 20, scale: 1 }),
        ],
      },
    });
    const session = prepared("SELECT ?, a FROM t WHERE b = ?");
    expect((await answerOf("DESCRIBE INPUT p", session, door)).rows).toEqual([
      [0n, "unknown"],
      [1n, "unknown"],
    ]);
    const output = await answerOf("DESCRIBE OUTPUT p", session, door);
    expect(output.columns).toEqual([
      "Column Name",
      "Catalog",
      "Schema",
      "Table",
      "Type",
      "Type Size",
      "Aliased",
    ]);
    expect(output.rows).toEqual([
      ["x", "", "", "", "unknown", 1n, false],
      ["a", "", "", "", "decimal(20,1)", 16n, false],
    ]);
  });
});

describe("SHOW", () => {
  it("lists the session's properties, the zone under Trino's name", async () => {
    const session = sessionOf({ "x-trino-session": "b=2,a=1", "x-trino-time-zone": "UTC" });
    const answer = await answerOf("SHOW SESSION", session);
    expect(answer.columns).toEqual(["Name", "Value", "Default", "Type", "Description"]);
    expect(answer.rows?.map(([name, value]) => [name, value])).toEqual([
      ["a", "1"],
      ["b", "2"],
      ["time_zone_id", "UTC"],
    ]);
    expect((await answerOf("SHOW SESSION LIKE 'a%'", session)).rows).toHaveLength(1);
  });

  it("lists the catalogs the door knows", async () => {
    expect((await answerOf("SHOW CATALOGS")).rows).toEqual([["memory"], ["tpch"]]);
    expect((await answerOf("SHOW CATALOGS LIKE 't\\_%' ESCAPE '\\'")).rows).toEqual([]);
  });

  it("asks the engine for schemas and tables, with names as values", () => {
    const session = sessionOf({ "x-trino-catalog": "tpch", "x-trino-schema": "tiny" });
    expect(run("SHOW SCHEMAS LIKE 't%'", session)).toEqual([
      `SELECT schema_name AS "Schema" FROM information_schema.schemata WHERE catalog_name = $1 AND schema_name LIKE $2 ORDER BY 1`,
      ["tpch", "t%"],
    ]);
    expect(run("SHOW TABLES", session)).toEqual([
      `SELECT table_name AS "Table" FROM information_schema.tables WHERE table_catalog = $1 AND table_schema = $2 ORDER BY 1`,
      ["tpch", "tiny"],
    ]);
    expect(run("SHOW TABLES FROM memory.\"S'1\" LIKE 'a!_%' ESCAPE '!'", session)).toEqual([
      `SELECT table_name AS "Table" FROM information_schema.tables WHERE table_catalog = $1 AND table_schema = $2 AND table_name LIKE $3 ESCAPE $4 ORDER BY 1`,
      ["memory", "S'1", "a!_%", "!"],
    ]);
    expect(run("SHOW TABLES", sessionOf())[0]).toContain("table_schema = current_schema()");
  });

  it("shows columns with the types a query would show", async () => {
    const columns = [
      columnOf("id", { kind: "integer", bits: 64, signed: true }),
      columnOf("at", { kind: "timestamp", unit: "us", zoned: true }),
    ];
    const door = doorOf({
      'SELECT * FROM a."B c"': { parameters: [], columns },
      'SELECT * FROM "a"."B c"': { parameters: [], columns },
    });
    const wanted = [
      ["id", "bigint", "", ""],
      ["at", "timestamp(6) with time zone", "", ""],
    ];
    for (const sql of ['SHOW COLUMNS FROM a."B c"', 'DESCRIBE a."B c"', 'desc a."B c";']) {
      expect((await answerOf(sql, sessionOf(), door)).rows).toEqual(wanted);
    }
    const some = await answerOf("SHOW COLUMNS IN a.\"B c\" LIKE 'i%'", sessionOf(), door);
    expect(some.rows).toEqual(wanted.slice(0, 1));
  });

  it("shows the columns of a table that is called input", async () => {
    const columns = [columnOf("n", { kind: "text" })];
    const door = doorOf({ "SELECT * FROM input": { parameters: [], columns } });
    expect((await answerOf("DESCRIBE input", sessionOf(), door)).rows).toEqual([
      ["n", "varchar", "", ""],
    ]);
  });

  it("shows the statement that would make a table", async () => {
    const columns = [
      { ...columnOf("id", { kind: "integer", bits: 64, signed: true }), nullable: false },
      columnOf("Two words", { kind: "decimal", precision: 12, scale: 2 }),
    ];
    const door = doorOf({ 'SELECT * FROM "tiny"."t"': { parameters: [], columns } });
    const session = sessionOf({ "x-trino-catalog": "tpch", "x-trino-schema": "other" });
    expect((await answerOf("SHOW CREATE TABLE tiny.t", session, door)).rows).toEqual([
      ['CREATE TABLE tpch.tiny.t (\n   id bigint NOT NULL,\n   "Two words" decimal(12,2)\n)'],
    ]);
  });

  it("lists no functions, and warns that it does not", async () => {
    const answer = await answerOf("SHOW FUNCTIONS LIKE 'a%'");
    expect([answer.columns?.[0], answer.rows]).toEqual(["Function", []]);
  });

  it("passes the engine's refusal of an unknown table on", async () => {
    expect((await answerOf("SHOW COLUMNS FROM nowhere")).error?.code).toBe("query.unknownObject");
  });
});

function doorOf(descriptions: Readonly<Record<string, Description>> = {}) {
  return {
    catalogs: () => ["tpch", "memory"],
    describe: async ({ sql }: { readonly sql: string }) => {
      const description = descriptions[sql];
      return description === undefined ? err(gatewayError("query.unknownObject")) : ok(description);
    },
  };
}

/** What was answered, read from the events. */
async function answerOf(sql: string, session = sessionOf(), door = doorOf()) {
  const handling = handle(sql, session, door);
  if (handling.kind !== "answer") throw new Error(`not answered here: ${sql}`);
  const events: ResultEvent[] = [];
  for await (const event of handling.events(queryOf("q"), new AbortController().signal)) {
    events.push(event);
  }
  const last = events.at(-1);
  const columns = events.find((event) => event.kind === "columns")?.columns;
  const given = events.find((event) => event.kind === "batch")?.batch;
  const batch = given === undefined ? undefined : columnarOf(given);
  const rows = Array.from({ length: batch?.rows ?? 0 }, (_, row) =>
    batch?.columns.map((vector) => valueAt(vector, row)),
  );
  return {
    headers: handling.headers,
    updateType: last?.kind === "done" ? last.updateType : undefined,
    error: last?.kind === "failed" ? last.error : undefined,
    columns: columns?.map(({ name }) => name),
    rows: columns === undefined ? undefined : (rows as readonly (readonly unknown[])[]),
  };
}

/** Text and values of a statement that the engine runs. */
function run(sql: string, session = sessionOf()): readonly [string, readonly unknown[]] {
  const handling: Handling = handle(sql, session, doorOf());
  if (handling.kind !== "run") throw new Error(`not run: ${sql}`);
  return [handling.sql, handling.parameters.map(({ value }) => value)];
}
