import { describe, expect, it } from "vitest";
import { settingsOf } from "../client/settings.ts";
import { copiesToClient } from "./copyTarget.ts";
import { judge } from "./guard.ts";
import { changedModes, openingOf } from "./modes.ts";
import { quoteIdentifier, quoteText } from "./quote.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";

const alone = { pinned: false, keeps: false, copies: false, shared: true, signals: false };

describe("judge", () => {
  it.each([
    ["select 1; drop table t", "query.unsupported"],
    ["begin", "query.transaction"],
    ["set work_mem = '1MB'", "query.unsupported"],
    ["copy t from stdin", "query.unsupported"],
    ["/* x */ listen c", "query.unsupported"],
    ["with a as (select pg_advisory_lock(1)) select * from a", "query.unsupported"],
    ['select "pg_try_advisory_lock"(1)', "query.unsupported"],
    ["create /* x */ temp table t (a int)", "query.unsupported"],
    ["create table pg_temp.t (a int)", "query.unsupported"],
    ["select 1 into temporary t", "query.unsupported"],
    ["select set_config('a.b', 'c', f())", "query.unsupported"],
    ["declare c cursor with /* x */ hold for select 1", "query.unsupported"],
    ["select pg_terminate_backend(7)", "query.permission"],
    ["-- nothing", "query.syntax"],
  ])("refuses %s with %s", (sql, code) => {
    expect(judge(sql, alone)).toMatchObject({ ok: false, error: { code } });
  });

  it.each([
    ["select a, count(*) from t where b in (1, 2) group by a", false],
    ["insert into t values (1)", false],
    ["notify c", false],
    ["notify c, 'text'", false],
    ["select own_function(1)", true],
    ["select schema.own (1)", true],
    ["do $$ begin end $$", true],
    ["create table t (a int)", true],
    ["select set_config('a.b', 'c', true)", true],
  ])("knows whether %s may leave something on its connection", (sql, leaves) => {
    expect(judge(sql, alone)).toMatchObject({ ok: true, value: { leaves } });
  });

  it.each([
    ["create temp table t (a int)", "temporary table"],
    ["select 1 into temp t", "temporary table"],
    ["declare c cursor with hold for select 1", "cursor WITH HOLD"],
    ["prepare p as select 1", "prepared statement"],
    ["select set_config('a.b', 'c', false)", "setting"],
    ["set own.setting = 1", "setting"],
    ["select pg_advisory_lock(1)", "advisory lock"],
    ["listen c", "LISTEN"],
    ["select 1", undefined],
  ])("takes %s where connections stay, and says what it leaves: %s", (sql, lasting) => {
    const keeps = { ...alone, pinned: true, keeps: true };
    expect(judge(sql, keeps)).toMatchObject({ ok: true, value: { lasting } });
  });

  it.each([
    ["insert into t (a, b) values (1, lower('x'))", false],
    ["insert into s.t as x (a) values (1)", false],
    ["select * from json_each('{}') as x (a, b)", false],
    ["insert into t (a) values (own(1))", true],
    ["select query_to_xml('select 1', true, true, '')", true],
    ["call p()", true],
  ])("asks the server behind code that the text does not show: %s", (sql, unsure) => {
    expect(judge(sql, alone)).toMatchObject({ ok: true, value: { unsure } });
  });

  it("knows who moves sequences and who reads what they gave last", () => {
    const found = (sql: string) => judge(sql, alone);
    expect(found("select lastval()")).toMatchObject({ value: { readsSequences: true } });
    expect(found("insert into t values (1)")).toMatchObject({ value: { movesSequences: true } });
    expect(found("select nextval('s')")).toMatchObject({
      value: { movesSequences: true, readsSequences: false, unsure: false },
    });
    expect(found("select setseed(1)")).toMatchObject({ value: { stains: true } });
  });

  it("knows who can tell what its connection has prepared", () => {
    const found = (sql: string) => judge(sql, { ...alone, pinned: true, keeps: true });
    for (const sql of [
      "select * from pg_catalog.Pg_Prepared_Statements",
      'table U&"pg_prepared_statement\\0073"',
      "table U&\"pg_prepared_statement!0073\" UESCAPE '!'",
      "select * from pg_prepared_statement()",
      "explain execute s",
    ])
      expect(found(sql)).toMatchObject({ value: { lists: true, leaves: true } });
    expect(found("select 'pg_prepared_statements'")).toMatchObject({ value: { lists: false } });
    expect(found("deallocate s")).toMatchObject({ value: { lists: true } });
    expect(found("deallocate all")).toMatchObject({ value: { lists: false } });
  });

  it("takes in a transaction what ends with it", () => {
    const pinned = { ...alone, pinned: true };
    expect(judge("create temp table t (a int) on commit drop", pinned).ok).toBe(true);
    // It would be gone after COMMIT without a word.
    expect(judge("create temp table t (a int)", pinned).ok).toBe(false);
    expect(judge("select pg_advisory_lock(1)", pinned).ok).toBe(false);
  });

  it("lets a caller under its own account end what that account runs", () => {
    expect(judge("select pg_cancel_backend(7)", { ...alone, shared: false }).ok).toBe(true);
  });

  it("takes a COPY only from a client that takes part in it", () => {
    const copies = { ...alone, copies: true };
    expect(judge("copy t from stdin", copies).ok).toBe(true);
    expect(judge("copy t from '/etc/passwd'", copies).ok).toBe(false);
  });
});

describe("copiesToClient", () => {
  it.each([
    ["copy t from stdin", true],
    ["COPY s.t (a, b) FROM STDIN WITH (FORMAT csv)", true],
    ["copy (select a from t where b = 'to') to stdout", true],
    ['copy "from" to stdout', true],
    ["copy t from program 'id'", false],
    ["copy t to '/tmp/stdout'", false],
    ["copy t from /* stdin */ '/etc/passwd'", false],
    ["copy t -- from stdin\n from '/etc/passwd'", false],
    ["copy t", true],
    ["copy t (a) from -- '/etc/passwd'", true],
    ["copy t from '/etc/passwd", false],
    ["copy t (from '/etc/passwd'", true],
  ])("%s: %s", (sql, wanted) => {
    expect(copiesToClient(sql)).toBe(wanted);
  });
});

describe("settingsOf", () => {
  const settings = new Map([
    ["work_mem", "1MB"],
    ["app.user", "x"],
    ["timezone", "+02:00"],
    ["statement_timeout", "5s"],
    ["idle_session_timeout", "2min"],
    ["idle_in_transaction_session_timeout", "1min"],
    ["gateway.tags", "a:b"],
    ["transaction_isolation", "serializable"],
  ]);

  it("brings what the server has to know, and keeps what is the gateway's", () => {
    const session = { schema: 'a"b', settings, dialect: "postgres" } as const;
    expect(Object.fromEntries(settingsOf(session, { named: true, own: false }))).toEqual({
      idle_in_transaction_session_timeout: "1min",
      work_mem: "1MB",
      "app.user": "x",
      // PostgreSQL counts a bare offset the other way round.
      timezone: "<+02:00>-02:00",
      search_path: '"a""b"',
    });
  });

  it("brings to a connection of the session's own the limits of a session and of a statement", () => {
    const session = { schema: undefined, settings, dialect: "postgres" } as const;
    const shared = settingsOf(session, { named: true, own: false });
    const own = settingsOf(session, { named: true, own: true });
    expect([...own].filter(([name]) => !shared.has(name))).toEqual([
      ["statement_timeout", "5s"],
      ["idle_session_timeout", "2min"],
    ]);
  });

  it("brings no name of a client where the name says what runs", () => {
    const named = new Map([["application_name", "theirs"]]);
    const session = { schema: undefined, settings: named, dialect: "postgres" } as const;
    expect(settingsOf(session, { named: false, own: false }).size).toBe(0);
    expect([...settingsOf(session, { named: true, own: false })]).toEqual([...named]);
  });

  it("takes from other wires the zone and the schema alone", () => {
    const session = { schema: undefined, settings, dialect: "mysql" } as const;
    const wanted = settingsOf(session, { named: true, own: true });
    expect(Object.fromEntries(wanted)).toEqual({ timezone: "<+02:00>-02:00" });
  });
});

describe("the beginning of a transaction", () => {
  it.each([
    ["begin", "BEGIN"],
    [
      "begin isolation level serializable, read only, deferrable",
      "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE",
    ],
    ["start transaction read write", "BEGIN READ WRITE"],
  ])("%s is %s", (text, sql) => {
    const statement = readStatement(text, "postgres");
    expect(openingOf({ session: sessionOf({ dialect: "postgres" }), statement }).sql).toBe(sql);
  });

  it("is told once what SET TRANSACTION asks for behind it", () => {
    const settings = new Map([
      ["transaction_isolation", "repeatable read"],
      ["transaction_read_only", "off"],
      ["transaction_deferrable", "on"],
    ]);
    const session = sessionOf({ dialect: "postgres", settings });
    const begun = { isolation: undefined, readOnly: true, deferrable: undefined };
    const changed = changedModes(session, begun);
    expect(changed?.sql).toBe(
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE, DEFERRABLE",
    );
    expect(changed && changedModes(session, changed.told)).toBeUndefined();
    expect(changedModes(sessionOf({ dialect: "mysql", settings }), begun)).toBeUndefined();
  });
});

describe("quoting", () => {
  it("leaves no way out of a name or a text", () => {
    expect(quoteIdentifier('a"b')).toBe('"a""b"');
    expect(quoteText("\\'")).toBe("'\\'''");
    expect(() => quoteText("\0")).toThrow(RangeError);
  });
});
