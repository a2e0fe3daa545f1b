import { describe, expect, it } from "vitest";
import { plainly } from "./plain.ts";

describe("plainly", () => {
  it.each([
    "SELECT 1",
    "select id, versions from orders where id = 7",
    "INSERT INTO t VALUES (1)",
    "BEGIN",
    "EXPLAIN SELECT 1",
  ])("takes %s, which passes whatever the session is", (sql) => {
    const bound = plainly(sql);
    expect(bound).toMatchObject({ source: sql, sql, parameters: [], otherwise: undefined });
    expect(bound).toMatchObject({ relayed: { execution: undefined, settings: undefined } });
  });

  it("answers the same statement for the same text", () =>
    expect(plainly("SELECT 2")).toBe(plainly("SELECT 2")));

  it.each([
    ["asks the session", "SELECT DATABASE()"],
    ["asks the session of its user", "select 1, current_user"],
    ["names a variable", "SELECT a FROM t WHERE b = @x"],
    ["names a variable of the server", "INSERT INTO t SELECT @@sql_mode"],
    ["asks for the count of another statement", "UPDATE t SET a = row_count()"],
    ["is code to some servers", "SELECT 1 /*!40000 , 2 */"],
    ["sets something", "SET NAMES utf8mb4"],
    ["is no statement that is known", "FLUSH TABLES"],
    ["is answered here", "SHOW DATABASES"],
    ["chooses a database", "USE shop"],
    ["ends another's", "KILL 7"],
    ["ends a transaction", "COMMIT"],
    ["ends a transaction, with words behind it", "ROLLBACK RELEASE"],
    ["describes a table", "DESC t"],
    ["reads a file", "LOAD DATA LOCAL INFILE 'f' INTO TABLE t"],
    ["is long", `SELECT '${"x".repeat(3_000)}'`],
  ])("leaves what %s to who looks at the session: %s", (_, sql) =>
    expect(plainly(sql)).toBe("none"),
  );
});
