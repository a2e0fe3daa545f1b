import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseText } from "./parse.ts";
import type { DataType, Value } from "./type.ts";
import { anyType, scalarTypes } from "./rig/values.ts";
import { zoneOf } from "./zone.ts";

const int8: DataType = { kind: "integer", bits: 8, signed: true };
const money: DataType = { kind: "decimal", precision: 6, scale: 2 };
const double: DataType = { kind: "float", bits: 64 };
const single: DataType = { kind: "float", bits: 32 };
const date: DataType = { kind: "date" };
const time: DataType = { kind: "time", unit: "us" };
const reading: DataType = { kind: "timestamp", unit: "ms", zoned: false };
const instant: DataType = { kind: "timestamp", unit: "s", zoned: true };
const interval: DataType = { kind: "interval" };
const ints: DataType = { kind: "list", item: int8 };
const texts: DataType = { kind: "list", item: { kind: "text" } };
const day = 86_400n;

describe("parseText", () => {
  it.each<[DataType, string, Value]>([
    [{ kind: "boolean" }, " TRUE ", true],
    [{ kind: "boolean" }, "off", false],
    [int8, "+127", 127n],
    [int8, " -0128 ", -128n],
    [money, "1234.5", 123_450n],
    [money, "-.5", -50n],
    [money, "1.2300", 123n],
    [money, "1e2", 10_000n],
    [money, "25e-2", 25n],
    [money, "0e999999", 0n],
    [double, "1e-7", 1e-7],
    [double, "-INF", Number.NEGATIVE_INFINITY],
    [double, ".5", 0.5],
    [{ kind: "text" }, " as it is ", " as it is "],
    [{ kind: "binary" }, "\\x0aFF", Uint8Array.of(10, 255)],
    [{ kind: "binary" }, "a\\\\b\\001é", Uint8Array.of(97, 92, 98, 1, 0xc3, 0xa9)],
    [date, "2024-02-29", 19_782n],
    [date, "0044-03-15 BC", -735_160n],
    [date, "-0043-03-15", -735_160n],
    [time, "23:59", 86_340_000_000n],
    [time, "12:00:00.5+02", 43_200_500_000n],
    [reading, "1970-01-02", day * 1000n],
    [reading, "1970-01-01T00:00:00.001", 1n],
    [reading, "1970-01-01 00:00:01+05:30", 1000n],
    [instant, "1970-01-01T01:00:00+01:00", 0n],
    [instant, "1970-01-01 00:00:00Z", 0n],
    [instant, "1970-01-01 00:00:00-08", 28_800n],
    [instant, "2024-07-01 14:00:00 Europe/Berlin", 1_719_835_200n],
    [
      interval,
      "1 year 2 mons -3 days 04:05:06.789",
      { months: 14, days: -3, nanoseconds: 14_706_789_000_000n },
    ],
    [interval, "@ 1 hour 30 min ago", { months: 0, days: 0, nanoseconds: -5_400_000_000_000n }],
    [interval, "P1Y2M3DT4H5M6.7S", { months: 14, days: 3, nanoseconds: 14_706_700_000_000n }],
    [interval, "1.5 hours", { months: 0, days: 0, nanoseconds: 5_400_000_000_000n }],
    [interval, "0.5 years", { months: 6, days: 0, nanoseconds: 0n }],
    [interval, "1-2", { months: 14, days: 0, nanoseconds: 0n }],
    [interval, "3 04:00:00", { months: 0, days: 3, nanoseconds: 14_400_000_000_000n }],
    [interval, "90", { months: 0, days: 0, nanoseconds: 90_000_000_000n }],
    [
      { kind: "uuid" },
      "{0190163D8694739BAEA5966C26F8AD91}",
      "0190163d-8694-739b-aea5-966c26f8ad91",
    ],
    [{ kind: "json" }, '{"n": 1.00000000000000000001}', '{"n": 1.00000000000000000001}'],
    [ints, " { 1 , NULL,-3 } ", [1n, null, -3n]],
    [texts, '{a b,"NULL",nuLL,"q\\"\\\\","",x\\,y}', ["a b", "NULL", null, 'q"\\', "", "x,y"]],
    [{ kind: "list", item: ints }, "{{1},{},NULL}", [[1n], [], null]],
  ])("reads %j from %j", (type, text, value) => {
    expect(parseText(type, text)).toEqual({ ok: true, value });
  });

  it.each<[DataType, string]>([
    [{ kind: "boolean" }, "maybe"],
    [int8, "1.0"],
    [int8, "0x1F"],
    [int8, ""],
    [money, "."],
    [money, "NaN"],
    [money, "1,5"],
    [double, "1e"],
    [double, "0x1p3"],
    [date, "2023-02-29"],
    [date, "2024-13-01"],
    [date, "0000-01-01 BC"],
    [date, "infinity"],
    [date, "29.02.2024"],
    [time, "24:00:01"],
    [time, "12"],
    [reading, "1970-01-01 25:00"],
    [instant, "1970-01-01 00:00:00 Mars/Olympus"],
    [interval, ""],
    [interval, "P"],
    [interval, "P1YT"],
    [interval, "1 fortnight"],
    [interval, "1 0.5 0.5"],
    [interval, "0.3 days 1"],
    [{ kind: "uuid" }, "0190163d-8694-739b-aea5-966c26f8ad9"],
    [{ kind: "json" }, "{a: 1}"],
    [{ kind: "binary" }, "\\x0"],
    [{ kind: "binary" }, "\\9"],
    [ints, "1,2"],
    [ints, "{1,}"],
    [ints, "{1,2"],
    [ints, '{"1}'],
    [ints, "{1}}"],
    [ints, "{{1}"],
    [ints, "{1\\}"],
    [{ kind: "struct", fields: [{ name: "a", type: int8 }] }, "(1,2)"],
    [{ kind: "null" }, ""],
  ])("refuses %j from %j as no text of the type", (type, text) => {
    expect(stateOf(type, text)).toBe("22P02");
  });

  it.each<[DataType, string]>([
    [int8, "128"],
    [int8, "9".repeat(900)],
    [{ kind: "integer", bits: 64, signed: false }, "-1"],
    [money, "10000"],
    [money, "1.001"],
    [money, "1e999999"],
    [money, "1e-999999"],
    [double, "1e400"],
    [double, "1e-400"],
    [single, "1e39"],
    [date, "9999999-01-01"],
    [time, "00:00:00.0000001"],
    [reading, "1970-01-01 00:00:00.0001"],
    [{ kind: "timestamp", unit: "ns", zoned: false }, "2500-01-01"],
    [interval, "200000000 years"],
    [{ kind: "list", item: int8 }, "{1,1000}"],
  ])("refuses to lose a digit of %j from %j", (type, text) => {
    expect(stateOf(type, text)).toBe("22003");
  });

  it("reads a reading without a zone in the zone it is given", () => {
    const zone = zoneOf("Europe/Berlin");
    expect(parseText(instant, "2024-07-01 14:00:00", zone)).toEqual({
      ok: true,
      value: 1_719_835_200n,
    });
  });

  it("rounds a float32 once, where the way through a double would round twice", () => {
    // 1 + 2^-24 lies between two float32; a little more must round up, a little less down.
    const half = "1.000000059604644775390625";
    expect(parseText(single, half)).toEqual({ ok: true, value: 1 });
    expect(parseText(single, `${half}0000000001`)).toEqual({ ok: true, value: 1 + 2 ** -23 });
    expect(parseText(single, "1.0000000596046447753906249999999999")).toEqual({
      ok: true,
      value: 1,
    });
  });

  it("keeps the text out of its error", () => {
    const parsed = parseText(int8, "hunter2");
    expect(JSON.stringify(parsed)).not.toContain("hunter2");
  });

  it("answers any text for any type with a value or a refusal", () => {
    const noise = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({
        unit: fc.constantFrom(...Array.from('0123456789+-.eE:TZP {}(),"\\NULLBC')),
        maxLength: 40,
      }),
    );
    const answered = fc.property(anyType, noise, (type, text) => {
      const parsed = parseText(type, text);
      expect(parsed.ok || parsed.error.code === "query.data").toBe(true);
    });
    fc.assert(answered, { numRuns: 2000 });
  });

  it("does not look at a text far longer than any value of its type", () => {
    const long = `1${" ".repeat(1_000_000)}x`;
    const short = scalarTypes.filter((type) => !["text", "binary", "json"].includes(type.kind));
    expect(new Set(short.map((type) => stateOf(type, long)))).toEqual(new Set(["22P02"]));
  });
});

function stateOf(type: DataType, text: string): string | undefined {
  const parsed = parseText(type, text);
  return parsed.ok ? undefined : parsed.error.sqlState;
}
