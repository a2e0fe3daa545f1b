import { describe, expect, it } from "vitest";
import { answerOf, clientOf, errnoOf, rowsOf } from "../rig/local.ts";

describe("answerSelect", () => {
  it("answers what the MySQL client asks first", () => {
    expect(rowsOf("select @@version_comment limit 1")).toEqual([["Query Gateway"]]);
    expect(rowsOf("SELECT DATABASE()", clientOf({}, "sales"))).toEqual([["sales"]]);
    expect(rowsOf("select USER()")).toEqual([["ann@127.0.0.1"]]);
  });

  it("answers the list of variables that Connector/J asks for, by its names", () => {
    const sql =
      "/* mysql-connector-j-9.1.0 (Revision: x) */SELECT  @@session.auto_increment_increment AS " +
      "auto_increment_increment, @@character_set_client AS character_set_client, " +
      "@@character_set_connection AS character_set_connection, @@character_set_results AS " +
      "character_set_results, @@character_set_server AS character_set_server, @@collation_server AS " +
      "collation_server, @@collation_connection AS collation_connection, @@init_connect AS " +
      "init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, " +
      "@@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS " +
      "max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS " +
      "performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, " +
      "@@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout " +
      "AS wait_timeout";
    const answer = answerOf(sql);
    expect(answer).toMatchObject({ kind: "rows" });
    expect(answer?.kind === "rows" && answer.columns.map(({ name }) => name)).toEqual(
      [...sql.matchAll(/ AS (\w+)/g)].map(([, name]) => name),
    );
    expect(rowsOf(sql)[0]).toContain(67_108_864n);
    expect(rowsOf(sql)[0]).toContain("READ-COMMITTED");
  });

  it("reads a variable in any scope and case", () => {
    const sql = "SeLeCt @@SESSION.Autocommit, @@global.AUTOCOMMIT, @@local.autocommit";
    expect(rowsOf(sql)).toEqual([[1n, 1n, 1n]]);
  });

  it("names a column by its text or its alias", () => {
    const answer = answerOf("select @@Autocommit, version() `v`, connection_id() as 'id'");
    expect(answer?.kind === "rows" && answer.columns.map(({ name }) => name)).toEqual([
      "@@Autocommit",
      "v",
      "id",
    ]);
  });

  it("gives a user variable its value and NULL before it has one", () => {
    const client = clientOf({ settings: new Map([["@a", 5n]]) });
    expect(rowsOf("select @A, @b", client)).toEqual([[5n, null]]);
  });

  it("holds a limit of zero or behind the only row", () => {
    expect(rowsOf("select @@port limit 0")).toEqual([]);
    expect(rowsOf("select @@port limit 1, 1")).toEqual([]);
    expect(rowsOf("select @@port from dual limit 5 offset 0")).toEqual([[3306n]]);
  });

  it("refuses a variable that no server of ours has", () => {
    expect(errnoOf("select @@nosuch")).toBe(1193);
  });

  it("leaves everything else to the engine", () => {
    const others = [
      "select 1",
      "select $$",
      "select now()",
      "select 'user()'",
      "select database",
      "select @@port + 1",
      "select @@port from t",
      "select user() from dual where 1 = 0",
      "select user(), count(*) from t",
      "select (select @@port)",
      "select version(1)",
      "(select @@port)",
      "select @@port; select 1",
      "select @@port union select 1",
      "select * from user",
      "select 'open",
    ];
    for (const sql of others) expect([sql, answerOf(sql)]).toEqual([sql, undefined]);
  });
});
