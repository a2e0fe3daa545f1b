import { describe, expect, it } from "vitest";
import { seededRandom } from "@gateway/core/rig/virtual.ts";
import { splitStatements } from "@gateway/core/sql/lex/split.ts";
import { respelled } from "./literals.ts";

/** As Python's driver writes a bound value. */
function bound(value: string): string {
  const escaped = value
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("'", "\\'");
  return `'${escaped}'`;
}

describe("a bound value", () => {
  it("is the same value to an engine without escapes, and never SQL", () => {
    const random = seededRandom(Math.floor(Math.random() * 2 ** 31));
    const parts = [
      "'",
      "\\",
      "\n",
      "''",
      "\\'",
      " or 1=1 --",
      "; drop",
      "/*",
      "$$",
      '"',
      "x",
      "\\\\",
      "é",
    ];
    for (let round = 0; round < 2_000; round += 1) {
      const pick = () => parts[Math.floor(random() * parts.length)] ?? "";
      const [one, two] = [pick() + pick() + pick() + pick(), pick() + pick() + pick()];
      const read = respelled(`select ${bound(one)}, ${bound(two)} -- it's`, "duckdb");
      const wanted = [one, two].map((value) => `'${value.replaceAll("'", "''")}'`);
      // Without a backslash or a quote nothing is to be done.
      expect(read).toEqual({ ok: true, value: `select ${wanted.join(", ")} -- it's` });
    }
  });

  it("ends nowhere else in an engine that is not known, whatever that one reads", () => {
    const hostile = bound("\\' or 1=1; drop table t --'");
    const read = respelled(`select ${hostile}`, "generic");
    if (!read.ok) throw new Error(read.error.message);
    for (const dialect of ["duckdb", "postgres", "mysql", "clickhouse", "trino"] as const) {
      const split = splitStatements(read.value, dialect);
      expect([dialect, split.ok && split.value.length]).toEqual([dialect, 1]);
    }
  });
});

describe("a statement", () => {
  it.each([
    ["select 'it''s', \"a\\b\" -- 'x\\'", "without a backslash in a text"],
    ["select E'it\\'s', e'\\n'", "with texts that have escapes in the engine too"],
    ["select $$it\\'s$$ /* don't \\' */", "with other quotes and comments"],
  ])("%s is left alone", (sql) => {
    expect(respelled(sql, "postgres")).toEqual({ ok: true, value: sql });
  });

  it("is left alone where the engine has the same escapes", () => {
    const sql = "select 'it\\'s'";
    for (const dialect of ["mysql", "clickhouse"] as const) {
      expect(respelled(sql, dialect)).toEqual({ ok: true, value: sql });
    }
  });

  it("has its escapes read as Snowflake does, and is refused where a text has no end", () => {
    const read = respelled(String.raw`select 'a\tb\x41\u00e9\101\q', typed'\\'`, "trino");
    expect(read).toEqual({ ok: true, value: "select 'a\tbAéAq', typed'\\'" });
    expect(respelled(String.raw`select 'C:\'`, "duckdb")).toMatchObject({ ok: false });
  });
});
