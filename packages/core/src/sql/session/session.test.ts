import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { changesLexis, readSessionStatement } from "./session.ts";
import type {
  SessionStatement,
  SettingChange,
  SettingScope,
  SettingValue,
  TransactionModes,
} from "./statement.ts";

describe("readSessionStatement", () => {
  it.each<[Dialect, string, SessionStatement]>([
    [
      "trino",
      "set session hive.x = array['a', 'b']",
      set(variable("hive.x", [raw("array['a', 'b']")], "session")),
    ],
    ["trino", "reset session hive.x", { kind: "reset", name: "hive.x" }],
    [
      "trino",
      "set role admin in hive",
      set({ kind: "role", role: word("admin"), catalog: "hive" }),
    ],
    [
      "trino",
      'use hive."My Schema"',
      use([
        ["hive", false],
        ["My Schema", true],
      ]),
    ],
    [
      "trino",
      "prepare p from select ? + 1 ;",
      { kind: "prepare", name: "p", types: [], sql: "select ? + 1" },
    ],
    [
      "trino",
      "execute P using 1, 'a', x + 1",
      { kind: "execute", name: "p", values: [number("1"), text("a"), raw("x + 1")] },
    ],
    [
      "trino",
      "execute immediate 'select ''a''' using 1",
      { kind: "executeImmediate", sql: "select 'a'", values: [number("1")] },
    ],
    ["trino", "deallocate prepare p", { kind: "deallocate", name: "p" }],
    [
      "clickhouse",
      "set a = 1, b = 'x\\ty'",
      set(variable("a", [number("1")]), variable("b", [text("x\ty")])),
    ],
    ["duckdb", "set variable x = 5", set({ kind: "userVariable", name: "x", value: number("5") })],
    ["duckdb", "set threads to 4", set(variable("threads", [number("4")]))],
    ["duckdb", "reset global threads", { kind: "reset", name: "threads" }],
    ["mysql", "use `my db`", use([["my db", true]])],
    [
      "mysql",
      "prepare p from 'select \\'a\\''",
      { kind: "prepare", name: "p", types: [], sql: "select 'a'" },
    ],
    ["mysql", "execute p using @a", { kind: "execute", name: "p", values: [raw("@a")] }],
    ["mysql", "drop prepare p", { kind: "deallocate", name: "p" }],
    ["mysql", "kill query 17", { kind: "kill", target: "query", id: "17" }],
    ["mysql", "kill 17", { kind: "kill", target: "connection", id: "17" }],
    [
      "mysql",
      "start transaction with consistent snapshot, read only",
      {
        kind: "begin",
        modes: modesOf({ readOnly: true, consistentSnapshot: true }),
      },
    ],
    ["mysql", "commit and no chain no release", { kind: "commit", chain: false, release: false }],
    ["mysql", "rollback release", { kind: "rollback", chain: false, release: true }],
    [
      "generic",
      "use role admin",
      { kind: "use", object: "role", path: [{ text: "admin", quoted: false }] },
    ],
    ["postgres", "reset all", { kind: "resetAll" }],
    ["postgres", "reset time zone", { kind: "reset", name: "timezone" }],
    ["postgres", "reset session authorization", { kind: "reset", name: "session_authorization" }],
    [
      "postgres",
      "show transaction isolation level",
      { kind: "show", name: "transaction_isolation" },
    ],
    ["postgres", "SHOW Server_Version", { kind: "show", name: "server_version" }],
    ["postgres", "show all", { kind: "show", name: "all" }],
    ["postgres", "begin", { kind: "begin", modes: modesOf({}) }],
    [
      "postgres",
      "begin work isolation level serializable read only deferrable",
      {
        kind: "begin",
        modes: modesOf({ isolation: "serializable", readOnly: true, deferrable: true }),
      },
    ],
    ["postgres", "end transaction and chain", { kind: "commit", chain: true, release: false }],
    ["postgres", "abort", { kind: "rollback", chain: false, release: false }],
    ["postgres", 'savepoint "A"', { kind: "savepoint", name: "A" }],
    ["postgres", "release savepoint A", { kind: "releaseSavepoint", name: "a" }],
    ["postgres", "rollback work to savepoint a", { kind: "rollbackToSavepoint", name: "a" }],
    ["postgres", "discard temporary", { kind: "discard", what: "temp" }],
    [
      "postgres",
      "prepare P (int, numeric(10, 2)) as select $1, $2",
      {
        kind: "prepare",
        name: "p",
        types: ["int", "numeric(10, 2)"],
        sql: "select $1, $2",
      },
    ],
    [
      "postgres",
      "execute p(1, 'a')",
      { kind: "execute", name: "p", values: [number("1"), text("a")] },
    ],
    ["postgres", "execute p()", { kind: "execute", name: "p", values: [] }],
    ["postgres", "deallocate prepare all", { kind: "deallocateAll" }],
    ["postgres", "deallocate prepare", { kind: "deallocate", name: "prepare" }],
  ])("reads %s's %j", (dialect, sql, statement) => {
    expect(readSessionStatement(sql, dialect)).toEqual(statement);
  });

  it.each<[Dialect, string]>([
    ["postgres", "select 1"],
    ["postgres", "set a = 1; set b = 2"],
    ["postgres", "set a"],
    ["postgres", "set a ="],
    ["postgres", "set a = 'open"],
    ["postgres", "set a from current"],
    ["postgres", "set constraints all deferred"],
    ["postgres", "set xml option document"],
    ["postgres", "set transaction snapshot 'x'"],
    ["postgres", "set transaction"],
    ["postgres", "begin isolation level chaos"],
    ["postgres", "begin read only,"],
    ["postgres", "commit prepared 'x'"],
    ["postgres", "rollback and no"],
    ["postgres", "show tables from x"],
    ["postgres", "discard"],
    ["postgres", "drop table t"],
    ["postgres", "prepare transaction 'x'"],
    ["postgres", "savepoint"],
    ["mysql", "set password = 'x'"],
    ["mysql", "set statement a=1 for select 1"],
    ["mysql", "show variables like 'x'"],
    ["mysql", "prepare p from @sql"],
    ["mysql", "set a = 1,"],
    ["generic", "set a = 'x\\'y'"],
    ["clickhouse", "execute as bob select 1"],
    ["postgres", ""],
  ])("leaves %s's %j to the engine", (dialect, sql) => {
    expect(readSessionStatement(sql, dialect)).toBeUndefined();
  });

  it("keeps the text of a prepared statement that is longer than the tokens it reads", () => {
    const long = `select ${Array.from({ length: 5_000 }, (_, index) => index).join(", ")}`;
    expect(readSessionStatement(`prepare p as ${long}`, "postgres")).toMatchObject({
      kind: "prepare",
      sql: long,
    });
    expect(readSessionStatement(`set a = ${long.slice(7)}`, "postgres")).toBeUndefined();
  });

  it("reads back any text that was written as a literal", () => {
    const quoted = fc.property(fc.string({ unit: "binary" }), (value) => {
      const literal = `'${value.replaceAll("'", "''")}'`;
      expect(readSessionStatement(`set a = ${literal}`, "postgres")).toEqual(
        set(variable("a", [text(value)])),
      );
      const escaped = `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      expect(readSessionStatement(`set a = ${escaped}`, "mysql")).toEqual(
        set(variable("a", [text(value)])),
      );
      expect(readSessionStatement(`set a = e${escaped}`, "duckdb")).toEqual(
        set(variable("a", [text(value)])),
      );
    });
    fc.assert(quoted);
  });

  it("never throws, whatever comes after the first word", () => {
    const first = fc.constantFrom(
      "set",
      "reset",
      "show",
      "use",
      "begin",
      "commit",
      "rollback",
      "prepare",
      "execute",
      "kill",
      "set session",
      "set @@",
    );
    const pieces = fc.constantFrom(
      "a",
      ".",
      "=",
      ",",
      "(",
      ")",
      "'x'",
      '"y"',
      "`z`",
      "@",
      "@@",
      "@b",
      "to",
      "names",
      "time",
      "zone",
      "1",
      "-",
      "all",
      "transaction",
      ";",
      "default",
    );
    const dialects = fc.constantFrom<Dialect>(
      "duckdb",
      "postgres",
      "mysql",
      "trino",
      "clickhouse",
      "generic",
    );
    const quiet = fc.property(
      first,
      fc.array(pieces, { maxLength: 10 }),
      dialects,
      (head, rest, dialect) => {
        const statement = readSessionStatement(`${head} ${rest.join(" ")}`, dialect);
        expect(statement === undefined || typeof statement.kind === "string").toBe(true);
      },
    );
    fc.assert(quiet, { numRuns: 2_000 });
  });
});

describe("changesLexis", () => {
  it("names the settings under which the engine reads the same text differently", () => {
    const changes = (sql: string, dialect: Dialect): boolean => {
      const statement = readSessionStatement(sql, dialect);
      return statement !== undefined && changesLexis(statement);
    };
    expect(changes("set sql_mode = 'ANSI_QUOTES'", "mysql")).toBe(true);
    expect(changes("set @@session.sql_mode = ''", "mysql")).toBe(true);
    expect(changes("set standard_conforming_strings = off", "postgres")).toBe(true);
    expect(changes("set autocommit = 1", "mysql")).toBe(false);
  });
});

function set(...changes: readonly SettingChange[]): SessionStatement {
  return { kind: "set", changes };
}

function variable(
  name: string,
  values: readonly SettingValue[],
  scope: SettingScope = "unsaid",
): SettingChange {
  return { kind: "variable", scope, name, values };
}

function use(parts: readonly (readonly [string, boolean])[]): SessionStatement {
  return {
    kind: "use",
    object: undefined,
    path: parts.map(([part, quoted]) => ({ text: part, quoted })),
  };
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
