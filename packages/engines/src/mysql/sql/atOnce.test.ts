import { describe, expect, it } from "vitest";
import { atOnce } from "./atOnce.ts";

const without = { globalVariables: false };

describe("atOnce", () => {
  it("sends a statement that leaves nothing", () =>
    expect(atOnce("SELECT a FROM t", without)).toEqual({ may: true, leaves: false }));

  it("tells of a change that something may be left of it", () =>
    expect(atOnce("UPDATE t SET a = 1", without)).toEqual({ may: true, leaves: true }));

  it.each([
    ["chooses a database", "USE shop"],
    ["sets a variable of the session", "SET SESSION lock_wait_timeout = 5"],
    ["leaves a variable", "SET @a = 1"],
    ["is kept on its connection", "CREATE TEMPORARY TABLE t (a INT)"],
    ["asks for more behind its answer", "SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1"],
    ["asks for the last id", "SELECT LAST_INSERT_ID()"],
    ["reads a file", "LOAD DATA LOCAL INFILE 'f' INTO TABLE t"],
    ["may not run here", "KILL 7"],
    ["is two statements", "SELECT 1; SELECT 2"],
  ])("leaves what %s to the course: %s", (_, sql) =>
    expect(atOnce(sql, without)).toMatchObject({ may: false }),
  );

  it("sets the server's variables only where the cluster lets it", () => {
    const sql = "SET GLOBAL max_connections = 100";
    expect(atOnce(sql, without)).toMatchObject({ may: false });
    expect(atOnce(sql, { globalVariables: true })).toEqual({ may: true, leaves: true });
  });
});
