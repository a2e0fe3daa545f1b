import { describe, expect, it } from "vitest";
import { judge } from "./guard.ts";
import { withLiterals } from "./parameters.ts";
import { quoteIdentifier, quoteText } from "./quote.ts";
import { bringing, variablesSet } from "../client/session.ts";

describe("judge", () => {
  it.each([
    ["select 1; drop table t", "query.unsupported"],
    ["kill 5", "query.permission"],
    ["set password = 'x'", "query.permission"],
    ["execute as alice select 1", "query.permission"],
    ["-- nothing", "query.syntax"],
  ])("refuses %s with %s", (sql, code) => {
    expect(judge(sql)).toMatchObject({ ok: false, error: { code } });
  });

  it.each([
    ["select a from t", false],
    ["select @a := 1", true],
    ["select release_lock('x')", false],
    ["select 'get_lock(' as temporary", true],
    ["unlock tables", true],
    ["create table t (a int)", false],
  ])("knows whether %s leaves something on its connection", (sql, leaves) => {
    expect(judge(sql)).toMatchObject({ ok: true, value: { leaves } });
  });

  it.each([
    "create temporary table t (a int)",
    "CREATE OR REPLACE /* x */ TEMPORARY TABLE t (a int)",
    "/*!40101 create temporary table t (a int) */",
    "lock tables t read",
    "handler t open",
    "lock instance for backup",
    "flush tables with read lock",
    "select get_lock('x', 1)",
    "select a from t where get_lock ('x', 1)",
    "handler t open",
    "XA /* x */ start 'a'",
  ])("refuses what would be gone with the next statement: %s", (sql) => {
    expect(judge(sql)).toMatchObject({ ok: false, error: { code: "query.unsupported" } });
  });

  it.each([
    "create table temporary (a int)",
    "select * from t lock in share mode",
    "create procedure p() begin declare exit handler for sqlexception rollback; end",
    "select xa, handler from t",
  ])("takes what only looks like it: %s", (sql) => {
    expect(judge(sql).ok).toBe(true);
  });
});

describe("withLiterals", () => {
  it("keeps a negative number from becoming a comment, and a text from ending", () => {
    const parameters = [
      { type: { kind: "integer", bits: 32, signed: true }, value: -1n },
      { type: { kind: "text" }, value: "it's \\' -- " },
    ] as const;
    expect(withLiterals("select a -$1, $2", parameters)).toEqual({
      ok: true,
      value: String.raw`select a -(-1), 'it''s \\'' -- '`,
    });
  });

  it("refuses values without a literal and another number of them", () => {
    const float = { type: { kind: "float", bits: 64 }, value: Number.NaN } as const;
    const refused = (code: string): object => ({ ok: false, error: { code } });
    expect(withLiterals("select $1", [float])).toMatchObject(refused("query.unsupported"));
    expect(withLiterals("select $1", [])).toMatchObject(refused("query.parameters"));
  });
});

describe("quoting", () => {
  it("leaves no way out of a name or a text", () => {
    expect(quoteIdentifier("a`b")).toBe("`a``b`");
    expect(() => quoteIdentifier("a\0")).toThrow(RangeError);
    expect(quoteText("\\'")).toBe(String.raw`'\\'''`);
  });
});

describe("variablesSet", () => {
  it("reads plain variables of a session", () => {
    expect(variablesSet("set query_timeout = 10, session a_b = 'x'")).toEqual(
      new Map([
        ["query_timeout", "10"],
        ["a_b", "x"],
      ]),
    );
    expect(variablesSet("set sql_mode = ''")).toEqual(new Map([["sql_mode", ""]]));
  });

  it.each([
    "set global a = 1",
    "set @a = 1",
    "set sql_mode = 'ANSI_QUOTES'",
    "set sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "set sql_mode = 4",
    "set sql_mode = '1048576'",
    "set insert_id = 5",
    "set transaction_isolation = 'none'",
    "set names latin1",
    "set a = b + 1",
    "select 1",
  ])("leaves %s alone", (sql) => {
    expect(variablesSet(sql)).toBeUndefined();
  });
});

describe("bringing", () => {
  it("calls the session's zone by the server's name of it", () => {
    const fresh = { database: "demo", variables: new Map<string, string>() };
    const inZone = (zone: string) =>
      bringing(
        fresh,
        { schema: undefined, frontend: "mysqlWire", settings: new Map([["timezone", zone]]) },
        "demo",
      )?.map(({ sql }) => sql);
    expect(inZone("+02:00")).toEqual(["SET SESSION `time_zone` = '+02:00'"]);
    // Servers know it by this name without any tables of zones.
    expect(inZone("UTC")).toEqual(["SET SESSION `time_zone` = '+00:00'"]);
  });

  const member = { database: "demo", variables: new Map([["a", "1"]]) };

  it("says what is different, and nothing else", () => {
    const settings = new Map([
      ["a", "1"],
      ["b", "x"],
    ]);
    const session = { schema: "other", frontend: "mysqlWire", settings };
    const statements = bringing(member, session, undefined)?.map(({ sql }) => sql);
    expect(statements).toEqual(["USE `other`", "SET SESSION `b` = 'x'"]);
  });

  it("sets the mode first, and the others as it reads their strings", () => {
    const settings = new Map([
      ["a", "x\\'y"],
      ["sql_mode", "NO_BACKSLASH_ESCAPES"],
    ]);
    const session = { schema: undefined, frontend: "mysqlWire", settings };
    const statements = bringing(member, session, "demo")?.map(({ sql }) => sql);
    expect(statements).toEqual([
      "SET SESSION `sql_mode` = 'NO_BACKSLASH_ESCAPES'",
      "SET SESSION `a` = 'x\\''y'",
    ]);
  });

  it("gives a connection up whose variables another session has set", () => {
    const session = { schema: undefined, frontend: "postgresWire", settings: new Map() };
    expect(bringing(member, session, "demo")).toBeUndefined();
  });
});
