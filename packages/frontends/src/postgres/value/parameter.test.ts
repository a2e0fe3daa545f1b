import { zoneOf, utc } from "@gateway/core/type/zone.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readParameter, untyped } from "./parameter.ts";
import { parameterShape, pgTypes } from "./types.ts";

describe("readParameter in text", () => {
  it.each<[number, string, DataType, Value]>([
    [23, "-42", { kind: "integer", bits: 32, signed: true }, -42n],
    [20, "9223372036854775807", { kind: "integer", bits: 64, signed: true }, 2n ** 63n - 1n],
    [16, "t", { kind: "boolean" }, true],
    [701, "1e-7", { kind: "float", bits: 64 }, 1e-7],
    [25, "a'b", { kind: "text" }, "a'b"],
    [1700, "12.50", { kind: "decimal", precision: 4, scale: 2 }, 1250n],
    [
      1231,
      "{1.5,NULL,2}",
      { kind: "list", item: { kind: "decimal", precision: 38, scale: 1 } },
      [15n, null, 20n],
    ],
    [
      1007,
      "{1,NULL,3}",
      { kind: "list", item: { kind: "integer", bits: 32, signed: true } },
      [1n, null, 3n],
    ],
    [
      1114,
      "2000-01-01 00:00:00.5",
      { kind: "timestamp", unit: "us", zoned: false },
      946_684_800_500_000n,
    ],
    [
      2950,
      "00112233-4455-6677-8899-aabbccddeeff",
      { kind: "uuid" },
      "00112233-4455-6677-8899-aabbccddeeff",
    ],
    [17, "\\x00ff", { kind: "binary" }, Uint8Array.of(0, 255)],
    [600, "(1,2)", { kind: "text" }, "(1,2)"],
    [0, "anything", { kind: "text" }, "anything"],
  ])("reads type %i from %s", (oid, text, type, value) => {
    expect(textRead(oid, text)).toEqual({ ok: true, value: { type, value } });
  });

  it.each([
    "2024-02-29",
    "2024-02-29 +00",
    "2024-02-29 -03:30",
    "2024-02-29 00:00:00Z",
    "2024-02-29T23:59:59.5+02",
    "2024-02-29Z",
  ])("reads the day of '%s', as PostgreSQL does", (text) => {
    expect(textRead(1082, text)).toEqual({
      ok: true,
      value: { type: { kind: "date" }, value: 19_782n },
    });
  });

  it("reads past nothing else behind a date", () => {
    for (const text of ["2024-02-29 x", "2024-02-29 +", "2024-02-29;1", "2024-02 +00"]) {
      expect(textRead(1082, text)).toMatchObject({ error: { sqlState: "22P02" } });
    }
  });

  it("reads an instant without an offset in the session's zone", () => {
    const zone = zoneOf("+02:00") ?? utc;
    const read = readParameter(bytesOf("2000-01-01 02:00:00"), 0, typeOf(1184), {
      number: 1,
      zone,
    });
    expect(read).toMatchObject({ ok: true, value: { value: 946_684_800_000_000n } });
  });

  it.each<[number, string, string]>([
    [23, "abc", "22P02"],
    [23, "1; drop table t", "22P02"],
    [1700, "NaN", "0A000"],
    [1700, "1".repeat(60), "22003"],
    [1700, "x", "22P02"],
    [25, "a\0b", "22021"],
    [1114, "not a time", "22P02"],
    [1082, "infinity", "0A000"],
    [1184, " -Infinity", "0A000"],
  ])("refuses type %i from %s with %s", (oid, text, sqlState) => {
    expect(textRead(oid, text)).toMatchObject({
      ok: false,
      error: { code: "query.data", sqlState },
    });
  });

  it("refuses bytes that are not UTF-8", () => {
    const read = readParameter(Uint8Array.of(0xff), 0, untyped, { number: 3, zone: utc });
    expect(read).toMatchObject({ ok: false, error: { sqlState: "22021" } });
  });

  it("keeps a NULL's type", () => {
    const read = readParameter(undefined, 0, typeOf(23), { number: 1, zone: utc });
    expect(read).toEqual({ ok: true, value: { type: typeOf(23).type, value: null } });
  });

  it("never repeats the value in the message, which reaches logs", () => {
    const read = textRead(23, "hunter2");
    expect(JSON.stringify(read)).not.toContain("hunter2");
  });
});

describe("readParameter in binary", () => {
  it("reads arrays of several dimensions", () => {
    const hex =
      "00000002 00000000 00000017 00000002 00000001 00000002 00000001" +
      "00000004 00000001 00000004 00000002 00000004 00000003 00000004 00000004";
    const int: DataType = { kind: "integer", bits: 32, signed: true };
    expect(binaryRead(1007, hex)).toEqual({
      ok: true,
      value: {
        type: { kind: "list", item: { kind: "list", item: int } },
        value: [
          [1n, 2n],
          [3n, 4n],
        ],
      },
    });
  });

  it.each([
    ["0000000a8be62608 00000000", "12:34:56.789000+00:00:00"],
    ["0000000000000000 00007080", "00:00:00.000000-08:00:00"],
    ["000000141dd76000 ffff1f01", "24:00:00.000000+15:59:59"],
  ])("reads the time with a zone of %s, which no neutral type has, as its text", (hex, value) => {
    expect(binaryRead(1266, hex)).toEqual({ ok: true, value: { type: { kind: "text" }, value } });
  });

  it("reads jsonb without its version byte and refuses another version", () => {
    expect(binaryRead(3802, "01 7b7d")).toMatchObject({
      value: { type: { kind: "json" }, value: "{}" },
    });
    expect(binaryRead(3802, "02 7b7d")).toMatchObject({ error: { sqlState: "22P03" } });
  });

  it('reads a "char" of one byte as that character, and refuses one that no text can hold', () => {
    const text = (value: string) => ({ ok: true, value: { type: { kind: "text" }, value } });
    expect(binaryRead(18, "01")).toEqual(text("\u0001"));
    expect(binaryRead(18, "61")).toEqual(text("a"));
    expect(binaryRead(18, "00")).toMatchObject({ ok: false, error: { sqlState: "22021" } });
    expect(binaryRead(18, "ff")).toMatchObject({ ok: false, error: { sqlState: "22021" } });
  });

  it.each<[number, string, string]>([
    [23, "0001", "22P03"],
    [16, "", "22P03"],
    [1266, "0000000000000000 0000e100", "22P03"],
    [1266, "0000000000000000", "22P03"],
    [1083, "ffffffffffffffff", "22P03"],
    [1114, "8000000000000000", "0A000"],
    [1114, "7fffffffffffffff", "0A000"],
    [1184, "8000000000000000", "0A000"],
    [1114, "7ffffffffffffffe", "22P03"],
    [1082, "7fffffff", "0A000"],
    [1082, "80000000", "0A000"],
    [1182, "00000001 00000000 0000043a 00000001 00000001 00000004 80000000", "0A000"],
    [1186, "7fffffffffffffff 00000000 00000000", "22P03"],
    [1007, "00000001 00000000 00000017 7fffffff 00000001", "22P03"],
    [1007, "00000007 00000000 00000017", "22P03"],
    [1007, "00000001 00000000 00000019 00000000 00000001", "22P03"],
    [1007, "00000006 00000000 00000017" + "00010000 00000001".repeat(6), "22P03"],
    [1007, "00000001 00000000 00000017 00000001 00000001 00000005 00000001", "22P03"],
    [0, "00", "42P18"],
    [600, "00", "42P18"],
    [25, "ff", "22021"],
    [1700, "0000 0000 c000 0000", "0A000"],
  ])("refuses type %i from %s with %s", (oid, hex, sqlState) => {
    expect(binaryRead(oid, hex)).toMatchObject({ ok: false, error: { sqlState } });
  });

  it("never throws, whatever type and bytes", () => {
    const types = Object.values(pgTypes).flatMap(({ oid, array }) => [oid, array]);
    const anything = fc.property(
      fc.constantFrom(...types, 0, 600),
      fc.uint8Array({ maxLength: 80 }),
      fc.constantFrom(0 as const, 1 as const),
      (oid, bytes, format) => {
        const read = readParameter(bytes, format, typeOf(oid), { number: 1, zone: utc });
        expect(read.ok ? "query.data" : read.error.code).toBe("query.data");
      },
    );
    fc.assert(anything, { numRuns: 2000 });
  });

  it("never throws on arrays with lying heads", () => {
    const head = fc.array(fc.integer({ min: -2, max: 70_000 }), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(head, (numbers) => {
        const bytes = Buffer.alloc(numbers.length * 4);
        for (const [index, number] of numbers.entries()) bytes.writeInt32BE(number, index * 4);
        bytes.writeInt32BE(23, 8);
        const read = readParameter(bytes, 1, typeOf(1007), { number: 1, zone: utc });
        expect(typeof read.ok).toBe("boolean");
      }),
    );
  });
});

function typeOf(oid: number) {
  return { oid, type: parameterShape(oid)?.type ?? untyped.type };
}

function textRead(oid: number, text: string) {
  return readParameter(bytesOf(text), 0, typeOf(oid), { number: 1, zone: utc });
}

function binaryRead(oid: number, hex: string) {
  const bytes = Buffer.from(hex.replaceAll(" ", ""), "hex");
  return readParameter(bytes, 1, typeOf(oid), { number: 1, zone: utc });
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}
