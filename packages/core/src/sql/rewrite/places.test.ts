import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import {
  findPlaces,
  formsOf,
  placesMax,
  rewritePlaces,
  type PlaceForm,
  type Places,
  type PlacesError,
} from "./places.ts";

const everyForm: readonly PlaceForm[] = ["question", "dollarNumber", "dollarName", "colonName"];

describe("findPlaces", () => {
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
    expect(textsOf(placesOf(sql, dialect, formsOf[dialect]))).toEqual(expected);
  });

  it.each<Dialect>(["mysql", "clickhouse"])(
    "finds numbers where a caller asks for them, although %s begins words with a dollar",
    (dialect) => {
      const found = placesOf("select $1, a$2, $3b, '$4', $10", dialect, ["dollarNumber"]);
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
  ])("takes a colon for a place only where a value may begin: %j", (sql, expected) => {
    expect(textsOf(placesOf(sql, "duckdb", everyForm))).toEqual(expected);
  });

  it("numbers positions in order, numbers by themselves and names by their first place", () => {
    expect(placesOf("? ? ?", "mysql", everyForm).places.map(({ index }) => index)).toEqual([
      1, 2, 3,
    ]);
    const numbered = placesOf("$3 $1 $3", "postgres", everyForm);
    expect(numbered.places.map(({ index }) => index)).toEqual([3, 1, 3]);
    expect(numbered.count).toBe(3);
    const named = placesOf(":b + :a + :b", "generic", everyForm);
    expect(named.places.map(({ index }) => index)).toEqual([1, 2, 1]);
    expect(named.names).toEqual(["b", "a"]);
  });

  it.each<[string, PlacesError]>([
    ["select ?, $1", { code: "mixedPlaces", at: 10 }],
    ["select :a, ?", { code: "mixedPlaces", at: 11 }],
    ["select $0", { code: "placeOutOfRange", at: 7 }],
    ["select $65536", { code: "placeOutOfRange", at: 7 }],
    ["select $99999999999999999999", { code: "placeOutOfRange", at: 7 }],
    ["select ?, 'a", { code: "unterminated" }],
    ["select \\ ?, 'a", { code: "unterminated" }],
  ])("refuses %j", (sql, error) => {
    expect(findPlaces(sql, "generic", everyForm)).toEqual({ ok: false, error });
  });

  it("refuses more places than a protocol carries", () => {
    expect(findPlaces("?,".repeat(placesMax), "mysql").ok).toBe(true);
    expect(findPlaces("?,".repeat(placesMax + 1), "mysql")).toMatchObject({
      ok: false,
      error: { code: "placeOutOfRange" },
    });
  });
});

describe("rewritePlaces", () => {
  it("writes questions as numbers and numbers as questions, repeating the values that appear twice", () => {
    expect(rewritePlaces(placesOf("select ? + ?", "mysql", everyForm), "dollarNumber")).toEqual({
      sql: "select $1 + $2",
      order: [1, 2],
    });
    expect(
      rewritePlaces(placesOf("select $2 + $1 + $2", "postgres", everyForm), "question"),
    ).toEqual({
      sql: "select ? + ? + ?",
      order: [2, 1, 2],
    });
    expect(
      rewritePlaces(placesOf("select :b::int, :a, :b", "generic", everyForm), "dollarNumber"),
    ).toEqual({
      sql: "select $1::int, $2, $1",
      order: [1, 2],
    });
    expect(rewritePlaces(placesOf("select $3", "postgres", everyForm), "dollarNumber")).toEqual({
      sql: "select $3",
      order: [1, 2, 3],
    });
  });

  it("keeps a place apart from the word it touches", () => {
    expect(rewritePlaces(placesOf("limit?and?5", "mysql", everyForm), "dollarNumber").sql).toBe(
      "limit $1 and $2 5",
    );
    expect(rewritePlaces(placesOf("limit $1a", "duckdb", everyForm), "question").sql).toBe(
      "limit ? a",
    );
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
      const found = placesOf(words.join(" "), "trino", ["question"]);
      const numbered = rewritePlaces(found, "dollarNumber");
      const again = placesOf(numbered.sql, "duckdb", ["dollarNumber"]);
      expect(again.places.map(({ index }) => index)).toEqual(
        found.places.map(({ index }) => index),
      );
      expect(rewritePlaces(again, "question").sql).toBe(found.sql);
    });
    fc.assert(same);
  });
});

function placesOf(sql: string, dialect: Dialect, forms: readonly PlaceForm[]): Places {
  const found = findPlaces(sql, dialect, forms);
  if (!found.ok) throw new Error(found.error.code);
  return found.value;
}

function textsOf(found: Places): readonly string[] {
  return found.places.map(({ start, end }) => found.sql.slice(start, end));
}
