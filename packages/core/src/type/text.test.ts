import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorOf } from "./build.ts";
import { parseText } from "./parse.ts";
import type { TextStyle } from "./cellWriter.ts";
import { cellWriter, jsonText, mysqlText, postgresText } from "./text.ts";
import type { DataType, Value } from "./type.ts";
import { anyColumn, anyType, presentValue, scalarTypes, sliceOf, textOf } from "./rig/values.ts";
import { isNull, type Vector } from "./vector.ts";
import { utc, zoneOf } from "./zone.ts";

const styles = fc.oneof(
  fc.constantFrom(postgresText, mysqlText, jsonText),
  fc.record<TextStyle>({
    json: fc.boolean(),
    booleans: fc.constantFrom("t/f", "true/false", "1/0"),
    binary: fc.constantFrom("hex", "0x", "base64", "raw"),
    separator: fc.constantFrom(" ", "T"),
    fraction: fc.constantFrom("fixed", "trimmed"),
    zone: fc.constantFrom(
      utc,
      ...["-00:44:30", "Europe/Berlin"].flatMap((name) => zoneOf(name) ?? []),
    ),
    zoneSuffix: fc.constantFrom("none", "offset", "isoOffset", "name"),
    years: fc.constantFrom("postgres", "iso"),
    exponents: fc.constantFrom("postgres", "mysql", "ecmascript"),
    intervals: fc.constantFrom("postgres", "iso", "trino"),
    nested: fc.constantFrom("postgres", "json"),
    structs: fc.constantFrom("object", "array"),
    wideNumbers: fc.constantFrom("number", "string"),
    jsonCells: fc.constantFrom("value", "string"),
  }),
);

describe("cellWriter", () => {
  it("stays within its bound, for every type, style and slice", () => {
    const within = fc.property(anyColumn, styles, fc.nat(3), ({ type, values }, style, from) => {
      const vector = sliceOf(vectorOf(type, values), Math.min(from, values.length));
      const writer = cellWriter(vector, style);
      for (let row = 0; row < vector.length; row += 1) {
        if (isNull(vector, row)) continue;
        const bound = writer.bound(row);
        const out = new Uint8Array(bound + 3).fill(0xee);
        const end = writer.write(out, 2, row);
        expect(end - 2).toBeLessThanOrEqual(bound);
        // Nothing outside of what it says it wrote is touched beyond its bound.
        expect([out[0], out[1], out[bound + 2]]).toEqual([0xee, 0xee, 0xee]);
      }
    });
    fc.assert(within, { numRuns: 1000 });
  });

  it.each(scalarTypes.map((type) => [JSON.stringify(type), type] as const))(
    "writes PostgreSQL text of %s that reads back as the same value",
    (_name, type) => {
      const same = fc.property(presentValue(type), (value) => {
        expect(parseText(type, written(type, value, postgresText))).toEqual({ ok: true, value });
      });
      fc.assert(same, { numRuns: 200 });
    },
  );

  it("writes PostgreSQL text of nested types that reads back as the same value", () => {
    const sample = anyType.chain((type) =>
      fc.record({ type: fc.constant(type), value: presentValue(type) }),
    );
    const same = fc.property(sample, ({ type, value }) => {
      expect(parseText(type, written(type, value, postgresText))).toEqual({ ok: true, value });
    });
    fc.assert(same, { numRuns: 500 });
  });

  it.each(["\u00a0", "\u2003", "\ufeff", "\u3000a\u00a0", " ", "\t\v"])(
    "knows white space beyond ASCII in an array as text: %j",
    (text) => {
      const type: DataType = { kind: "list", item: { kind: "text" } };
      const map: DataType = { kind: "map", key: type, value: type };
      for (const [of, value] of [
        [type, [text]],
        [map, [[[text], [text, null]]]],
      ] as const)
        expect(parseText(of, written(of, value, postgresText))).toEqual({ ok: true, value });
    },
  );

  it("writes ISO years and intervals that read back as the same value", () => {
    const style: TextStyle = { ...postgresText, years: "iso", intervals: "iso", separator: "T" };
    const types: readonly DataType[] = scalarTypes.filter((type) =>
      ["date", "timestamp", "interval"].includes(type.kind),
    );
    const sample = fc
      .constantFrom(...types)
      .chain((type) => fc.record({ type: fc.constant(type), value: presentValue(type) }));
    const same = fc.property(sample, ({ type, value }) => {
      expect(parseText(type, written(type, value, style))).toEqual({ ok: true, value });
    });
    fc.assert(same, { numRuns: 500 });
  });

  it("writes JSON that a JSON reader takes, whatever the cell", () => {
    const valid = fc.property(anyColumn, styles, ({ type, values }, style) => {
      const vector = vectorOf(type, values);
      for (const [row, value] of values.entries()) {
        if (value === null) continue;
        expect(
          () => void JSON.parse(cellText(vector, { ...style, json: true }, row)),
        ).not.toThrow();
      }
    });
    fc.assert(valid, { numRuns: 500 });
  });

  it("writes text in JSON as the same string", () => {
    const same = fc.property(presentValue({ kind: "text" }), (value) => {
      expect(JSON.parse(written({ kind: "text" }, value, jsonText))).toBe(value);
    });
    fc.assert(same);
  });

  it("measures a long text that needs escapes instead of taking the worst case", () => {
    const vector = vectorOf({ kind: "text" }, ["x".repeat(100_000) + '"\u0001']);
    expect(cellWriter(vector, jsonText).bound(0)).toBe(100_000 + 2 + 2 + 6);
  });

  it.each<[string, DataType, Value, string, string, string]>([
    ["true", { kind: "boolean" }, true, "t", "1", "true"],
    [
      "bytes",
      { kind: "binary" },
      Uint8Array.of(10, 255, 65, 66),
      "\\x0aff4142",
      "\n\ufffdAB",
      '"Cv9BQg=="',
    ],
    [
      "a text",
      { kind: "text" },
      'a"\\\n\u0001é',
      'a"\\\n\u0001é',
      'a"\\\n\u0001é',
      '"a\\"\\\\\\n\\u0001é"',
    ],
    ["json", { kind: "json" }, '{"a":1}', '{"a":1}', '{"a":1}', '"{\\"a\\":1}"'],
    [
      "uuid",
      { kind: "uuid" },
      "0190163d-8694-739b-aea5-966c26f8ad91",
      "0190163d-8694-739b-aea5-966c26f8ad91",
      "0190163d-8694-739b-aea5-966c26f8ad91",
      '"0190163d-8694-739b-aea5-966c26f8ad91"',
    ],
    [
      "int64",
      { kind: "integer", bits: 64, signed: true },
      -9_223_372_036_854_775_808n,
      "-9223372036854775808",
      "-9223372036854775808",
      "-9223372036854775808",
    ],
    [
      "uint64",
      { kind: "integer", bits: 64, signed: false },
      18_446_744_073_709_551_615n,
      "18446744073709551615",
      "18446744073709551615",
      '"18446744073709551615"',
    ],
    [
      "int128",
      { kind: "integer", bits: 128, signed: true },
      -(2n ** 127n),
      "-170141183460469231731687303715884105728",
      "-170141183460469231731687303715884105728",
      '"-170141183460469231731687303715884105728"',
    ],
    ["decimal", { kind: "decimal", precision: 12, scale: 2 }, -5n, "-0.05", "-0.05", '"-0.05"'],
    [
      "wide decimal",
      { kind: "decimal", precision: 38, scale: 38 },
      1n,
      `0.${"0".repeat(37)}1`,
      `0.${"0".repeat(37)}1`,
      `"0.${"0".repeat(37)}1"`,
    ],
    ["date", { kind: "date" }, 19_723n, "2024-01-01", "2024-01-01", '"2024-01-01"'],
    [
      "time",
      { kind: "time", unit: "us" },
      3_723_500_000n,
      "01:02:03.5",
      "01:02:03.500000",
      '"01:02:03.500000"',
    ],
    [
      "timestamp",
      { kind: "timestamp", unit: "ms", zoned: false },
      -1n,
      "1969-12-31 23:59:59.999",
      "1969-12-31 23:59:59.999",
      '"1969-12-31 23:59:59.999"',
    ],
    [
      "instant",
      { kind: "timestamp", unit: "us", zoned: true },
      0n,
      "1970-01-01 00:00:00+00",
      "1970-01-01 00:00:00.000000",
      '"1970-01-01 00:00:00.000000 UTC"',
    ],
    [
      "list",
      { kind: "list", item: { kind: "text" } },
      ["a b", null, ""],
      '{"a b",NULL,""}',
      '["a b",null,""]',
      '["a b",null,""]',
    ],
  ])(
    "writes %s as PostgreSQL, MySQL and JSON readers expect it",
    (_name, type, value, ...texts) => {
      const shown = [postgresText, mysqlText, jsonText].map((style) => written(type, value, style));
      expect(shown).toEqual(texts);
    },
  );
});

function written(type: DataType, value: Value, style: TextStyle): string {
  return cellText(vectorOf(type, [value]), style, 0);
}

function cellText(vector: Vector, style: TextStyle, row: number): string {
  const writer = cellWriter(vector, style);
  const out = new Uint8Array(writer.bound(row));
  return textOf(out.subarray(0, writer.write(out, 0, row)));
}
