import { batchOf, columnOf, vectorOf } from "@gateway/core/type/build.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { utc, zoneOf } from "@gateway/core/type/zone.ts";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { PacketReader } from "@gateway/wire/mysql/packetReader.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowEncoder, type RowFormat } from "./rows.ts";

const int32 = { kind: "integer", bits: 32, signed: true } as const;
const text = { kind: "text" } as const;

describe("rowEncoder", () => {
  it("writes a text row as lengths and texts, NULL as its own mark", () => {
    const batch = batchOf(
      [columnOf("a", int32), columnOf("b", text)],
      [
        [-7n, "é"],
        [null, ""],
      ],
    );
    expect(rowsOf(batch, "text")).toEqual(["022d3702c3a9", "fb00"]);
  });

  it("writes a binary row as a bitmap and values", () => {
    const columns = [columnOf("a", int32), columnOf("b", text), columnOf("c", { kind: "boolean" })];
    const batch = batchOf(columns, [
      [1n, "x", true],
      [null, null, false],
    ]);
    expect(rowsOf(batch, "binary")).toEqual(["000001000000017801", "000c00"]);
  });

  it("writes every fixed-width type of a binary row in its own width", () => {
    const cell = (type: DataType, value: Value) =>
      rowsOf(batchOf([columnOf("a", type)], [[value]]), "binary")[0]?.slice(4);
    expect(cell({ kind: "integer", bits: 8, signed: true }, -1n)).toBe("ff");
    expect(cell({ kind: "integer", bits: 16, signed: false }, 65_535n)).toBe("ffff");
    expect(cell({ kind: "integer", bits: 64, signed: true }, -2n)).toBe("feffffffffffffff");
    expect(cell({ kind: "float", bits: 32 }, 1.5)).toBe("0000c03f");
    expect(cell({ kind: "float", bits: 64 }, 1.5)).toBe("000000000000f83f");
    expect(cell({ kind: "date" }, 0n)).toBe("04b2070101");
    expect(cell({ kind: "time", unit: "ms" }, 3_661_001n)).toBe("0c0000000000010101e8030000");
    expect(cell({ kind: "integer", bits: 128, signed: true }, 5n)).toBe("0135");
    expect(cell({ kind: "decimal", precision: 5, scale: 2 }, -123n)).toBe("052d312e3233");
    expect(cell({ kind: "null" }, null)).toBe("");
  });

  it("shows instants in the session's zone and leaves wall clocks alone", () => {
    const zone = zoneOf("Europe/Berlin") ?? utc;
    const at = 1_709_210_096_500_000n;
    const types = [true, false].map((zoned) => ({ kind: "timestamp", unit: "us", zoned }) as const);
    const columns = types.map((type, index) => columnOf(String(index), type));
    const batch = batchOf(columns, [[at, at]]);
    const [texts] = rowsOf(batch, "text", { zone });
    expect(Buffer.from(texts ?? "", "hex").toString("latin1")).toBe(
      "\u001a2024-02-29 13:34:56.500000\u001a2024-02-29 12:34:56.500000",
    );
    const [binary] = rowsOf(batch, "binary", { zone });
    expect(binary?.slice(4)).toBe("0be807021d0d223820a107000be807021d0c223820a10700");
  });

  it("keeps every microsecond of years whose counts leave the exact range of a number", () => {
    const type = { kind: "timestamp", unit: "us", zoned: false } as const;
    const last = 253_402_300_799_999_999n;
    const batch = batchOf([columnOf("a", type)], [[last], [-1n], [-9_007_199_254_740_993n]]);
    expect(rowsOf(batch, "binary").map((row) => row.slice(4))).toEqual([
      "0b0f270c1f173b3b3f420f00",
      "0bb1070c1f173b3b3f420f00",
      // 1684-07-28 00:12:25.259007
      "0b9406071c000c19bff30300",
    ]);
  });

  it("refuses a date that a binary row can not hold, and keeps the rows before it whole", () => {
    const batch = batchOf([columnOf("a", { kind: "date" })], [[0n], [2_932_897n]]);
    const out = new PacketWriter();
    const written = rowEncoder(batch, formatOf("binary")).write(0, 2, out);
    expect(written).toMatchObject({ ok: false, error: { code: "query.data" } });
    expect(packetsOf(out)).toEqual(["000004b2070101"]);
    expect(rowsOf(batch, "text")).toHaveLength(2);
  });

  it("refuses a row over the limit before it makes room for it", () => {
    const batch = batchOf([columnOf("a", text)], [["x".repeat(50_000)]]);
    const out = new PacketWriter();
    const encoder = rowEncoder(batch, { ...formatOf("text"), rowBytesMax: 10_000 });
    expect(encoder.write(0, 1, out)).toMatchObject({ error: { code: "protocol.tooLarge" } });
    expect(out.bytes.length).toBeLessThan(10_000);
  });

  it("stops when the buffer is full and goes on where it stopped", () => {
    const values = Array.from({ length: 100 }, (_, row) => [BigInt(row)]);
    const batch = batchOf([columnOf("a", int32)], values);
    const encoder = rowEncoder(batch, { ...formatOf("text"), flushBytes: 64 });
    const seen: string[] = [];
    let row = 0;
    for (let turns = 0; row < 100; turns += 1) {
      const out = new PacketWriter();
      const written = encoder.write(row, 100, out);
      expect(written.ok).toBe(true);
      row = written.ok ? written.value : 100;
      seen.push(...packetsOf(out));
      expect(turns).toBeLessThan(100);
    }
    expect(seen.map((hex) => Buffer.from(hex.slice(2), "hex").toString())).toEqual(
      values.map(([value]) => String(value)),
    );
  });

  it("reads vectors that begin in the middle of their buffers", () => {
    const whole = vectorOf(text, ["a", null, "ccc", "dd"]);
    const batch: ColumnarBatch = {
      form: "columnar",
      rows: 2,
      columns: [{ ...whole, offset: 1, length: 2 }],
    };
    expect(rowsOf(batch, "text")).toEqual(["fb", "03636363"]);
    expect(rowsOf(batch, "binary")).toEqual(["0004", "000003636363"]);
  });

  it("gives back any text, of any length, in both formats", () => {
    const cell = fc.option(fc.string({ unit: "grapheme", maxLength: 300 }), { nil: null });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 20 }), (cells) => {
        const batch = batchOf(
          cells.map((_, index) => columnOf(String(index), text)),
          [cells],
        );
        expect(readText(rowsOf(batch, "text")[0] ?? "", cells.length)).toEqual(cells);
        expect(readBinaryText(rowsOf(batch, "binary")[0] ?? "", cells.length)).toEqual(cells);
      }),
    );
  });
});

function formatOf(kind: RowFormat["kind"], more: Partial<RowFormat> = {}): RowFormat {
  return { kind, zone: utc, rowBytesMax: 1 << 20, flushBytes: 1 << 20, ...more };
}

/** Payloads of all rows, as digits. */
function rowsOf(
  batch: ColumnarBatch,
  kind: RowFormat["kind"],
  more: Partial<RowFormat> = {},
): readonly string[] {
  const out = new PacketWriter();
  const written = rowEncoder(batch, formatOf(kind, more)).write(0, batch.rows, out);
  expect(written).toEqual({ ok: true, value: batch.rows });
  return packetsOf(out);
}

function packetsOf(out: PacketWriter): readonly string[] {
  const reader = new PacketReader(1 << 20);
  reader.push(out.written());
  const packets: string[] = [];
  for (let step = reader.next(); step.kind === "packet"; step = reader.next()) {
    packets.push(Buffer.from(step.payload).toString("hex"));
  }
  return packets;
}

function readText(hex: string, columns: number): readonly (string | null)[] {
  const reader = new ByteReader(Buffer.from(hex, "hex"));
  return Array.from({ length: columns }, () => {
    if (reader.bytes[reader.at] !== 0xfb) return Buffer.from(reader.lenencBytes()).toString();
    reader.u8();
    return null;
  });
}

function readBinaryText(hex: string, columns: number): readonly (string | null)[] {
  const reader = new ByteReader(Buffer.from(hex, "hex"), 1);
  const nulls = reader.take((columns + 9) >> 3);
  return Array.from({ length: columns }, (_, index) => {
    const bit = index + 2;
    if (((nulls[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0) return null;
    return Buffer.from(reader.lenencBytes()).toString();
  });
}
