import { describe, expect, it } from "vitest";
import { relayedReader, type Relaying } from "./relayed.ts";
import { statementReader, type ReadStatement } from "./statement.ts";

describe("relayedReader", () => {
  it.each([
    "select 1",
    "select * from pg_class",
    "select version()",
    "show server_version",
    "show all",
    "declare c scroll cursor for select 1",
    "fetch backward 2 from c",
    "notify x",
    "copy t from stdin",
    "copy (select 1) to stdout",
  ])("leaves to the server what is its own: %s", (sql) => {
    expect(firstOf(sql, "shared")).toMatchObject({ sql, kind: { kind: "query" }, relayed: true });
  });

  it("answers for its process where no connection is its own", () => {
    const sql = "select pg_backend_pid()";
    expect(firstOf(sql, "shared").relayed).toBeUndefined();
    expect(firstOf(sql, "asked").relayed).toBeUndefined();
    expect(firstOf(sql, "kept").relayed).toBe(true);
    expect(firstOf("select pg_backend_pid(), version()", "shared").relayed).toBe(true);
  });

  it.each([
    "set work_mem = '1MB'",
    "reset all",
    "discard all",
    "deallocate s",
    "show gateway.query_id",
    "show statement_timeout",
    "select set_config('a.b', 'c', false)",
    "set role other",
    "listen x",
    "prepare p as select 1",
    "select pg_advisory_lock(1)",
    "begin",
    "savepoint s",
  ])("keeps what a shared connection would lose, or what the gateway decides: %s", (sql) => {
    const found = firstOf(sql, "shared");
    expect(found.relayed).toBeUndefined();
    expect(found.kind).toEqual(firstOf(sql, "no").kind);
  });

  it.each([
    ["asked", "listen x"],
    ["asked", "prepare p as select 1"],
    ["asked", "execute p"],
    ["asked", "select pg_advisory_lock(1)"],
    ["kept", "unlisten *"],
    ["kept", "discard temp"],
    ["always", "set work_mem = '1MB'"],
    ["always", "set local timezone = 'UTC'"],
    ["always", "reset all"],
    ["always", "show statement_timeout"],
    ["always", "set role other"],
    ["always", "select set_config('a.b', 'c', false)"],
  ] as const)("leaves to a connection that stays (%s): %s", (relaying, sql) => {
    expect(firstOf(sql, relaying)).toMatchObject({ sql, kind: { kind: "query" }, relayed: true });
  });

  it.each([
    ["asked", "begin isolation level nonsense"],
    ["always", "start transaction read sometimes"],
    ["asked", "unlisten *"],
    ["asked", "set role other"],
    ["kept", "set work_mem = '1MB'"],
    ["kept", "deallocate p"],
    ["always", "set gateway.tags = 'a:b'"],
    ["always", "show gateway.query_id"],
    ["always", "set client_encoding = 'LATIN1'"],
    ["always", "set names 'LATIN1'"],
    ["always", "set standard_conforming_strings = off"],
    ["always", "select set_config('client_encoding', 'LATIN1', true)"],
    ["always", "show client_encoding"],
    ["always", "discard all"],
    ["always", "begin"],
  ] as const)("keeps even then (%s) what is answered here: %s", (relaying, sql) => {
    expect(firstOf(sql, relaying).kind).toEqual(firstOf(sql, "no").kind);
  });

  it("has the server judge a setting before it is kept, where only the server knows its values", () => {
    expect(firstOf("set work_mem = 'much'", "shared").asked).toBe(true);
    expect(firstOf("set application_name = 'a'", "shared").asked).toBeUndefined();
  });

  it("changes nothing while an engine of another kind may answer", () => {
    const read = statementReader();
    const sql = "select * from pg_class";
    expect(relayedReader(read, () => "no")(sql)).toBe(read(sql));
  });

  it("knows a statement's place, and its whole text where only a part was read", () => {
    const read = relayedReader(statementReader(), () => "shared")(" select 1;  copy t to stdout");
    expect(read.ok && read.value.map(({ sql, start }) => [sql, start])).toEqual([
      ["select 1", 1],
      ["copy t to stdout", 12],
    ]);
  });
});

function firstOf(sql: string, relays: Relaying): ReadStatement {
  const read = relayedReader(statementReader(), () => relays)(sql);
  const [first] = read.ok ? read.value : [];
  if (first === undefined) throw new Error("no statement");
  return first;
}
