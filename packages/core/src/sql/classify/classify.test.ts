import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyStatement } from "./classify.ts";
import type { Dialect } from "../dialect.ts";
import type { StatementKind } from "./statementKind.ts";

describe("classifyStatement", () => {
  it.each<[string, StatementKind, string]>([
    ["select 1", "select", "SELECT"],
    ["values (1)", "select", "VALUES"],
    ["table t", "select", "TABLE"],
    ["((select 1) union (select 2))", "select", "SELECT"],
    ["-- hi\n/* there /* nested */ */ Select 1", "select", "SELECT"],
    ["with x as (select 1) select * from x", "select", "SELECT"],
    ["with recursive x(a) as (select 1) insert into t select * from x", "insert", "INSERT"],
    ["with insert as (select 1) select * from insert", "select", "SELECT"],
    ["with x as not materialized (select 1), y as (select 2) delete from t", "delete", "DELETE"],
    [
      "with x as (select 1) merge into t using x on true when matched then delete",
      "merge",
      "MERGE",
    ],
    ["with x as (select 1", "unknown", ""],
    ["with x as (select 1) (select * from x) limit 1", "select", "SELECT"],
    ["with x as (select 1) ((with y as (select 2) table y))", "select", "TABLE"],
    [
      "with recursive x as (select 1 n) search depth first by insert, n set o select * from x",
      "select",
      "SELECT",
    ],
    [
      "with recursive x as (select 1 n) cycle n set c to 1 default 0 using p delete from t",
      "delete",
      "DELETE",
    ],
    ["show search_path", "show", "SHOW"],
    ["set a = 1", "set", "SET"],
    ["set session authorization bob", "set", "SET SESSION AUTHORIZATION"],
    ["set time zone 'UTC'", "set", "SET TIME ZONE"],
    ["reset all", "reset", "RESET"],
    ["begin", "begin", "BEGIN"],
    ["start transaction read only", "begin", "START TRANSACTION"],
    ["start slave", "unknown", "START"],
    ["commit and chain", "commit", "COMMIT"],
    ["end", "commit", "COMMIT"],
    ["abort", "rollback", "ROLLBACK"],
    ["rollback work", "rollback", "ROLLBACK"],
    ["rollback to savepoint a", "savepoint", "ROLLBACK TO SAVEPOINT"],
    ["rollback work to a", "savepoint", "ROLLBACK TO SAVEPOINT"],
    ["release a", "savepoint", "RELEASE"],
    ["prepare transaction 'x'", "commit", "PREPARE TRANSACTION"],
    ["commit prepared 'x'", "unknown", "COMMIT PREPARED"],
    ["prepare p as select 1", "prepare", "PREPARE"],
    ["prepare transaction as select 1", "prepare", "PREPARE"],
    ["execute p(1)", "execute", "EXECUTE"],
    ["execute immediate 'drop table t'", "execute", "EXECUTE IMMEDIATE"],
    ["deallocate all", "deallocate", "DEALLOCATE"],
    ["explain analyze delete from t", "explain", "EXPLAIN"],
    ["describe t", "describe", "DESCRIBE"],
    ["insert into t values (1)", "insert", "INSERT"],
    ["update t set a = 1", "update", "UPDATE"],
    ["create or replace temporary view v as select 1", "ddl", "CREATE VIEW"],
    ["create materialized view v as select 1", "ddl", "CREATE MATERIALIZED VIEW"],
    ['create table "select" (a int)', "ddl", "CREATE TABLE"],
    ["create unique index concurrently i on t (a)", "ddl", "CREATE INDEX"],
    ["drop table if exists t", "ddl", "DROP TABLE"],
    ["alter event trigger t disable", "ddl", "ALTER EVENT TRIGGER"],
    ["truncate t", "ddl", "TRUNCATE TABLE"],
    ["grant select on t to u", "ddl", "GRANT"],
    ["vacuum t", "ddl", "VACUUM"],
    ["do $$ begin end $$", "call", "DO"],
    ["call f()", "call", "CALL"],
    ["copy t to 'x.csv'", "copy", "COPY TO"],
    ["copy (select a from t) to stdout", "copy", "COPY TO"],
    ["copy t (a, b) from stdin", "copy", "COPY FROM"],
    ["import foreign schema s from server x into y", "ddl", "IMPORT"],
    ["discard all", "discard", "DISCARD ALL"],
    ["declare c cursor for select 1", "declare", "DECLARE CURSOR"],
    ["fetch 10 from c", "fetch", "FETCH"],
    ["move 10 in c", "fetch", "MOVE"],
    ["close c", "close", "CLOSE CURSOR"],
    ["listen x", "unknown", "LISTEN"],
    ['"select" 1', "unknown", ""],
    [") select 1", "unknown", ""],
    ["12", "unknown", ""],
    ["", "empty", ""],
    [" ; /* a */ ; -- b", "empty", ""],
  ])("calls %j %s", (sql, kind, tag) => {
    expect(classifyStatement(sql, "postgres")).toMatchObject({ kind, tag });
  });

  it.each<[Dialect, string, StatementKind, string]>([
    ["duckdb", "from t select a", "select", "FROM"],
    ["duckdb", "summarize t", "select", "SUMMARIZE"],
    ["duckdb", "attach 'x.db' as x", "ddl", "ATTACH"],
    ["duckdb", "install httpfs", "ddl", "INSTALL"],
    ["duckdb", "load httpfs", "ddl", "LOAD"],
    ["duckdb", "export database 'x'", "copy", "EXPORT DATABASE"],
    ["duckdb", "copy from database a to b", "copy", "COPY FROM DATABASE"],
    ["duckdb", "pragma version", "unknown", "PRAGMA"],
    ["duckdb", "\u00a0drop\u00a0table t", "ddl", "DROP TABLE"],
    ["duckdb", "create or replace macro f(a) as a", "ddl", "CREATE MACRO"],
    ["mysql", "replace into t values (1)", "insert", "REPLACE"],
    ["mysql", "drop prepare p", "deallocate", "DROP PREPARE"],
    ["mysql", "load data infile 'x' into table t", "copy", "LOAD DATA"],
    ["mysql", "explain t", "describe", "EXPLAIN"],
    ["mysql", "explain format=json select 1", "explain", "EXPLAIN"],
    [
      "mysql",
      "create definer = `a`@`%` sql security invoker view v as select 1",
      "ddl",
      "CREATE VIEW",
    ],
    ["mysql", "set statement max_statement_time=1 for delete from t", "unknown", "SET"],
    ["mysql", "reset master", "unknown", "RESET"],
    ["mysql", "kill query 5", "kill", "KILL"],
    ["trino", "use a.b", "use", "USE"],
    ["trino", "use catalog.schema", "use", "USE"],
    ["trino", "with function f() returns bigint return 1 select f()", "select", "SELECT"],
    ["trino", "with session a.b = 1 select 1", "select", "SELECT"],
    ["trino", "explain (type validate) select 1", "explain", "EXPLAIN"],
    ["trino", "refresh materialized view v", "ddl", "REFRESH MATERIALIZED VIEW"],
    ["clickhouse", "with 1 as x select x", "select", "SELECT"],
    ["clickhouse", "with (select 1) as x select x", "select", "SELECT"],
    ["clickhouse", "execute as bob select 1", "execute", "EXECUTE AS"],
    ["clickhouse", "from t select 1", "select", "FROM"],
    ["generic", "use role admin", "use", "USE ROLE"],
    ["generic", 'use role "admin"', "use", "USE ROLE"],
    ["generic", "put file:///etc/passwd @stage", "copy", "PUT"],
  ])("in %s, calls %j %s", (dialect, sql, kind, tag) => {
    expect(classifyStatement(sql, dialect)).toMatchObject({ kind, tag });
  });

  it.each([
    "with x as (delete from t returning *) select * from x",
    "with x as materialized (insert into t values (1) returning a) select * from x",
    "with a as (select 1), b as (with c as (update t set a = 1 returning *) select * from c) select 1",
    "select * into u from t",
    "(select 1) union all select a into t from u",
    "explain analyze delete from t",
    "explain (analyze, format json) with x as (select 1) insert into t select * from x",
    "explain analyze select * into u from t",
    "insert into t select 1",
    "create table t as select 1",
    "call f()",
    "execute p",
    "vacuum",
    "nonsense",
  ])("sees that %j may write", (sql) => {
    expect(classifyStatement(sql, "postgres").writes).toBe(true);
  });

  it.each([
    "select a.into from a",
    "select 'into', \"into\" -- into\n from t",
    "select (insert(a, 1, 2, 'b')) from t",
    "explain delete from t",
    "select 1",
    "prepare p as delete from t",
    "begin",
  ])("sees nothing in %j that writes", (sql) => {
    expect(classifyStatement(sql, "postgres").writes).toBe(false);
  });

  it("sees the code in a version comment, and doubts it, because servers differ", () => {
    expect(classifyStatement("/*!40101 set names utf8 */", "mysql")).toMatchObject({
      kind: "set",
      firstWord: "SET",
      doubt: "versionComment",
    });
    expect(classifyStatement("/*!99999 drop table t */ select 1", "mysql")).toMatchObject({
      kind: "select",
      doubt: "versionComment",
    });
    expect(classifyStatement("select 1 /*M! into outfile '/x' */", "mysql").doubt).toBe(
      "versionComment",
    );
    expect(classifyStatement("/*! drop table t */ select 1", "postgres")).toMatchObject({
      kind: "select",
      doubt: undefined,
    });
  });

  it("doubts a text with more than one statement, and one it can not read to its end", () => {
    expect(classifyStatement("select 1; drop table t", "postgres")).toMatchObject({
      kind: "select",
      doubt: "severalStatements",
    });
    expect(classifyStatement("select 1; -- end\n;", "postgres").doubt).toBeUndefined();
    expect(classifyStatement("select 'a", "postgres").doubt).toBe("unterminated");
    expect(classifyStatement("select /* a", "postgres").doubt).toBe("unterminated");
    expect(classifyStatement("select 1 \0", "postgres").doubt).toBe("unknownCharacter");
    expect(classifyStatement("select 'a\\'b'", "generic").doubt).toBe("dialectDependent");
  });

  it("doubts a body whose semicolons it took for its own", () => {
    const routine = "create function f() returns int begin atomic select 1; select 2; end";
    expect(classifyStatement(routine, "postgres")).toMatchObject({
      kind: "ddl",
      tag: "CREATE FUNCTION",
      doubt: "compoundBody",
    });
    expect(classifyStatement(routine, "duckdb").doubt).toBe("severalStatements");
    expect(classifyStatement("create table begin (a int); drop table t", "mysql").doubt).toBe(
      "severalStatements",
    );
  });

  it("is not led astray by letters that only look like keywords", () => {
    expect(classifyStatement("\u0131nsert into t values (1)", "postgres").kind).toBe("unknown");
    expect(classifyStatement("select\u00a01", "postgres").kind).toBe("unknown");
    expect(classifyStatement("ｄｒｏｐ table t", "postgres").kind).toBe("unknown");
  });

  it("walks a million brackets without a stack", () => {
    const deep = `${"(".repeat(1_000_000)}select 1${")".repeat(1_000_000)}`;
    expect(classifyStatement(deep, "postgres").kind).toBe("select");
  });

  it("gives the same kind with comments and brackets before the statement", () => {
    const verbs = fc.constantFrom(
      "select 1",
      "insert into t values (1)",
      "set a = 1",
      "create table t (a int)",
    );
    const before = fc.array(fc.constantFrom(" ", "\n", "--;'\n", "/* ' ; */", "/*/**/*/", ";"), {
      maxLength: 6,
    });
    const same = fc.property(verbs, before, (verb, noise) => {
      const plain = classifyStatement(verb, "postgres");
      expect(classifyStatement(noise.join("") + verb, "postgres")).toEqual(plain);
    });
    fc.assert(same);
  });
});
