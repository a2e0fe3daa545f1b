import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import {
  findPlaceholders,
  formsOf,
  placeholdersMax,
  rewritePlaceholders,
  type PlaceholderForm,
  type Placeholders,
  type PlaceholdersError,
} from "./placeholders.ts";

const everyForm: readonly PlaceholderForm[] = [
  "question",
  "dollarNumber",
  "dollarName",
  "colonName",
];

describe("findPlaceholders", () => {
  it.each<[Dialect, string, readonly string[]]>([
    ["postgres", "select $1, '$2', \"$3\", $$ $4 $$, -- $5\n $6::int /* $7 */ , a$8", ["$1", "$6"]],
    ["postgres", "select a ? 'b', c ?| d", []],
    ["duckdb", "select ?, '?', ? -- ?", ["?", "?"]],
    ["duckdb", "select $a, $b, $a", ["$a", "$b", "$a"]],
    ["mysql", 'select ?, "?", `?`, # ?\n ?', ["?", "?"]],
    ["mysql", "select $1", []],
    ["trino", "select * from t limit ?", ["?"]],
    ["clickhouse", "select a ? b : c, {x:Int32}", []],
  ])("in %s, finds those of %j", (dialect, sql, expected) => {
    expect(textsOf(placeholdersOf(sql, dialect, formsOf[dialect]))).toEqual(expected);
  });

  it.each<Dialect>(["mysql", "clickhouse"])(
    "finds numbers where a caller asks for them, although %s begins words with a dollar",
    (dialect) => {
      const found = placeholdersOf("select $1, a$2, $3b, '$4', $10", dialect, ["dollarNumber"]);
      expect(textsOf(found)).toEqual(["$1", "$10"]);
    },
  );

  it.each<[string, readonly string[]]>([
    ["select :a, (:b), :a + :c", [":a", ":b", ":a", ":c"]],
    ["select a::int, :b::int", [":b"]],
    ["where x=:a and y >= :b", [":a", ":b"]],
    ["select x[1:b], x[:b], x[a :b], x[a:b]", []],
    ["select [:a, :b], x in (:c)", [":a", ":b", ":c"]],
    ["select {'k':b, k :c, 'l': :d}", [":d"]],
    ["select src:field, 'a':b", []],
    ["select ':a', \":b\" -- :c", []],
    ["limit :1 offset :2", [":1", ":2"]],
    ["a := :b", [":b"]],
  ])("takes a colon for a placeholder only where a value may begin: %j", (sql, expected) => {
    expect(textsOf(placeholdersOf(sql, "duckdb", everyForm))).toEqual(expected);
  });

  it("numbers positions in order, numbers by themselves and names by their first placeholder", () => {
    expect(
      placeholdersOf("? ? ?", "mysql", everyForm).placeholders.map(({ index }) => index),
    ).toEqual([1, 2, 3]);
    const numbered = placeholdersOf("$3 $1 $3", "postgres", everyForm);
    expect(numbered.placeholders.map(({ index }) => index)).toEqual([3, 1, 3]);
    expect(numbered.count).toBe(3);
    const named = placeholdersOf(":b + :a + :b", "generic", everyForm);
    expect(named.placeholders.map(({ index }) => index)).toEqual([1, 2, 1]);
    expect(named.names).toEqual(["b", "a"]);
  });

  it.each<[string, PlaceholdersError]>([
    ["select ?, $1", { code: "mixedPlaceholders", at: 10 }],
    ["select :a, ?", { code: "mixedPlaceholders", at: 11 }],
    ["select $0", { code: "placeholderOutOfRange", at: 7 }],
    ["select $65536", { code: "placeholderOutOfRange", at: 7 }],
    ["select $99999999999999999999", { code: "placeholderOutOfRange", at: 7 }],
    ["select ?, 'a", { code: "unterminated" }],
    ["select \\ ?, 'a", { code: "unterminated" }],
  ])("refuses %j", (sql, error) => {
    expect(findPlaceholders(sql, "generic", everyForm)).toEqual({ ok: false, error });
  });

  it("refuses more placeholders than a protocol carries", () => {
    expect(findPlaceholders("?,".repeat(placeholdersMax), "mysql").ok).toBe(true);
    expect(findPlaceholders("?,".repeat(placeholdersMax + 1), "mysql")).toMatchObject({
      ok: false,
      error: { code: "placeholderOutOfRange" },
    });
  });
});

describe("rewritePlaceholders", () => {
  it("writes questions as numbers and numbers as questions, repeating the values that appear twice", () => {
    expect(
      rewritePlaceholders(placeholdersOf("select ? + ?", "mysql", everyForm), "dollarNumber"),
    ).toEqual({
      sql: "select $1 + $2",
      order: [1, 2],
    });
    expect(
      rewritePlaceholders(placeholdersOf("select $2 + $1 + $2", "postgres", everyForm), "question"),
    ).toEqual({
      sql: "select ? + ? + ?",
      order: [2, 1, 2],
    });
    expect(
      rewritePlaceholders(
        placeholdersOf("select :b::int, :a, :b", "generic", everyForm),
        "dollarNumber",
      ),
    ).toEqual({
      sql: "select $1::int, $2, $1",
      order: [1, 2],
    });
    expect(
      rewritePlaceholders(placeholdersOf("select $3", "postgres", everyForm), "dollarNumber"),
    ).toEqual({
      sql: "select $3",
      order: [1, 2, 3],
    });
  });

  it("keeps a placeholder apart from the word it touches", () => {
    expect(
      rewritePlaceholders(placeholdersOf("limit?and?5", "mysql", everyForm), "dollarNumber").sql,
    ).toBe("limit $1 and $2 5");
    expect(
      rewritePlaceholders(placeholdersOf("limit $1a", "duckdb", everyForm), "question").sql,
    ).toBe("limit ? a");
  });

  it("finds the same parameters in the text it wrote, and changes nothing else", () => {
    const parts = fc.constantFrom(
      "?",
      "'?'",
      '"?"',
      "/* ? */",
      "-- ?\n",
      "a",
      "b(",
      ")",
      ",",
      "=",
      "1",
      "\u00e9",
    );
    const same = fc.property(fc.array(parts, { maxLength: 20 }), (words) => {
      const found = placeholdersOf(words.join(" "), "trino", ["question"]);
      const numbered = rewritePlaceholders(found, "dollarNumber");
      const again = placeholdersOf(numbered.sql, "duckdb", ["dollarNumber"]);
      expect(again.placeholders.map(({ index }) => index)).toEqual(
        found.placeholders.map(({ index }) => index),
      );
      expect(rewritePlaceholders(again, "question").sql).toBe(found.sql);
    });
    fc.assert(same);
  });
});

function placeholdersOf(
  sql: string,
  dialect: Dialect,
  forms: readonly PlaceholderForm[],
): Placeholders {
  const found = findPlaceholders(sql, dialect, forms);
  if (!found.ok) throw new Error(found.error.code);
  return found.value;
}

function textsOf(found: Placeholders): readonly string[] {
  return found.placeholders.map(({ start, end }) => found.sql.slice(start, end));
}
