import { describe, expect, it } from "vitest";
import { catalogSql } from "./informationSchema.ts";
import { clientOf, contextOf } from "../rig/local.ts";

const engines = /FROM \(SELECT 'Gateway' AS "ENGINE".*\) AS "ENGINES"/;

describe("catalogSql", () => {
  it("leaves alone what names none of MySQL's tables", () => {
    for (const sql of [
      "SELECT 1",
      "SELECT 'information_schema.tables'",
      "SELECT * FROM information_schema.nosuch",
      "SELECT information_schema FROM tables",
    ]) {
      expect([sql, written(sql)]).toEqual([sql, undefined]);
    }
  });

  it("puts a table in the place of its name, whatever its case and quotes", () => {
    for (const name of ["information_schema.engines", 'INFORMATION_SCHEMA."Engines"']) {
      expect(written(`SELECT * FROM ${name}`)).toMatch(engines);
      expect(written(`SELECT * FROM ${name} WHERE 1 = 1`)).toMatch(/AS "ENGINES" WHERE 1 = 1$/);
    }
  });

  it("keeps an alias, with its word or without", () => {
    expect(written("SELECT e.x FROM information_schema.engines e")).toMatch(/\) e$/);
    expect(written("SELECT e.x FROM information_schema.engines AS e")).toMatch(/\) AS e$/);
  });

  it("refers to the table by its own name where a column follows", () => {
    expect(
      written("SELECT information_schema.engines.engine FROM information_schema.engines"),
    ).toMatch(/^SELECT "ENGINES"\."ENGINE" FROM/);
  });

  it("names columns as a MySQL server does, and keeps the client's own names", () => {
    const sql = written(
      "SELECT engine, support AS engine FROM information_schema.engines ORDER BY 1",
    );
    expect(sql).toMatch(/^SELECT "ENGINE", "SUPPORT" AS engine FROM .* ORDER BY 1$/);
  });

  it("puts the session in the place of functions that ask for it", () => {
    const sql = "SELECT 1 FROM information_schema.engines WHERE x = DATABASE() OR y = Schema ( )";
    expect(written(sql, "it's")).toMatch(/WHERE x = 'it''s' OR y = 'it''s'$/);
    expect(written(sql)).toMatch(/WHERE x = CAST\(NULL AS VARCHAR\)/);
  });

  it("writes functions of MySQL as the engines know them", () => {
    const sql =
      "SELECT if(LOCATE('a', UPPER(locate('(', engine))) = 0, 1, 2) FROM information_schema.engines";
    expect(written(sql)).toMatch(
      /^SELECT if\(POSITION\('a' IN UPPER\(CAST\(POSITION\('\(' IN "ENGINE"\) AS VARCHAR\)\)\) = 0, 1, 2\) FROM/,
    );
  });

  it("writes MySQL's casts to integers as the engines know them", () => {
    const sql =
      "SELECT CAST(1 + engine as signed integer), CONVERT (CASE a WHEN 1 THEN f(2, 3) END, UNSIGNED INTEGER) d, CAST(engine AS unsigned), convert(engine, signed) FROM information_schema.engines";
    expect(written(sql)?.replaceAll(/ +/g, " ")).toMatch(
      /^SELECT CAST\(1 \+ "ENGINE" as BIGINT \), CAST \(CASE a WHEN 1 THEN f\(2, 3\) END AS BIGINT \) d, CAST\("ENGINE" AS BIGINT\), CAST\("ENGINE" AS BIGINT\) FROM/,
    );
  });

  it("puts AS before the name of a number, and nowhere else", () => {
    const sql =
      "SELECT 3 TYPE, 2 scope FROM information_schema.engines WHERE x > now() - INTERVAL 1 DAY, y";
    expect(written(sql)).toMatch(/^SELECT 3 AS "TYPE", 2 AS "SCOPE" FROM .*INTERVAL 1 DAY, y$/);
  });

  it("keeps the catalog of the session to itself, quoted", () => {
    expect(written("SELECT * FROM information_schema.schemata")).toContain("catalog_name = 'lake'");
  });

  it("has a second form where keys are asked for, and only there", () => {
    const context = contextOf();
    const keyed = catalogSql("SELECT * FROM information_schema.statistics", context);
    expect(keyed?.sql).toContain("key_column_usage");
    expect(keyed?.otherwise).not.toContain("key_column_usage");
    expect(
      catalogSql("SELECT * FROM information_schema.tables", context)?.otherwise,
    ).toBeUndefined();
  });
});

function written(sql: string, schema?: string): string | undefined {
  return catalogSql(sql, contextOf(clientOf({}, schema)))?.sql;
}
