import { describe, expect, it } from "vitest";
import { readStatement } from "../sql/statement.ts";
import type { Dialect } from "../sql/dialect.ts";
import { isOfSession, kindsOf, onlyReads } from "./kinds.ts";

describe("onlyReads", () => {
  it.each([
    "SELECT 1",
    "  -- why\nSELECT * FROM t",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "VALUES (1)",
    "SHOW TABLES",
    "EXPLAIN SELECT 1",
    "EXPLAIN DELETE FROM t",
    "DESCRIBE t",
  ])("knows that %s reads", (sql) => {
    expect(onlyReads(readStatement(sql, "duckdb"))).toBe(true);
  });

  it.each<readonly [string, Dialect]>([
    ["INSERT INTO t VALUES (1)", "duckdb"],
    ["UPDATE t SET a = 1", "postgres"],
    ["CREATE TABLE t (a int)", "trino"],
    ["WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", "postgres"],
    ["SELECT * INTO u FROM t", "postgres"],
    ["EXPLAIN ANALYZE DELETE FROM t", "postgres"],
    ["COPY t TO '/tmp/x'", "duckdb"],
    ["CALL p()", "trino"],
    ["ATTACH 'x.db'", "duckdb"],
    ["SET a = 1", "duckdb"],
    ["KILL 1", "mysql"],
    ["FROBNICATE t", "duckdb"],
    ["SELECT 1; DROP TABLE t", "duckdb"],
    ["SELECT 1 /*!50000 INTO OUTFILE 'x' */", "mysql"],
    ["SELECT 'open", "postgres"],
    ["SELECT 'a\\' , 'b'", "generic"],
    ["", "duckdb"],
  ])("does not take %s in %s for one that reads", (sql, dialect) => {
    expect(onlyReads(readStatement(sql, dialect))).toBe(false);
  });
});

describe("kindsOf", () => {
  it.each<readonly [string, readonly string[] | undefined]>([
    ["SELECT 1", ["select"]],
    ["EXPLAIN DELETE FROM t", ["explain"]],
    ["TRUNCATE t", ["ddl"]],
    ["COPY t TO '/tmp/x'", ["copy"]],
    ["USE x", ["set"]],
    [
      "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a",
      ["select", "insert", "update", "delete", "merge"],
    ],
    ["SELECT * INTO u FROM t", ["select", "insert", "update", "delete", "merge", "ddl"]],
    ["FROBNICATE t", undefined],
    ["SELECT 1; DROP TABLE t", undefined],
  ])("says of %s that it needs %j", (sql, kinds) => {
    expect(kindsOf(readStatement(sql, "postgres"))).toEqual(kinds);
  });
});

describe("isOfSession", () => {
  it("knows a transaction's statements, and takes nothing in doubt for one", () => {
    for (const sql of ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", ""]) {
      expect(isOfSession(readStatement(sql, "postgres"))).toBe(true);
    }
    for (const sql of ["SELECT 1", "BEGIN; DROP TABLE t"]) {
      expect(isOfSession(readStatement(sql, "postgres"))).toBe(false);
    }
  });
});
