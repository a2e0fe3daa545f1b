import { readStatement, statementReading } from "@gateway/core/sql/statement.ts";
import { describe, expect, it } from "vitest";
import { setStatementOf, setStatementsAhead } from "./setStatement.ts";

describe("setStatementOf", () => {
  it.each([
    ["SET STATEMENT max_statement_time=1 FOR select 1", "max_statement_time = 1", "select 1"],
    [
      "set /* a */ statement `a`='x', b:=-1.5 , c = on for\n insert into t values (';for')",
      "`a` = 'x', b = -1.5, c = on",
      "insert into t values (';for')",
    ],
    [
      'set statement a = "it", b = default for select 1 for update',
      'a = "it", b = default',
      "select 1 for update",
    ],
    [
      "set statement a = 1 for set statement b = 2 for select 1",
      "a = 1",
      "set statement b = 2 for select 1",
    ],
  ])("takes %s apart", (sql, assignments, source) => {
    expect(setStatementOf(sql)).toEqual({ assignments, source });
  });

  it("takes no value of more than 64 Ki characters: the variables are read once more", () => {
    const sql = (digits: number) => `set statement a = -${"1".repeat(digits)} for select 1`;
    expect(setStatementOf(sql(65_536))?.source).toBe("select 1");
    expect(setStatementOf(sql(65_537))).toBeUndefined();
  });

  it.each([
    "set a = 1",
    "set statement = 1",
    "set statement a = 1",
    "set statement for select 1",
    "set statement a for select 1",
    "set statement session a = 1 for select 1",
    "set statement @a = 1 for select 1",
    "set statement @@a = 1 for select 1",
    "set statement a = (select 1) for select 1",
    "set statement a = concat('b') for select 1",
    "set statement a = @b for select 1",
    "set statement a = 'b\\' for select 1 --' for select 2",
    "set statement a = 'b''c' for select 1",
    "set statement a = 1 b = 2 for select 1",
    "set statement `a``b` = 1 for select 1",
    "set statement ä = 1 for select 1",
    `set statement ${"a = 1, ".repeat(50)} a = 1 for select 1`,
    "select 1 for update",
    "",
  ])("leaves %s to others", (sql) => {
    expect(setStatementOf(sql)).toBeUndefined();
  });
});

describe("setStatementsAhead", () => {
  it("reads a long statement behind the variables in steps, and so as it is read by itself", () => {
    const behind = `insert into t values (1)${",(2)".repeat(30_000)}`;
    const steps = setStatementsAhead(`select 1; set statement a = 1 for ${behind}`);
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).toBeGreaterThan(1_000);
    expect(statementReading("mysql").knows(behind)).toBe(true);
    expect(readStatement(behind, "mysql")).toMatchObject({ kind: "insert", writes: true });
  });
});
