import { describe, expect, it } from "vitest";
import type { Value } from "@gateway/core/type/type.ts";
import { answerOf, clientOf, contextOf, errnoOf, rowsOf, tableOf } from "../rig/local.ts";
import { answerLocally } from "./local.ts";

describe("answerShow", () => {
  it("filters variables by LIKE and WHERE", () => {
    expect(rowsOf("SHOW VARIABLES LIKE 'lower_case_%'")).toEqual([
      ["lower_case_file_system", "OFF"],
      ["lower_case_table_names", "0"],
    ]);
    expect(rowsOf("show session variables where Variable_name = 'autocommit'")).toEqual([
      ["autocommit", "ON"],
    ]);
    const sql =
      "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('port', 'socket') OR Variable_name LIKE 'tx\\_iso%'";
    expect(rowsOf(sql)).toEqual([
      ["port", "3306"],
      ["socket", ""],
      ["tx_isolation", "READ-COMMITTED"],
    ]);
  });

  it("refuses a list that a transaction's connection would cut short", () => {
    const { session } = clientOf({}, "demo");
    const settings = new Map([["sql_select_limit", "1"]]);
    const pin = { cluster: "c", group: "g", state: "open", end: async () => undefined } as const;
    const asked = (more: object) => {
      const client = clientOf({ autocommit: false, session: { ...session, settings, ...more } });
      return answerLocally("show variables", { ...contextOf(client), ownWords: () => true });
    };
    expect(asked({})).toMatchObject({ kind: "asked" });
    expect(asked({ pin })).toMatchObject({ kind: "error", reply: { errno: 1235 } });
  });

  it("leaves the counters of all sessions to a server that has some", () => {
    const context = { ...contextOf(), ownWords: () => true };
    expect(answerLocally("SHOW GLOBAL STATUS LIKE 'Prepared%'", context)).toBeUndefined();
    expect(answerLocally("SHOW STATUS LIKE 'Ssl_cipher'", context)?.kind).toBe("rows");
    expect(answerOf("SHOW GLOBAL STATUS")?.kind).toBe("rows");
  });

  it("knows the family that tools walk through", () => {
    const statements = [
      "SHOW STATUS LIKE 'Ssl_cipher'",
      "SHOW ENGINES",
      "SHOW COLLATION",
      "SHOW COLLATION WHERE `Charset` = 'utf8mb4'",
      "SHOW CHARACTER SET",
      "SHOW CHARSET LIKE 'utf8%'",
      "SHOW PLUGINS",
      "SHOW WARNINGS LIMIT 10",
      "SHOW ERRORS",
      "SHOW COUNT(*) WARNINGS",
      "SHOW TRIGGERS LIKE 'x'",
      "SHOW PROCEDURE STATUS WHERE Db = 'x'",
      "SHOW STORAGE ENGINES",
      "SHOW GRANTS",
      "SHOW GRANTS FOR CURRENT_USER()",
      "SHOW EVENTS",
    ];
    for (const sql of statements) expect([sql, answerOf(sql)?.kind]).toEqual([sql, "rows"]);
    // Other processes have rows of it too.
    expect(answerOf("SHOW FULL PROCESSLIST")?.kind).toBe("processes");
  });

  it("lists the warnings of the last statement, and counts them", () => {
    const client = clientOf({
      warnings: [
        { level: "Note", errno: 1105, text: "a" },
        { level: "Error", errno: 1064, text: "b" },
      ],
    });
    expect(rowsOf("SHOW WARNINGS", client)).toEqual([
      ["Note", 1105n, "a"],
      ["Error", 1064n, "b"],
    ]);
    expect(rowsOf("SHOW WARNINGS LIMIT 1, 1", client)).toEqual([["Error", 1064n, "b"]]);
    expect(rowsOf("SHOW ERRORS", client)).toHaveLength(1);
    expect(rowsOf("SHOW COUNT(*) ERRORS", client)).toEqual([[1n]]);
  });

  it("leaves a SHOW it does not know to the engine", () => {
    for (const sql of ["SHOW CREATE USER u", "SHOW GRANTS FOR other", "SHOW", "SHOW FUNCTION t"]) {
      expect([sql, answerOf(sql)]).toEqual([sql, undefined]);
    }
  });

  it("refuses a filter it can not read instead of ignoring it", () => {
    expect(errnoOf("SHOW VARIABLES WHERE Value + 1 = 2")).toBe(1064);
    expect(errnoOf("SHOW VARIABLES LIKE 5")).toBe(1064);
    expect(errnoOf("SHOW VARIABLES WHERE nosuch = '1'")).toBe(1064);
  });
});

describe("listings of the engine's tables", () => {
  it("ask information_schema with every name as a parameter", () => {
    const answer = answerOf("SHOW FULL TABLES FROM `a'b` LIKE 'x%'");
    expect(answer).toMatchObject({
      kind: "rewritten",
      sql:
        'SELECT table_name AS "Tables_in_a\'b", ' +
        "CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'BASE TABLE' END AS \"Table_type\" " +
        "FROM information_schema.tables WHERE table_catalog = $1 AND table_schema = $2 " +
        "AND table_name LIKE $3 ESCAPE '\\' ORDER BY table_name",
      parameters: ["lake", "a'b", "x%"].map((value) => ({ type: { kind: "text" }, value })),
    });
  });

  it("quote a name that stands in a column's title", () => {
    const answer = answerOf('SHOW TABLES FROM `a"; drop`');
    expect(answer).toMatchObject({
      sql: expect.stringContaining('AS "Tables_in_a""; drop" FROM') as unknown,
    });
  });

  it("keep the word inside a version comment", () => {
    expect(answerOf("SHOW /*!50002 FULL*/ TABLES", clientOf({}, "s"))).toMatchObject({
      sql: expect.stringContaining("Table_type") as unknown,
    });
  });

  it("use the default database, and every schema of the user without one", () => {
    expect(answerOf("SHOW TABLES", clientOf({}, "s"))).toMatchObject({
      parameters: [{ value: "lake" }, { value: "s" }],
    });
    expect(answerOf("SHOW TABLES")).toMatchObject({
      sql: expect.stringContaining("NOT IN ('information_schema', 'pg_catalog')") as unknown,
    });
  });

  it("filter by the kind of table", () => {
    const sql = "SHOW FULL TABLES FROM s WHERE Table_type = 'VIEW'";
    expect(answerOf(sql)).toMatchObject({ parameters: [{}, {}, { value: "VIEW" }] });
    expect(errnoOf("SHOW TABLES WHERE 1 = 1")).toBe(1064);
  });

  it("list databases and the state of tables", () => {
    expect(answerOf("SHOW DATABASES")).toMatchObject({ kind: "rewritten" });
    expect(answerOf("SHOW SCHEMAS LIKE 'a%'")).toMatchObject({
      parameters: [{ value: "lake" }, { value: "a%" }],
    });
    expect(answerOf("SHOW TABLE STATUS FROM s LIKE 't'")).toMatchObject({ kind: "rewritten" });
  });
});

describe("listings for an engine without information_schema", () => {
  it("are the door's tables of the session's catalog, under the same conditions", () => {
    expect(listedFor("SHOW TABLES FROM s")).toEqual([["a_t"], ["t"], ["v"]]);
    expect(listedFor("SHOW TABLES FROM s LIKE '%\\_t'")).toEqual([["a_t"]]);
    expect(listedFor("SHOW TABLES", "other")).toEqual([["u"]]);
    expect(listedFor("SHOW TABLES")).toEqual([["a_t"], ["t"], ["u"], ["v"]]);
    expect(listedFor("SHOW TABLES FROM nowhere")).toEqual([]);
  });

  it("tell views from tables, and are filtered by it", () => {
    const sql = "SHOW FULL TABLES FROM s";
    const view = ["v", "VIEW"];
    expect(listedFor(sql)).toEqual([["a_t", "BASE TABLE"], ["t", "BASE TABLE"], view]);
    expect(listedFor(`${sql} WHERE Table_type = 'VIEW'`)).toEqual([view]);
    expect(listedFor(`${sql} WHERE Tables_in_s LIKE 't%'`)).toEqual([["t", "BASE TABLE"]]);
  });

  it("name databases once, and as much of a table's state as the engine's own", () => {
    expect(listedFor("SHOW DATABASES")).toEqual([["other"], ["s"]]);
    expect(listedFor("SHOW SCHEMAS LIKE 'o%'")).toEqual([["other"]]);
    const sql = "SHOW TABLE STATUS FROM s WHERE";
    expect(errnoOf(sql)).toBe(1064);
    const [table, , view] = listedFor("SHOW TABLE STATUS FROM s");
    expect(table).toHaveLength(18);
    expect([table?.[0], table?.[1], table?.at(-1)]).toEqual(["a_t", "Gateway", ""]);
    expect([view?.[0], view?.[1], view?.at(-1)]).toEqual(["v", null, "VIEW"]);
  });
});

function listedFor(sql: string, schema?: string): readonly (readonly Value[])[] {
  const answer = answerOf(sql, clientOf({}, schema));
  if (answer?.kind !== "rewritten") throw new Error(`${sql}: ${answer?.kind ?? "not answered"}`);
  const listed = answer.listed([
    tableOf("v", { kind: "view" }),
    tableOf("t"),
    tableOf("a_t"),
    tableOf("u", { schema: "other" }),
    tableOf("t", { catalog: "far" }),
  ]);
  if (listed.kind !== "rows") throw new Error(`${sql}: ${listed.kind}`);
  expect(listed.columns).toEqual(answer.columns);
  return listed.rows;
}
