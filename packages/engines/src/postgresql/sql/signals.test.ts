import { describe, expect, it } from "vitest";
import { Edited } from "./edited.ts";
import { judge } from "./guard.ts";
import { signalsIn } from "./signals.ts";

const plain = "select pg_terminate_backend(pid) from pg_stat_activity";
const shared = { pinned: false, keeps: false, copies: false, shared: true, signals: true };

describe("signalsIn", () => {
  it.each([
    [plain, 0, "select ((pid)::pg_catalog.int4) AS pg_terminate_backend from pg_stat_activity"],
    [
      "select pid, (select pg_cancel_backend(pid)) as k from pg_stat_activity",
      1,
      "select pid, (select ((pid)::pg_catalog.int4)) as k from pg_stat_activity",
    ],
    [
      'select pg_catalog."pg_cancel_backend"( a.pid ) k, a.* from pg_stat_activity a',
      0,
      "select ((a.pid)::pg_catalog.int4) k, a.* from pg_stat_activity a",
    ],
    [
      "with p as (select 1 as pid) select p.*, pg_cancel_backend(least(pid, 7)) from p;",
      -1,
      "with p as (select 1 as pid) select p.*, ((least(pid, 7))::pg_catalog.int4) AS pg_cancel_backend from p;",
    ],
    [
      `select pg_cancel_backend(pid) from pg_stat_activity s where s.query = $1 and (not query like 'x' or pid in (select query from q))`,
      0,
      String.raw`select ((pid)::pg_catalog.int4) AS pg_cancel_backend from pg_stat_activity s where pg_catalog.regexp_replace(s.query, '^/\* gateway/[^ ]* \*/ ', '') = $1 and (not pg_catalog.regexp_replace(query, '^/\* gateway/[^ ]* \*/ ', '') like 'x' or pid in (select query from q))`,
    ],
  ])("asks for the numbers of %s", (sql, column, text) => {
    expect(signalsIn(sql)).toMatchObject({ column, sent: { text } });
  });

  it.each([
    "select 1",
    `${plain} union select true`,
    "select distinct pg_terminate_backend(pid) from pg_stat_activity",
    "select pg_terminate_backend(pid) into t from pg_stat_activity",
    "select count(pg_terminate_backend(pid)) from pg_stat_activity",
    "select not pg_terminate_backend(pid) from pg_stat_activity",
    "select pg_terminate_backend(pid)::text from pg_stat_activity",
    "select pg_terminate_backend(pid, 1000) from pg_stat_activity",
    "select pg_terminate_backend() from pg_stat_activity",
    "select pg_terminate_backend from pg_stat_activity",
    "select pg_terminate_backend(pid), pg_cancel_backend(pid) from pg_stat_activity",
    "select *, pg_terminate_backend(pid), a.* from pg_stat_activity a",
    "select 1 from pg_stat_activity where pg_terminate_backend(pid)",
    "select k from (select pg_terminate_backend(pid) k from pg_stat_activity) t",
    "select own.pg_terminate_backend(pid) from pg_stat_activity",
    `${plain} order by 1`,
    `${plain} order by pid, pg_terminate_backend`,
    "select pg_terminate_backend(pid) k, count(*) from t group by k",
    "(select pg_terminate_backend(pid) from pg_stat_activity)",
    "select (pg_terminate_backend(pid)) from pg_stat_activity",
    `select ${"1, ".repeat(1_000)} pg_terminate_backend(pid) from t`,
  ])("knows nothing of what %.60s would signal", (sql) => {
    expect(signalsIn(sql)).toBeUndefined();
  });

  it("tells places of the client's text", () => {
    const sent = signalsIn("select pg_cancel_backend(pid), nothing from t")?.sent;
    const places = ["pid", "nothing", "from"].map((word) => sent?.before(sent.text.indexOf(word)));
    expect(places).toEqual([25, 31, 39]);
    expect(new Edited("abc", []).before(2)).toBe(2);
  });
});

describe("judge", () => {
  it("lets such a query run where the gateway says whom it ends, and refuses it elsewhere", () => {
    expect(judge(plain, shared)).toMatchObject({ ok: true, value: { signals: { column: 0 } } });
    const refused = { ok: false, error: { code: "query.permission" } };
    expect(judge(plain, { ...shared, signals: false })).toMatchObject(refused);
    expect(judge(`explain analyze ${plain}`, shared)).toMatchObject(refused);
    expect(judge(plain, { ...shared, shared: false })).toMatchObject({
      ok: true,
      value: { signals: undefined },
    });
  });

  it.each([
    String.raw`select U&"pg_terminate\005fbackend"(7)`,
    `select u&"pg_terminate!005fbackend" UESCAPE '!' (7)`,
  ])("does not take a function whose name is written in escapes: %s", (sql) => {
    expect(judge(sql, shared)).toMatchObject({ ok: false, error: { code: "query.permission" } });
  });

  it("takes other names and texts in escapes", () => {
    const sql = String.raw`select U&"a\0062", U&'\0061' UESCAPE '!', (1) from U&"t\0062" where b in (1)`;
    expect(judge(sql, shared)).toMatchObject({ ok: true });
  });
});
