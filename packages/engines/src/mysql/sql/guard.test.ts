import { describe, expect, it } from "vitest";
import { judge } from "./guard.ts";

const strict = { globalVariables: false };
const open = { globalVariables: true };

describe("judge", () => {
  it.each([
    ["create temporary table t (a int)", "a temporary table"],
    ["CREATE OR REPLACE TEMPORARY TABLE t (a int)", "a temporary table"],
    ["lock tables t read", "locks on tables"],
    ["flush tables with read lock", "locks on tables"],
    ["select get_lock('a', 1)", "the lock of GET_LOCK"],
    ["handler t open", "an open handler"],
    ["xa start 'a'", "a transaction under XA"],
    ["select @a", "a user variable"],
    ["select a into @b from t", "a user variable"],
    ["select @`a b` := 1", "a user variable"],
    ["set @a = 1, @b = 2", "a user variable"],
    ["call p(1)", "what a procedure may leave"],
  ])("says what only a connection can keep: %s", (sql, keeps) => {
    expect(judge(sql, strict)).toMatchObject({ ok: true, value: { keeps, leaves: true } });
  });

  it.each([
    "select 'a@b', `c@d` from t -- @e",
    "select @@sql_mode, @@session.sql_mode",
    "create user 'a'@'host' identified by 'x'",
    "create definer=`root`@`localhost` view v as select 1",
    "grant select on t to a@localhost",
    "insert into t values ('@a')",
    "create table temporary_t (a int)",
    "select name from locks",
  ])("keeps nothing for %s", (sql) => {
    expect(judge(sql, strict)).toMatchObject({ ok: true, value: { keeps: undefined } });
  });

  it.each([
    ["select last_insert_id(5)", true],
    ["select sql_calc_found_rows * from t", true],
    ["do sleep(0)", true],
    ["select 1", false],
    ["select count(*), max(a) from t where b in (1, 2) and (c or d)", false],
    ["select count (*) from t join u using (id)", false],
    // A trigger may set a user variable, and so may a function that somebody stored.
    ["update t set a = 1", true],
    ["select leaves_something(1)", true],
    ["select `leaves_something` (1)", true],
    ["select demo.count(1)", true],
    ["select 1 from t order by later(a)", true],
  ])("says whether %s leaves anything", (sql, leaves) => {
    expect(judge(sql, strict)).toMatchObject({ ok: true, value: { leaves } });
  });

  it.each([
    ["kill query 5", "query.permission"],
    ["set global max_connections = 1", "query.permission"],
    ["set @a = 1, sql_mode = ''", "query.permission"],
    ["set statement max_statement_time = 1 for kill 5", "query.permission"],
    ["set session transaction read only, global x = 1", "query.permission"],
    ["set role admin", "query.permission"],
    ["prepare s from 'select 1'", "query.unsupported"],
    ["deallocate prepare s", "query.unsupported"],
    ["execute immediate 'kill 5'", "query.unsupported"],
    ["select 1; kill 5", "query.unsupported"],
    ["/* nothing */", "query.syntax"],
  ])("refuses %s", (sql, code) => {
    expect(judge(sql, strict)).toMatchObject({ ok: false, error: { code } });
  });

  it("sees that a file of the client is asked for", () => {
    const asked = judge("load data local infile 'a.csv' into table t", strict);
    expect(asked).toMatchObject({ ok: true, value: { asksFile: true } });
    const server = judge("load data infile '/local/a.csv' into table t", strict);
    expect(server).toMatchObject({ ok: true, value: { asksFile: false } });
  });

  it.each([
    ["set global max_connections = 1", undefined],
    ["set @@global.max_connections = 1, persist wait_timeout = default", undefined],
    ["set global transaction isolation level read committed", undefined],
    ["set global max_connections = @a", "a user variable"],
  ])("lets the server's variables be set where the cluster allows it: %s", (sql, keeps) => {
    expect(judge(sql, open)).toMatchObject({ ok: true, value: { keeps, leaves: true } });
    expect(judge(sql, strict)).toMatchObject({ ok: false, error: { vendor: { code: 1227 } } });
  });

  it.each([
    "set global max_connections = 1, session sql_mode = ''",
    "set global max_connections = 1, @a = 2",
    "set sql_mode = ''",
  ])("never takes the server's variables with others: %s", (sql) => {
    expect(judge(sql, open)).toMatchObject({ ok: false, error: { code: "query.permission" } });
  });
});
