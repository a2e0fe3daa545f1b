import { describe, expect, it } from "vitest";
import { commandTag } from "./tag.ts";

describe("commandTag", () => {
  it.each([
    [{}, 3, "select 1", "SELECT 3"],
    [{ updateType: "INSERT", updateCount: 2 }, undefined, "insert …", "INSERT 0 2"],
    [{ updateType: "INSERT", updateCount: 2 }, 2, "insert … returning …", "INSERT 0 2"],
    [{ updateType: "DELETE" }, undefined, "delete …", "DELETE 0"],
    [{ updateType: "CREATE TABLE" }, undefined, "create …", "CREATE TABLE"],
    [{ updateType: "SHOW" }, 1, "show x", "SHOW"],
    [{}, undefined, "/* a */ checkpoint", "CHECKPOINT"],
    [{ updateType: "BEGIN" }, undefined, "start transaction read only", "START TRANSACTION"],
    [{ updateType: "SELECT INTO", updateCount: 3 }, undefined, "select 1 into t", "SELECT 3"],
    [{ updateType: "CREATE TABLE AS", updateCount: 0 }, undefined, "create …", "SELECT 0"],
    [{ updateType: "CREATE TABLE AS" }, undefined, "create … no data", "CREATE TABLE AS"],
    [{ updateType: "LOCK" }, undefined, "lock t", "LOCK TABLE"],
    [{}, undefined, "42", "OK"],
  ])("makes the tag of %j with %s rows of %s", (done, rows, sql, tag) => {
    expect(commandTag(done, rows, sql)).toBe(tag);
  });
});
