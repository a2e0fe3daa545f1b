import type { Parameter } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { literalText, readLiterals } from "./literal.ts";
import { TokenReader } from "./tokens.ts";

const text = { kind: "text" } as const;
const timestamp = (unit: "us" | "ns", zoned: boolean) =>
  ({ kind: "timestamp", unit, zoned }) as const;
const integer = (bits: 8 | 16 | 32 | 64) => ({ kind: "integer", bits, signed: true }) as const;

/** The literals that JDBC and the Python client write, and what they are to an engine. */
const table: readonly (readonly [string, Parameter])[] = [
  ["'it''s'", { type: text, value: "it's" }],
  ["1", { type: integer(32), value: 1n }],
  ["-2147483648", { type: integer(32), value: -2_147_483_648n }],
  ["2147483648", { type: integer(64), value: 2_147_483_648n }],
  ["+7", { type: integer(32), value: 7n }],
  ["1.50", { type: { kind: "decimal", precision: 3, scale: 2 }, value: 150n }],
  ["-.5", { type: { kind: "decimal", precision: 1, scale: 1 }, value: -5n }],
  ["1.5E2", { type: { kind: "float", bits: 64 }, value: 150 }],
  ["true", { type: { kind: "boolean" }, value: true }],
  ["FALSE", { type: { kind: "boolean" }, value: false }],
  ["NULL", { type: { kind: "null" }, value: null }],
  ["X'00 fF'", { type: { kind: "binary" }, value: Uint8Array.of(0, 255) }],
  ["BIGINT '5'", { type: integer(64), value: 5n }],
  ["TINYINT '-5'", { type: integer(8), value: -5n }],
  ["REAL '1.5'", { type: { kind: "float", bits: 32 }, value: 1.5 }],
  ["DOUBLE '2.5'", { type: { kind: "float", bits: 64 }, value: 2.5 }],
  ["DECIMAL '-012.340'", { type: { kind: "decimal", precision: 5, scale: 3 }, value: -12_340n }],
  ["DATE '2024-02-29'", { type: { kind: "date" }, value: 19_782n }],
  ["TIME '23:59:59.999999'", { type: { kind: "time", unit: "us" }, value: 86_399_999_999n }],
  [
    "TIMESTAMP '2024-02-29 12:34:56.123'",
    { type: timestamp("us", false), value: 1_709_210_096_123_000n },
  ],
  [
    "TIMESTAMP '2024-02-29 12:34:56.123456789'",
    { type: timestamp("ns", false), value: 1_709_210_096_123_456_789n },
  ],
  [
    "TIMESTAMP '2024-02-29 12:34:56 UTC'",
    { type: timestamp("us", true), value: 1_709_210_096_000_000n },
  ],
  [
    "TIMESTAMP '2024-02-29 12:34:56 +01:00'",
    { type: timestamp("us", true), value: 1_709_206_496_000_000n },
  ],
  [
    "UUID '0190163D-8694-739b-aea5-966c26f8ad91'",
    { type: { kind: "uuid" }, value: "0190163d-8694-739b-aea5-966c26f8ad91" },
  ],
  ["JSON '{\"a\":1}'", { type: { kind: "json" }, value: '{"a":1}' }],
  ["CAST('5' AS smallint)", { type: integer(16), value: 5n }],
  ["CAST(NULL AS varchar(10))", { type: text, value: null }],
  [
    "CAST(12.5 AS decimal(10, 3))",
    { type: { kind: "decimal", precision: 10, scale: 3 }, value: 12_500n },
  ],
  [
    "CAST('2024-02-29 12:34:56 UTC' AS timestamp(6) with time zone)",
    { type: timestamp("us", true), value: 1_709_210_096_000_000n },
  ],
  ["CAST('h\u00e9\u{1f600}o' AS varchar(3))", { type: text, value: "h\u00e9\u{1f600}" }],
  [
    "CAST('10:00:00.25' AS time(2))",
    { type: { kind: "time", unit: "us" }, value: 36_000_250_000n },
  ],
  ["ARRAY[1, NULL, 3]", { type: { kind: "list", item: integer(32) }, value: [1n, null, 3n] }],
  [
    "ARRAY[ARRAY['a'], ARRAY['b']]",
    { type: { kind: "list", item: { kind: "list", item: text } }, value: [["a"], ["b"]] },
  ],
];

describe("readLiterals", () => {
  it.each(table)("reads %s", (literal, parameter) => {
    expect(readLiterals(new TokenReader(literal))).toEqual({ ok: true, value: [parameter] });
  });

  it("reads a list of them, with comments and line breaks between", () => {
    const read = readLiterals(new TokenReader("1 /* one */,\n 'two' -- 2\n, NULL"));
    expect(read.ok && read.value.map(({ value }) => value)).toEqual([1n, "two", null]);
  });

  it("refuses what would have to be computed, because an engine gets values and never text", () => {
    for (const expression of [
      "1 + 1",
      "now()",
      "a",
      "(1)",
      "- - 1",
      "CAST(now() AS date)",
      "CAST(1 AS nothing)",
      "ARRAY[1, 'a']",
      "ARRAY[1",
      "DATE",
      "DATE 5",
      "1,",
      "",
      "'open",
      "toString",
      `${"ARRAY[".repeat(30)}1${"]".repeat(30)}`,
    ]) {
      expect(readLiterals(new TokenReader(expression))).toMatchObject({ ok: false });
    }
  });

  it("refuses a value that would arrive as another one", () => {
    for (const literal of [
      "TIME '10:00:00 -08:00'",
      "TIME '10:00:00.5+01:00'",
      "TIME '10:00:00 UTC'",
      "CAST('10:00:00 -08:00' AS time)",
      "CAST('10:00:00.1234' AS time(2))",
      "CAST('2024-02-29 12:34:56.123456' AS timestamp)",
    ]) {
      expect(readLiterals(new TokenReader(literal))).toMatchObject({
        ok: false,
        error: { code: "query.unsupported" },
      });
    }
  });

  it("refuses a value that its type does not hold", () => {
    for (const literal of [
      "TINYINT '300'",
      "DATE 'tomorrow'",
      "X'0'",
      "99999999999999999999",
      "1e999",
    ]) {
      expect(readLiterals(new TokenReader(literal))).toMatchObject({
        ok: false,
        error: { code: "query.data" },
      });
    }
  });
});

describe("literalText", () => {
  it("writes decimals with all their digits", () => {
    const decimal = { kind: "decimal", precision: 10, scale: 3 } as const;
    expect(literalText({ type: decimal, value: -5n })).toBe("-0.005");
    expect(literalText({ type: decimal, value: 12_500n })).toBe("12.500");
  });
});
