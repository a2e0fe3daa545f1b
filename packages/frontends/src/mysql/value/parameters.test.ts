import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { utc, zoneOf } from "@gateway/core/type/zone.ts";
import type { BoundValue } from "@gateway/wire/mysql/execute.ts";
import { columnType } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { charsetNamed, utf8mb4 } from "../session/charset.ts";
import { parameterOf } from "./parameters.ts";

const unknown: DataType = { kind: "null" };
const int32: DataType = { kind: "integer", bits: 32, signed: true };

describe("parameterOf", () => {
  it("gives a number the described type when it fits exactly", () => {
    expect(valueOf({ kind: "float", value: 3 }, { to: int32 })).toEqual({ type: int32, value: 3n });
    expect(valueOf({ kind: "integer", value: 3n }, { to: int32 })).toEqual({
      type: int32,
      value: 3n,
    });
    expect(valueOf({ kind: "integer", value: 1n }, { to: { kind: "boolean" } }).value).toBe(true);
  });

  it("rounds nothing: a number that does not fit keeps its own type", () => {
    expect(valueOf({ kind: "float", value: 3.5 }, { to: int32 })).toEqual({
      type: { kind: "float", bits: 64 },
      value: 3.5,
    });
    expect(valueOf({ kind: "integer", value: 1n << 40n }, { to: int32 }).type).toEqual({
      kind: "integer",
      bits: 64,
      signed: true,
    });
    expect(
      valueOf(textValue("12.345"), { to: { kind: "decimal", precision: 4, scale: 1 } }),
    ).toEqual({ type: { kind: "decimal", precision: 5, scale: 3 }, value: 12_345n });
  });

  it("parses text into the described type", () => {
    expect(valueOf(textValue("42"), { to: int32 })).toEqual({ type: int32, value: 42n });
    expect(valueOf(textValue("2024-02-29"), { to: { kind: "date" } })).toEqual({
      type: { kind: "date" },
      value: 19_782n,
    });
  });

  it("refuses text that is no date", () => {
    const parsed = parse(textValue("yesterday"), { to: { kind: "date" } });
    expect(parsed).toMatchObject({ ok: false, error: { code: "query.data" } });
  });

  it("leaves text text where the engine can not tell", () => {
    expect(valueOf(textValue("42"))).toEqual({ type: { kind: "text" }, value: "42" });
  });

  it("keeps every digit of a decimal", () => {
    const from = columnType.newDecimal;
    expect(valueOf(textValue("-0012.3400"), { from })).toEqual({
      type: { kind: "decimal", precision: 6, scale: 4 },
      value: -123_400n,
    });
    expect(valueOf(textValue("9".repeat(39)), { from }).type).toEqual({ kind: "text" });
    expect(valueOf(textValue("0"), { from })).toEqual({
      type: { kind: "decimal", precision: 1, scale: 0 },
      value: 0n,
    });
  });

  it("takes bytes that are no text only where bytes or anything may stand", () => {
    const bytes = { kind: "bytes", value: Uint8Array.of(0xff, 0) } as const;
    expect(valueOf(bytes, { to: { kind: "binary" } }).value).toEqual(Uint8Array.of(0xff, 0));
    expect(valueOf(bytes, { from: columnType.blob }).type).toEqual({ kind: "binary" });
    expect(valueOf(bytes).type).toEqual({ kind: "binary" });
    expect(parse(bytes, { to: { kind: "text" } })).toMatchObject({
      ok: false,
      error: { code: "query.parameters" },
    });
  });

  it("reads a wall clock in the session's zone where an instant is wanted", () => {
    const zone = zoneOf("+02:00") ?? utc;
    const to: DataType = { kind: "timestamp", unit: "us", zoned: true };
    const noon = datetimeOf({ year: 1970, month: 1, day: 1, hour: 12 });
    expect(valueOf(noon, { to, zone }).value).toBe(36_000_000_000n);
    expect(valueOf(noon, { zone }).value).toBe(43_200_000_000n);
  });

  it("makes a DATE of a date and a text of one where text is wanted", () => {
    const day = datetimeOf({ year: 2024, month: 2, day: 29 });
    expect(valueOf(day, { from: columnType.date })).toEqual({
      type: { kind: "date" },
      value: 19_782n,
    });
    expect(valueOf(day, { from: columnType.date, to: { kind: "text" } }).value).toBe("2024-02-29");
    expect(valueOf({ ...day, microsecond: 5 }, { to: { kind: "text" } }).value).toBe(
      "2024-02-29 00:00:00.000005",
    );
  });

  it("refuses days that are not in the calendar, the zero date included", () => {
    const days = [
      { year: 2023, month: 2, day: 29 },
      {},
      { year: 2024, month: 13, day: 1 },
      { year: 2024, month: 1, day: 1, hour: 24 },
    ];
    for (const day of days) expect(parse(datetimeOf(day)).ok).toBe(false);
  });

  it("makes an interval of a TIME that is no time of day", () => {
    const time = timeOf({ hour: 1 });
    expect(valueOf(time)).toEqual({ type: { kind: "time", unit: "us" }, value: 3_600_000_000n });
    expect(valueOf({ ...time, negative: true }).value).toEqual({
      months: 0,
      days: 0,
      nanoseconds: -3_600_000_000_000n,
    });
    expect(valueOf({ ...time, days: 2 }, { to: { kind: "text" } }).value).toBe("49:00:00");
  });

  it("gives NULL the described type", () => {
    expect(valueOf({ kind: "null" }, { to: int32 })).toEqual({ type: int32, value: null });
  });

  it("reads BIT as a number, most significant byte first", () => {
    const from = columnType.bit;
    const bits = { kind: "bytes", value: Uint8Array.of(1, 2) } as const;
    expect(valueOf(bits, { from }).value).toBe(258n);
    expect(parse({ kind: "bytes", value: new Uint8Array(9) }, { from }).ok).toBe(false);
  });

  it("reads text in the connection's character set", () => {
    const { decode } = charsetNamed("latin1") ?? utf8mb4;
    const bytes = { kind: "bytes", value: Uint8Array.of(0xe9) } as const;
    expect(valueOf(bytes, { decode }).value).toBe("é");
  });
});

interface BoundAs {
  readonly from?: number;
  readonly to?: DataType;
  readonly zone?: typeof utc;
  readonly decode?: (bytes: Uint8Array) => string | undefined;
}

function parse(value: BoundValue, bound: BoundAs = {}) {
  const { from = columnType.varString, to = unknown, zone = utc, decode = utf8mb4.decode } = bound;
  return parameterOf(value, { type: from, unsigned: false }, to, { zone, decode });
}

function valueOf(value: BoundValue, bound: BoundAs = {}): Parameter {
  const from = value.kind === "integer" ? columnType.longlong : columnType.varString;
  const parsed = parse(value, { from, ...bound });
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
}

function textValue(text: string): BoundValue {
  return { kind: "bytes", value: Buffer.from(text) };
}

const clock = { hour: 0, minute: 0, second: 0, microsecond: 0 };

function datetimeOf(parts: object): Extract<BoundValue, { kind: "datetime" }> {
  return { kind: "datetime", year: 0, month: 0, day: 0, ...clock, ...parts };
}

function timeOf(parts: object): Extract<BoundValue, { kind: "time" }> {
  return { kind: "time", negative: false, days: 0, ...clock, ...parts };
}
