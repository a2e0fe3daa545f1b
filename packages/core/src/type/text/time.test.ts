import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorOf } from "../build.ts";
import type { TextStyle } from "../cellWriter.ts";
import { cellWriter, jsonText, mysqlText, postgresText } from "../text.ts";
import type { DataType, Interval, Value } from "../type.ts";
import { textOf } from "../rig/values.ts";
import { utc, zoneOf } from "../zone.ts";

const instant = { kind: "timestamp", unit: "us", zoned: true } as const;

describe("dateWriter", () => {
  it.each([
    [0n, "1970-01-01", "1970-01-01"],
    [-719_162n, "0001-01-01", "0001-01-01"],
    [-719_163n, "0001-12-31 BC", "0000-12-31"],
    [-735_160n, "0044-03-15 BC", "-0043-03-15"],
    [2_932_896n, "9999-12-31", "9999-12-31"],
    [2_932_897n, "10000-01-01", "+10000-01-01"],
    [2_147_483_647n, "5881580-07-11", "+5881580-07-11"],
    [-2_147_483_648n, "5877642-06-23 BC", "-5877641-06-23"],
  ])("writes day %d in the years of PostgreSQL and of ISO 8601", (days, postgres, iso) => {
    const type: DataType = { kind: "date" };
    expect(written(type, days, postgresText)).toBe(postgres);
    expect(written(type, days, { ...postgresText, years: "iso" })).toBe(iso);
  });
});

describe("timeWriter", () => {
  it.each([
    ["s", 86_399n, "23:59:59", "23:59:59"],
    ["ms", 0n, "00:00:00", "00:00:00.000"],
    ["us", 1n, "00:00:00.000001", "00:00:00.000001"],
    ["ns", 86_400_000_000_000n, "24:00:00", "24:00:00.000000000"],
    ["ns", 3_661_000_000_120n, "01:01:01.00000012", "01:01:01.000000120"],
  ] as const)("writes %s %d with trimmed and with fixed digits", (unit, count, trimmed, fixed) => {
    const type: DataType = { kind: "time", unit };
    expect(written(type, count, postgresText)).toBe(trimmed);
    expect(written(type, count, mysqlText)).toBe(fixed);
  });
});

describe("timestampWriter", () => {
  it("writes every int64 of every unit to the last digit", () => {
    const unit = fc.constantFrom("s", "ms", "us", "ns");
    const exact = fc.property(unit, fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (each, count) => {
      const text = written({ kind: "timestamp", unit: each, zoned: false }, count, mysqlText);
      const perSecond = { s: 1n, ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n }[each];
      const fraction = ((count % perSecond) + perSecond) % perSecond;
      const seconds = ((((count - fraction) / perSecond) % 60n) + 60n) % 60n;
      const digits = String(perSecond).length - 1;
      const behind = digits === 0 ? "" : `.${String(fraction).padStart(digits, "0")}`;
      expect(text.endsWith(`:${String(seconds).padStart(2, "0")}${behind}`)).toBe(true);
    });
    fc.assert(exact, { numRuns: 500 });
  });

  it("agrees with the runtime's calendar", () => {
    const millis = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
    const agrees = fc.property(millis, (count) => {
      const iso = { ...mysqlText, separator: "T" } as const;
      const type: DataType = { kind: "timestamp", unit: "ms", zoned: false };
      expect(`${written(type, BigInt(count), iso)}Z`).toBe(new Date(count).toISOString());
    });
    fc.assert(agrees, { numRuns: 500 });
  });

  it.each([
    ["offset", "2024-07-01 14:00:00+02"],
    ["isoOffset", "2024-07-01 14:00:00+02:00"],
    ["name", "2024-07-01 14:00:00 Europe/Berlin"],
    ["none", "2024-07-01 14:00:00"],
  ] as const)("shows an instant in the zone of the style, with the suffix %s", (suffix, text) => {
    const style = { ...postgresText, zone: zoneOf("Europe/Berlin") ?? utc, zoneSuffix: suffix };
    expect(written(instant, 1_719_835_200_000_000n, style)).toBe(text);
  });

  it.each([
    ["+05:30", "1970-01-01 05:30:00+05:30"],
    ["-00:44:30", "1969-12-31 23:15:30-00:44:30"],
    ["UTC", "1970-01-01 00:00:00+00"],
  ])("moves the epoch into %s over the border of a day", (name, text) => {
    expect(written(instant, 0n, { ...postgresText, zone: zoneOf(name) ?? utc })).toBe(text);
  });

  it("writes UTC in ISO form as Z", () => {
    expect(written(instant, 0n, { ...postgresText, zoneSuffix: "isoOffset", separator: "T" })).toBe(
      "1970-01-01T00:00:00Z",
    );
  });

  it("never moves a wall-clock reading, and gives it no zone", () => {
    const style = { ...postgresText, zone: zoneOf("Asia/Tokyo") ?? utc };
    expect(written({ ...instant, zoned: false }, 0n, style)).toBe("1970-01-01 00:00:00");
  });

  it("puts the era behind the zone", () => {
    expect(written(instant, -62_167_219_200_000_001n, postgresText)).toBe(
      "0002-12-31 23:59:59.999999+00 BC",
    );
  });
});

describe("intervalWriter", () => {
  it.each([
    [of(14, 3, 14_706_789_000_000n), "1 year 2 mons 3 days 04:05:06.789", "P1Y2M3DT4H5M6.789S"],
    [of(0, 0, 0n), "00:00:00", "PT0S"],
    [of(-14, 3, -14_706_000_000_000n), "-1 years -2 mons +3 days -04:05:06", "P-1Y-2M3DT-4H-5M-6S"],
    [of(0, -1, 1n), "-1 days +00:00:00.000000001", "P-1DT0.000000001S"],
    [of(1, 0, 0n), "1 mon", "P1M"],
    [of(0, 0, 360_000_000_000_000_000n), "100000:00:00", "PT100000H"],
  ])("writes %o as PostgreSQL and ISO 8601 do", (value, postgres, iso) => {
    expect(written({ kind: "interval" }, value, postgresText)).toBe(postgres);
    expect(written({ kind: "interval" }, value, jsonText)).toBe(`"${iso}"`);
  });

  it.each([
    [26, 0, 0n, "2-2"],
    [-26, 0, 0n, "-2-2"],
    [0, 3, 14_706_789_000_000n, "3 04:05:06.789"],
    [0, 0, -1_000_000_000n, "-0 00:00:01"],
    [1, 1, 0n, "P1M1D"],
  ])("writes %d months, %d days, %d ns as Trino does", (months, days, nanoseconds, text) => {
    const style = { ...postgresText, intervals: "trino" } as const;
    expect(written({ kind: "interval" }, { months, days, nanoseconds }, style)).toBe(text);
  });
});

function of(months: number, days: number, nanoseconds: bigint): Interval {
  return { months, days, nanoseconds };
}

function written(type: DataType, value: Value, style: TextStyle): string {
  const writer = cellWriter(vectorOf(type, [value]), style);
  const out = new Uint8Array(writer.bound(0));
  return textOf(out.subarray(0, writer.write(out, 0, 0)));
}
