import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rewriteSystem, type NameScope } from "./systemRewrite.ts";

describe("rewriteSystem", () => {
  const names: NameScope = { catalogs: ["memory", "other"], catalog: "memory" };
  const sqlOf = (sql: string, scope = names) => rewriteSystem(sql, [], scope)?.sql;

  it("puts a subquery in the place of a table of Trino's, under the table's name", () => {
    expect(sqlOf("SELECT TABLE_TYPE FROM system.jdbc.table_types ORDER BY 1")).toBe(
      `SELECT TABLE_TYPE FROM (SELECT 'TABLE' AS TABLE_TYPE UNION ALL SELECT 'VIEW' AS TABLE_TYPE) AS "table_types" ORDER BY 1`,
    );
  });

  it("keeps the name that the statement gives it", () => {
    for (const alias of ["t", "AS t", '"t"']) {
      const sql = sqlOf(`SELECT 1 FROM system.jdbc.table_types ${alias} WHERE t.table_type = 'x'`);
      expect(sql).toContain(`) ${alias} WHERE`);
    }
    expect(sqlOf("SELECT 1 FROM system.jdbc.table_types")).toMatch(/\) AS "table_types"$/);
  });

  it("hands catalogs over as values behind those that the statement has", () => {
    const given = [{ type: { kind: "text" }, value: "x" }] as const;
    const rewritten = rewriteSystem(
      "SELECT * FROM system.jdbc.schemas WHERE TABLE_SCHEM = $1",
      given,
      names,
    );
    expect(rewritten?.sql).toContain("catalog_name IN ($2, $3)");
    expect(rewritten?.parameters.map(({ value }) => value)).toEqual(["x", "memory", "other"]);
  });

  it("lists a catalog's own part of information_schema, in Trino's shape", () => {
    const ofOne = rewriteSystem('SELECT * FROM "OTHER".information_schema."TABLES"', [], names);
    expect(ofOne?.sql).toContain("WHERE table_catalog IN ($1)");
    expect(ofOne?.parameters.map(({ value }) => value)).toEqual(["other"]);
    const ofSession = rewriteSystem("SELECT * FROM information_schema.schemata", [], names);
    expect(ofSession?.parameters.map(({ value }) => value)).toEqual(["memory"]);
    const unknown = { ...names, catalog: "nowhere" };
    const ofAll = rewriteSystem("SELECT * FROM information_schema.schemata", [], unknown);
    expect(ofAll?.parameters.map(({ value }) => value)).toEqual(["memory", "other"]);
  });

  it("takes the catalog off a table of information_schema that has no shape of its own", () => {
    expect(sqlOf("SELECT * FROM memory.information_schema.key_column_usage")).toBe(
      "SELECT * FROM information_schema.key_column_usage",
    );
  });

  it("finds tables behind joins and commas, and as many as there are", () => {
    const sql = sqlOf(
      "SELECT * FROM system.jdbc.catalogs a, system.runtime.nodes b JOIN system.jdbc.types c ON true",
    );
    expect(sql?.match(/\) [abc]\b/g)).toEqual([") a", ") b", ") c"]);
  });

  it("leaves everything else as it is", () => {
    for (const sql of [
      "SELECT 1",
      "SELECT 'FROM system.jdbc.tables'",
      "SELECT 1 -- FROM system.jdbc.tables",
      "SELECT 1 /* FROM information_schema.tables */",
      'SELECT * FROM "system.jdbc.tables"',
      "SELECT * FROM system.jdbc.nothing",
      "SELECT * FROM system.constructor.toString",
      "SELECT * FROM information_schema.key_column_usage",
      "SELECT system.jdbc.tables",
      "SELECT * FROM system",
      "SELECT * FROM a.system.jdbc.tables",
      'SELECT * FROM memory.information_schema."a b"',
      "SELECT * FROM system.",
      `SELECT * FROM system.jdbc.tables ${" ".repeat(70_000)}`,
    ]) {
      expect(sqlOf(sql)).toBeUndefined();
    }
  });

  it("reads any text to its end without throwing, and keeps what it does not replace", () => {
    const word = fc.constantFrom(
      ..."FROM JOIN , system . jdbc tables information_schema columns memory \" ' -- /* x $1 (".split(
        " ",
      ),
    );
    const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(text, (sql) => {
        const rewritten = rewriteSystem(sql, [], names);
        if (rewritten === undefined) return;
        const places = rewritten.sql.match(/\$\d+/g) ?? [];
        expect(rewritten.parameters.length).toBeLessThanOrEqual(places.length);
        expect(rewritten.sql).toContain("(SELECT ");
      }),
    );
  });
});
