import { columnarOf } from "@gateway/core/type/columnar.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { Value } from "@gateway/core/type/type.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutExponent } from "./floats.ts";
import { RowReader } from "./rows.ts";
import { engineTypeOf, typeOfName } from "../types.ts";

/** The values of one column, as Trino's JSON writes them. */
function valuesOf(engineType: string, cells: readonly string[]): readonly Value[] | string {
  const type = typeOfName(engineType);
  const reader = new RowReader([{ name: "c", type, nullable: true, engineType }], false);
  const bytes = Buffer.from(`[${cells.map((cell) => `[${cell}]`).join(",")}]`);
  const batch = reader.read(bytes, { start: 0, end: bytes.length });
  if (!batch.ok) return batch.error.code;
  const [column] = columnarOf(batch.value).columns;
  if (column === undefined) return "no column";
  return cells.map((_, row) => valueAt(column, row));
}

describe("RowReader", () => {
  it("fills up fractions to the digits of the unit", () => {
    expect(valuesOf("time(1)", ['"01:02:03.4"'])).toEqual([3_723_400n]);
    expect(valuesOf("timestamp(4)", ['"1970-01-01 00:00:00.0001"'])).toEqual([100n]);
    expect(valuesOf("timestamp(7)", ['"1970-01-01 00:00:01.0000001"'])).toEqual([1_000_000_100n]);
  });

  it("moves readings of any zone to UTC", () => {
    const cells = [
      '"2024-01-15 12:00:00.000 Europe/Berlin"',
      '"2024-07-15 12:00:00.000 Europe/Berlin"',
      '"2024-01-01 00:30:00.000 +05:30"',
      '"2024-01-01 00:00:00.000 UTC"',
      "null",
    ];
    expect(valuesOf("timestamp(3) with time zone", cells)).toEqual([
      BigInt(Date.UTC(2024, 0, 15, 11)),
      BigInt(Date.UTC(2024, 6, 15, 10)),
      BigInt(Date.UTC(2023, 11, 31, 19)),
      BigInt(Date.UTC(2024, 0, 1)),
      null,
    ]);
  });

  it("reads what has no canonical text as columns", () => {
    expect(valuesOf("date", ['"2024-02-29"', '"+11020-01-01"', '"-0001-12-31"'])).toEqual([
      19_782n,
      3_305_444n,
      -719_529n,
    ]);
    const zoned = ['"2024-01-01 00:00:00.000 UTC"', '"+10000-01-01 00:00:00.000 UTC"'];
    expect(valuesOf("timestamp(3) with time zone", zoned)).toEqual([
      BigInt(Date.UTC(2024, 0, 1)),
      BigInt(Date.UTC(10_000, 0, 1)),
    ]);
  });

  it("refuses a value that the neutral type does not hold, instead of another one", () => {
    expect(valuesOf("timestamp(9)", ['"2500-01-01 00:00:00.000000000"'])).toBe("query.data");
  });

  it("keeps types without a neutral one as Trino writes them", () => {
    expect(valuesOf("timestamp(12)", ['"2020-01-01 00:00:00.123456789012"'])).toEqual([
      "2020-01-01 00:00:00.123456789012",
    ]);
    expect(valuesOf("BingTile", ['{"x":1,"y":[2]}'])).toEqual(['{"x":1,"y":[2]}']);
  });

  it("reads every float exactly, whatever its exponent", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const [digits = "", exponent] = value.toExponential().split("e");
        const java = `${digits.includes(".") ? digits : `${digits}.0`}E${Number(exponent)}`;
        expect(valuesOf("double", [java])).toEqual([value + 0 === 0 ? 0 : value]);
        expect(withoutExponent(java)).toBe(String(value));
      }),
    );
    expect(valuesOf("double", ["1.0", '"NaN"', '"-Infinity"', "-0.0"])).toEqual([
      1,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
      -0,
    ]);
  });
});

describe("typeOfName", () => {
  it("reads what Trino calls its types", () => {
    expect(typeOfName("decimal(38, 10)")).toEqual({ kind: "decimal", precision: 38, scale: 10 });
    expect(typeOfName("timestamp(6) with time zone")).toEqual({
      kind: "timestamp",
      unit: "us",
      zoned: true,
    });
    expect(typeOfName("INTERVAL DAY TO SECOND")).toEqual({ kind: "interval" });
    expect(typeOfName('row(a bigint, "b ""c" varchar(3), double precision, time(3))')).toEqual({
      kind: "struct",
      fields: [
        { name: "a", type: { kind: "integer", bits: 64, signed: true } },
        { name: 'b "c', type: { kind: "text" } },
        { name: "", type: { kind: "float", bits: 64 } },
        { name: "", type: { kind: "time", unit: "ms" } },
      ],
    });
  });

  it("takes what it does not know for text", () => {
    const names = [
      "HyperLogLog",
      "ipaddress",
      "time(3) with time zone",
      "number",
      "array(",
      "",
      "x(",
    ];
    for (const name of [...names, "decimal(99, 0)", "timestamp(12)", "array(".repeat(50)]) {
      expect(typeOfName(name)).toEqual({ kind: "text" });
    }
  });

  it("reads back every name that casts are written with", () => {
    const names = [
      "boolean",
      "smallint",
      "real",
      "decimal(12, 2)",
      "varbinary",
      "time(9)",
      "timestamp(0) with time zone",
      'map(varchar, array(row("a" date, "b c" uuid)))',
    ];
    for (const name of names) expect(engineTypeOf(typeOfName(name))).toBe(name);
  });
});
