import { columnType } from "@gateway/wire/mysql/protocol.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { describe, expect, it } from "vitest";
import { nativeBinaryEncoder, nativeTypes } from "./nativeRows.ts";

const limits = { rowBytesMax: 1 << 20, flushBytes: 1 << 20 };

/** The cell of a binary row, behind its header, its first byte and the bitmap of one column. */
function cellOf(type: number, text: string): string {
  const written = encode([type], [[text]]);
  return Buffer.from(written.subarray(4 + 2)).toString("hex");
}

function encode(
  types: readonly number[],
  rows: readonly (readonly (string | undefined)[])[],
): Uint8Array {
  const out = new PacketWriter();
  const encoder = nativeBinaryEncoder({ bytes: textRowsOf(rows) }, types, limits);
  const done = encoder.write(0, rows.length, out);
  expect(done).toEqual({ ok: true, value: rows.length });
  return out.release();
}

describe("nativeBinaryEncoder", () => {
  it.each([
    ["tiny", "-1", "ff"],
    ["tiny", "255", "ff"],
    ["short", "-2", "feff"],
    ["year", "2024", "e807"],
    ["int24", "000042", "2a000000"],
    ["long", "4294967295", "ffffffff"],
    ["longlong", "18446744073709551615", "ffffffffffffffff"],
    ["longlong", "-9223372036854775808", "0000000000000080"],
    ["double", "-1.5e-7", "76830df4f52184be"],
    ["float", "0.5", "0000003f"],
    ["newDecimal", "-0.50", "052d302e3530"],
    ["date", "2024-02-29", "04e807021d"],
    ["date", "0000-00-00", "00"],
    ["date", "2024-00-00", "04e8070000"],
    ["datetime", "2024-02-29 00:00:00.000", "04e807021d"],
    ["datetime", "2024-02-29 23:59:01", "07e807021d173b01"],
    ["timestamp", "2024-02-29 23:59:01.5", "0be807021d173b0120a10700"],
    ["time", "00:00:00", "00"],
    ["time", "-838:59:59", "080122000000163b3b"],
    ["time", "12:34:56.000001", "0c00000000000c223801000000"],
    ["enum", "red", "03726564"],
    ["bit", "\u0001\u0005", "020105"],
    ["json", "[]", "025b5d"],
  ] as const)("writes %s %s as a binary row has it", (type, text, cell) => {
    expect(cellOf(columnType[type], text)).toBe(cell);
  });

  it("marks what is NULL, and goes on behind it", () => {
    const written = encode([columnType.long, columnType.varString], [[undefined, "x"]]);
    expect(Buffer.from(written.subarray(4)).toString("hex")).toBe("00040178");
  });

  it("refuses a text that is no value of its type, and leaves no half of its row", () => {
    const out = new PacketWriter();
    const encoder = nativeBinaryEncoder(
      { bytes: textRowsOf([["1"], ["x"]]) },
      [columnType.long],
      limits,
    );
    expect(encoder.write(0, 2, out)).toMatchObject({ ok: false, error: { code: "engine.broken" } });
    expect(out.at).toBe(4 + 2 + 4);
  });

  it("stops where the buffer is full, and goes on there", () => {
    const rows = [["1"], ["2"], ["3"]];
    const small = nativeBinaryEncoder({ bytes: textRowsOf(rows) }, [columnType.tiny], {
      ...limits,
      flushBytes: 1,
    });
    const out = new PacketWriter();
    const cells: number[] = [];
    for (let row = 0; row < 3;) {
      const done = small.write(row, 3, out);
      if (!done.ok) throw new Error(done.error.code);
      row = done.value;
      cells.push(out.release().at(-1) ?? 0);
    }
    expect(cells).toEqual([1, 2, 3]);
  });
});

describe("nativeTypes", () => {
  it("finds the types at the end of the definitions", () => {
    const out = new PacketWriter();
    for (const type of [columnType.time, columnType.set]) {
      out.begin();
      for (const part of ["def", "", "", "", "a name", ""]) out.lenencText(part);
      out.u8(12);
      out.u16(63);
      out.u32(10);
      out.u8(type);
      out.u16(0);
      out.u8(0);
      out.u16(0);
      out.end();
    }
    expect(nativeTypes(out.release())).toEqual([columnType.time, columnType.set]);
  });
});

function textRowsOf(rows: readonly (readonly (string | undefined)[])[]): Uint8Array {
  const out = new PacketWriter();
  for (const row of rows) {
    out.begin();
    for (const cell of row) {
      if (cell === undefined) out.u8(0xfb);
      else out.lenencText(cell);
    }
    out.end();
  }
  return out.release();
}
