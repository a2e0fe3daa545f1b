import { describe, expect, it } from "vitest";
import { judge } from "./guard.ts";
import { account } from "../identity.ts";

describe("judge", () => {
  it.each([
    ["select 1; drop table t", "query.unsupported"],
    ["set max_threads = 1", "query.unsupported"],
    ["set role admin", "query.unsupported"],
    ["execute as alice select 1", "query.permission"],
    ["EXECUTE\n--x\nAS alice", "query.permission"],
    ["kill query where query_id = 'x' sync", "query.permission"],
    [" ; -- nothing", "query.syntax"],
  ])("refuses %s with %s", (sql, code) => {
    expect(judge(sql, account)).toMatchObject({ ok: false, error: { code } });
  });

  it.each([
    ["select ';'", true],
    ["with x as (select 1) select * from x", true],
    ["show tables", true],
    ["insert into t values (1)", false],
    ["alter table t delete where 1", false],
  ])("lets %s through", (sql, reads) => {
    expect(judge(sql, account)).toMatchObject({ ok: true, value: { reads } });
  });
});
