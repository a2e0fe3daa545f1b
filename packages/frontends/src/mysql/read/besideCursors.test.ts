import { expect, it } from "vitest";
import { leavesTransaction } from "./besideCursors.ts";

it.each([
  ["select 1", true],
  ["  SELECT a from t for update", true],
  ["insert into t values (1)", true],
  ["update t set a = 1", true],
  ["delete from t", true],
  ["commit", false],
  ["rollback", false],
  ["begin", false],
  ["create table t (a int)", false],
  ["truncate t", false],
  ["set autocommit = 1", false],
  ["call p()", false],
  ["lock tables t read", false],
  ["select 1; commit", false],
  ["/*!50000 commit */", false],
  ["selec", false],
  ["", false],
  [`select '${"x".repeat(70_000)}'`, false],
])("knows whether a transaction is surely open behind %s", (text, expected) => {
  const command = { kind: "query", sql: Buffer.from(text) } as const;
  expect(leavesTransaction(command, () => undefined)).toBe(expected);
});

it("goes by what a prepared statement is", () => {
  const command = { kind: "execute", statementId: 1, cursor: 0, body: new Uint8Array() } as const;
  expect(leavesTransaction(command, () => "select")).toBe(true);
  expect(leavesTransaction(command, () => "ddl")).toBe(false);
});
