import { describe, expect, it } from "vitest";
import { formatReading } from "./formatClause.ts";
import { insertForm } from "./insertForm.ts";
import { numberedParameters } from "./namedParameters.ts";

describe("formatReading", () => {
  it.each([
    ["SELECT 1 FORMAT JSON", "SELECT 1", "JSON"],
    ["SELECT 1\nformat TSV ;", "SELECT 1 ;", "TSV"],
    ["SELECT 1 FORMAT CSV SETTINGS a = 'FORMAT x'", "SELECT 1 SETTINGS a = 'FORMAT x'", "CSV"],
    ["SELECT 1 SETTINGS a = 1 FORMAT CSV", "SELECT 1 SETTINGS a = 1", "CSV"],
    ["SELECT 1 -- FORMAT JSON", "SELECT 1 -- FORMAT JSON", undefined],
    ["SELECT 'FORMAT JSON'", "SELECT 'FORMAT JSON'", undefined],
    ["SELECT 1 AS format", "SELECT 1 AS format", undefined],
    ["SELECT format FROM t", "SELECT format FROM t", undefined],
    ["SELECT (SELECT 1 FORMAT JSON)", "SELECT (SELECT 1 FORMAT JSON)", undefined],
    ["INSERT INTO t FORMAT JSONEachRow", "INSERT INTO t FORMAT JSONEachRow", undefined],
    ["DESCRIBE TABLE t FORMAT Vertical", "DESCRIBE TABLE t", "Vertical"],
    ["", "", undefined],
  ])("%s", (text, sql, format) => {
    expect(formatReading(text)).toEqual({ sql, format });
  });
});

describe("insertForm", () => {
  it.each([
    ["INSERT INTO t VALUES (1)", "values"],
    ["INSERT INTO t (a, b) SELECT 1, 2", "select"],
    ["INSERT INTO t (SELECT 1)", "select"],
    ["INSERT INTO values FORMAT CSV", "data"],
    ["INSERT INTO db.format (a) VALUES", "values"],
    ["INSERT INTO t", "data"],
  ])("%s", (sql, kind) => {
    expect(insertForm(sql).kind).toBe(kind);
  });
});

describe("numberedParameters", () => {
  it("leaves maps, strings and comments as they are", () => {
    const sql = "SELECT {'a': 1}, '{n:Int32}', {n:Int32} /* {m:Int32} */";
    expect(numberedParameters(sql, [["n", "5"]])).toMatchObject({
      ok: true,
      value: { sql: "SELECT {'a': 1}, '{n:Int32}', $1 /* {m:Int32} */" },
    });
  });

  it.each([
    ["Int8", "128", "query.data"],
    ["DateTime64(4)", "2024-01-01", "query.unsupported"],
    ["Identifier", "t", "query.unsupported"],
    ["Decimal(39, 1)", "1", "query.unsupported"],
  ])("refuses {n:%s} of %s with %s", (type, value, code) => {
    expect(numberedParameters(`SELECT {n:${type}}`, [["n", value]])).toMatchObject({
      ok: false,
      error: { code },
    });
  });

  it.each([
    ["Nullable(String)", "\\N", null],
    ["String", "", ""],
    ["DateTime", "2024-02-29 12:34:56", 1_709_210_096n],
    ["LowCardinality(Nullable(Decimal(9, 2)))", "-1.5", -150n],
  ])("reads {n:%s} of %s", (type, text, value) => {
    expect(numberedParameters(`SELECT {n:${type}}`, [["n", text]])).toMatchObject({
      ok: true,
      value: { parameters: [{ value }] },
    });
  });
});
