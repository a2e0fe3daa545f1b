import { describe, expect, it } from "vitest";
import { readStatement } from "../sql/statement.ts";
import { passesUnread } from "./session.ts";

describe("passesUnread", () => {
  it.each([
    ["set wait_timeout = 5", true],
    ["set session transaction isolation level read committed", true],
    ["set global wait_timeout = 5", false],
    ["set @@global.wait_timeout = 5", false],
    ["set persist wait_timeout = 5", false],
    ["set global transaction isolation level read committed", false],
    ["set sql_mode = ''", false],
  ])("knows whose setting it is: %s", (sql, passes) => {
    expect(passesUnread(readStatement(sql, "mysql"))).toBe(passes);
  });
});
