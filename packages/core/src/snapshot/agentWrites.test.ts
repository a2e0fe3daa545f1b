import { describe, expect, it } from "vitest";
import { sessionOf } from "../rig/session.ts";
import { readStatement } from "../sql/statement.ts";
import type { Dialect } from "../sql/dialect.ts";
import { agentRefusal, onlyReads } from "./agentWrites.ts";

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

describe("agentRefusal", () => {
  const asked = (frontend: string, sql: string) => ({
    session: { ...sessionOf(), frontend },
    statement: readStatement(sql, "duckdb"),
  });

  it("refuses an agent what may write, unless the group lets it", () => {
    const query = asked("mcp", "DROP TABLE t");
    expect(agentRefusal(query, undefined)).toMatchObject({ code: "policy.denied" });
    expect(agentRefusal(query, false)).toMatchObject({ code: "policy.denied" });
    expect(agentRefusal(query, true)).toBeUndefined();
  });

  it("says that a text is in doubt where that is the reason", () => {
    const refusal = agentRefusal(asked("mcp", "SELECT 1; SELECT 2"), undefined);
    expect(refusal?.message).toContain("different ways");
  });

  it("lets an agent read, and leaves clients of every other protocol alone", () => {
    expect(agentRefusal(asked("mcp", "SELECT 1"), undefined)).toBeUndefined();
    expect(agentRefusal(asked("postgresWire", "DROP TABLE t"), undefined)).toBeUndefined();
  });
});
