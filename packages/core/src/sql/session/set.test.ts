/** The forms of SET, which `set.ts` reads; asked through `readSessionStatement`. */
import { describe, expect, it } from "vitest";
import { readSessionStatement } from "./session.ts";
import type { SettingChange, SettingScope, SettingValue, TransactionModes } from "./statement.ts";

describe("readSet", () => {
  it("knows no setting with a name of more than 64 Ki characters, and does not fold it", () => {
    const name = (length: number) => "N".repeat(length);
    expect(readSessionStatement(`set ${name(65_536)} = 1`, "mysql")?.kind).toBe("set");
    for (const sql of [`set ${name(65_537)} = 1`, `set @\`${name(65_537)}\` = 1`])
      expect(readSessionStatement(sql, "mysql")).toBeUndefined();
  });

  it.each<[string, SettingChange]>([
    ['set search_path = a, b, "C d"', variable("search_path", [word("a"), word("b"), word("C d")])],
    ["SET Search_Path TO 'a', b;", variable("search_path", [text("a"), word("b")])],
    ["set session x.y.z = 1", variable("x.y.z", [number("1")], "session")],
    ['set local "X".y to default', variable("x.y", [{ kind: "default" }], "local")],
    ["set extra_float_digits = -1.5e3", variable("extra_float_digits", [number("-1.5e3")])],
    ["set a = e'x\\'\\n\\u0041'", variable("a", [text("x'\nA")])],
    ["set a = $t$it's$t$", variable("a", [text("it's")])],
    ["set a = 'it''s'", variable("a", [text("it's")])],
    ["set gateway.tags = 'team:a,env:b' -- why", variable("gateway.tags", [text("team:a,env:b")])],
    ["set a = e'\\xe9'", variable("a", [raw("e'\\xe9'")])],
    ["set local = 1", variable("local", [number("1")])],
    ["set schema 'public'", variable("schema", [text("public")])],
    [
      "set time zone 'Europe/Berlin'",
      { kind: "timeZone", scope: "unsaid", value: text("Europe/Berlin") },
    ],
    ["set session time zone local", { kind: "timeZone", scope: "session", value: word("local") }],
    ["set time zone -7", { kind: "timeZone", scope: "unsaid", value: number("-7") }],
    [
      "set time zone interval '+02:00' hour to minute",
      { kind: "timeZone", scope: "unsaid", value: raw("interval '+02:00' hour to minute") },
    ],
    ["set names 'utf8'", { kind: "names", charset: text("utf8"), collation: undefined }],
    ["set role none", { kind: "role", role: word("none"), catalog: undefined }],
    ["set session authorization default", { kind: "authorization", user: { kind: "default" } }],
    [
      "set transaction isolation level repeatable read, read only, not deferrable",
      {
        kind: "transaction",
        scope: "next",
        modes: modesOf({ isolation: "repeatableRead", readOnly: true, deferrable: false }),
      },
    ],
    [
      "set session characteristics as transaction read write",
      {
        kind: "transaction",
        scope: "session",
        modes: modesOf({ readOnly: false }),
      },
    ],
  ])("reads PostgreSQL's %j", (sql, change) => {
    expect(readSessionStatement(sql, "postgres")).toEqual({ kind: "set", changes: [change] });
  });

  it.each<[string, readonly SettingChange[]]>([
    [
      "set autocommit=1, sql_mode=concat(@@sql_mode, ',STRICT_TRANS_TABLES')",
      [
        variable("autocommit", [number("1")]),
        variable("sql_mode", [raw("concat(@@sql_mode, ',STRICT_TRANS_TABLES')")]),
      ],
    ],
    [
      'SET @@SESSION.sql_mode = "ANSI\\"", @@global.`Max_Connections` := 5',
      [
        variable("sql_mode", [text('ANSI"')], "session"),
        variable("max_connections", [number("5")], "global"),
      ],
    ],
    [
      "set global a=1, b=2, session c=3, local d=4",
      [
        variable("a", [number("1")], "global"),
        variable("b", [number("2")], "global"),
        variable("c", [number("3")], "session"),
        variable("d", [number("4")], "session"),
      ],
    ],
    [
      "set @a = 1, @`b c` := (select 1, 2), @'d' = 'x'",
      [
        { kind: "userVariable", name: "a", value: number("1") },
        { kind: "userVariable", name: "b c", value: raw("(select 1, 2)") },
        { kind: "userVariable", name: "d", value: text("x") },
      ],
    ],
    [
      "set names utf8mb4 collate utf8mb4_bin, time_zone = '+00:00'",
      [
        { kind: "names", charset: word("utf8mb4"), collation: word("utf8mb4_bin") },
        variable("time_zone", [text("+00:00")]),
      ],
    ],
    [
      "/*!40101 SET character_set_results = NULL */",
      [variable("character_set_results", [word("NULL")])],
    ],
    [
      "set session transaction isolation level read committed, read only",
      [
        {
          kind: "transaction",
          scope: "session",
          modes: modesOf({ isolation: "readCommitted", readOnly: true }),
        },
      ],
    ],
    ["set character set utf8", [{ kind: "names", charset: word("utf8"), collation: undefined }]],
    ["set a = 'x' 'y'", [variable("a", [raw("'x' 'y'")])]],
    ["set @@`sql_mode` = ''", [variable("sql_mode", [text("")], "bare")]],
  ])("reads MySQL's %j", (sql, changes) => {
    expect(readSessionStatement(sql, "mysql")).toEqual({ kind: "set", changes });
  });
});

function variable(
  name: string,
  values: readonly SettingValue[],
  scope: SettingScope = "unsaid",
): SettingChange {
  return { kind: "variable", scope, name, values };
}

function text(value: string): SettingValue {
  return { kind: "text", text: value };
}

function number(value: string): SettingValue {
  return { kind: "number", text: value };
}

function word(value: string): SettingValue {
  return { kind: "word", text: value };
}

function raw(value: string): SettingValue {
  return { kind: "raw", text: value };
}

function modesOf(modes: Partial<TransactionModes>): TransactionModes {
  return {
    isolation: undefined,
    readOnly: undefined,
    deferrable: undefined,
    consistentSnapshot: false,
    ...modes,
  };
}
