import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSql, tokenText } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextToken } from "../lex/lex.ts";
import { decodeIdentifier, decodeString } from "../lex/literal.ts";
import { relex } from "./relex.ts";

const clients: readonly Dialect[] = ["postgres", "duckdb", "trino"];
const engines: readonly Dialect[] = ["mysql", "clickhouse", "trino"];

/** Pieces out of which a value tries to break. */
const nasty = fc.constantFrom(
  "'",
  '"',
  "\\",
  "`",
  ";",
  "--",
  "/*",
  "*/",
  "#",
  "//",
  "$$",
  "$1$",
  "\n",
  "\r",
  "\u2018",
  "\u201d",
  " ",
);
const value = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc
    .array(fc.oneof(nasty, fc.string({ maxLength: 3 })), { maxLength: 10 })
    .map((all) => all.join("")),
);

describe("relex", () => {
  it("writes a bulk insert in time that grows with its length alone", () => {
    const row = "(12345,'Some name here',19.99,'2024-01-01')";
    const sql = `insert into t values ${Array.from({ length: 24_000 }, () => row).join(",")}`;
    expect(relex(sql, "mysql", "duckdb")).toEqual({ ok: true, value: sql });
  });

  it("never lets a value out of its string, nor a name out of its quotes", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...clients),
        fc.constantFrom(...engines),
        value.filter((text) => !text.includes("\0")),
        value.filter((text) => text !== "" && !text.includes("\0")),
        (from, to, text, name) => {
          const sql = `select '${text.replaceAll("'", "''")}' as "${name.replaceAll('"', '""')}", 'end'`;
          const written = relex(sql, from, to);
          if (!written.ok) throw new Error(written.error.message);
          expect(valuesOf(written.value, to)).toEqual([text, name, "end"]);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("answers nothing but what the engine reads as the client does, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...clients),
        fc.constantFrom(...engines),
        fc.array(
          fc.oneof(nasty, fc.constantFrom("a", "E", "x", "N", "U&", "select ", "1", "-", "*", "/")),
          { maxLength: 20 },
        ),
        (from, to, parts) => {
          const sql = parts.join("");
          const written = relex(sql, from, to);
          const wanted = written.ok ? valuesOf(sql, from) : [];
          expect(written.ok ? valuesOf(written.value, to) : []).toEqual(wanted);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("keeps a text that both read alike, and every text between the standard's dialects", () => {
    expect(relex("select 1 + a from t where b >= 1.5", "postgres", "mysql")).toEqual({
      ok: true,
      value: "select 1 + a from t where b >= 1.5",
    });
    const sql = "select E'a\\'b', $$c$$, \"d\" -- e";
    expect(relex(sql, "postgres", "duckdb")).toEqual({ ok: true, value: sql });
  });

  it.each<[Dialect, Dialect, string, string]>([
    [
      "postgres",
      "mysql",
      `select "a b", 'c\\d', E'e\\'f', $$g'h$$ from t`,
      "select `a b`, 'c\\\\d', 'e''f', 'g''h' from t",
    ],
    ["duckdb", "clickhouse", `select "it's" from "t" -- x`, "select `it's` from `t`  "],
    [
      "trino",
      "mysql",
      "select $1 from \"a\".\"b\" where c = ''''",
      "select $1 from `a`.`b` where c = ''''",
    ],
    ["postgres", "trino", "select E'a\\tb'", "select 'a\tb'"],
    [
      "postgres",
      "mysql",
      "select /*+ SET_VAR(a=1) */ 'x' /* b */",
      "select /*+ SET_VAR(a=1) */ 'x'  ",
    ],
    ["postgres", "mysql", "select x'ff', 'a'", "select x'ff', 'a'"],
    ["duckdb", "mysql", "select b'101', 'a'", "select b'101', 'a'"],
    ["duckdb", "mysql", "select 'a\0b\\0'", "select 'a\\0b\\\\0'"],
    ["postgres", "generic", "select $$it's$$, \"a\" /* /* */ ' */", "select 'it''s', \"a\"  "],
  ])("from %s to %s: %s", (from, to, sql, expected) => {
    expect(relex(sql, from, to)).toEqual({ ok: true, value: expected });
  });

  it.each<[string, Dialect]>([
    ["select 5 # 3, 'a'", "mysql"],
    ["select 'open", "mysql"],
    ['select "open', "clickhouse"],
    ["select U&'\\0061' from t", "mysql"],
    ["select 'a\0b'", "trino"],
    ["select b'102', 'a'", "mysql"],
    ["select \u2018a\u2019, 'b'", "clickhouse"],
    ["select a ` b, 'c'", "mysql"],
    ["select '\\'' or 1=1 --'", "generic"],
    ["select 'a\\', b", "generic"],
  ])("refuses what the engine would read in another way: %s for %s", (sql, to) => {
    expect(relex(sql, "postgres", to).ok).toBe(false);
  });
});

/** What strings and quoted names of a text stand for, in their order. */
function valuesOf(sql: string, dialect: Dialect): readonly (string | undefined)[] {
  const cursor = openSql(sql, dialect);
  const values: (string | undefined)[] = [];
  while (nextToken(cursor)) {
    if (cursor.kind === "string") values.push(decodeString(tokenText(cursor), dialect));
    if (cursor.kind === "quotedIdentifier")
      values.push(decodeIdentifier(tokenText(cursor), dialect));
  }
  return values;
}
