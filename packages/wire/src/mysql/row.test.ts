import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExecute } from "./execute.ts";
import { lenencBytes } from "./packetWriter.ts";
import { columnType } from "./protocol.ts";
import { binaryNullBytes, markNull, prefixCell, putDate, putTime } from "./row.ts";

const dayMs = 86_400_000;
const dayMicros = 86_400_000_000;

describe("markNull", () => {
  it("counts from the third bit", () => {
    const out = new Uint8Array(3);
    for (const column of [0, 5, 6, 14]) markNull(out, 0, column);
    expect([...out]).toEqual([0b1000_0100, 0b0000_0001, 0b0000_0001]);
    expect([binaryNullBytes(6), binaryNullBytes(7), binaryNullBytes(15)]).toEqual([1, 2, 3]);
  });
});

describe("prefixCell", () => {
  it("puts the right length in front whatever was guessed", () => {
    const length = fc.oneof(fc.nat(600), fc.constantFrom(250, 251, 65_535, 65_536));
    const guess = fc.constantFrom(0, 250, 251, 65_535, 65_536, 1 << 24);
    fc.assert(
      fc.property(length, guess, (bytes, guessed) => {
        const out = new Uint8Array(bytes + 20);
        const start = 3 + lenencBytes(guessed);
        for (let at = 0; at < bytes; at += 1) out[start + at] = at + 1;
        const end = prefixCell(out, 3, guessed, start + bytes);
        const cell = out.subarray(3 + lenencBytes(bytes), end);
        expect(cell.length).toBe(bytes);
        expect(cell.every((byte, at) => byte === ((at + 1) & 0xff))).toBe(true);
      }),
    );
  });
});

describe("putDate", () => {
  it("agrees with the calendar for every day of the years 0 to 9999", () => {
    const first = Date.parse("0000-01-01T00:00:00Z") / dayMs;
    const days = fc.integer({ min: first, max: Date.UTC(9999, 11, 31) / dayMs });
    fc.assert(
      fc.property(days, fc.nat(dayMicros - 1), (day, micros) => {
        const out = new Uint8Array(12);
        const end = putDate(out, 0, day, micros);
        const date = new Date(day * dayMs + Math.floor(micros / 1000));
        expect(readBack(columnType.datetime, out.subarray(0, end))).toEqual({
          kind: "datetime",
          year: date.getUTCFullYear(),
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
          hour: date.getUTCHours(),
          minute: date.getUTCMinutes(),
          second: date.getUTCSeconds(),
          microsecond: micros % 1_000_000,
        });
      }),
    );
  });

  it("leaves a midnight and whole seconds out", () => {
    const out = new Uint8Array(12);
    expect(putDate(out, 0, 0)).toBe(5);
    expect(putDate(out, 0, 0, 1_000_000)).toBe(8);
    expect(putDate(out, 0, 0, 1)).toBe(12);
  });

  it("refuses years that no client can read", () => {
    const out = new Uint8Array(12);
    expect(putDate(out, 0, Date.UTC(9999, 11, 31) / dayMs)).toBe(5);
    expect(putDate(out, 0, Date.UTC(10_000, 0, 1) / dayMs)).toBe(-1);
    expect(putDate(out, 0, -719_529)).toBe(-1);
    expect(putDate(out, 0, 0x7fffffff)).toBe(-1);
  });
});

describe("putTime", () => {
  it("reads back as the same time, negative and over a day included", () => {
    const micros = fc.integer({ min: -35 * dayMicros, max: 35 * dayMicros });
    fc.assert(
      fc.property(micros, (count) => {
        const out = new Uint8Array(13);
        const read = readBack(columnType.time, out.subarray(0, putTime(out, 0, count)));
        if (read?.kind !== "time") throw new Error("not a time");
        const seconds = ((read.days * 24 + read.hour) * 60 + read.minute) * 60 + read.second;
        const size = seconds * 1_000_000 + read.microsecond;
        expect(read.negative ? -size : size).toBe(count === 0 ? 0 : count);
      }),
    );
  });
});

/** What the parser of parameters, which have the same form, makes of it. */
function readBack(type: number, value: Uint8Array) {
  const body = Uint8Array.from([0, 1, type, 0, ...value]);
  const parsed = parseExecute(body, { parameters: 1, types: undefined, longData: new Map() });
  return parsed.kind === "parameters" ? parsed.values[0] : undefined;
}
