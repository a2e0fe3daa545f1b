/** Text of integers of every width. */
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import type { DataType } from "../type.ts";
import type { Vector } from "../vector.ts";
import { minus, putLong, putNumber, putWide, quote } from "./digits.ts";

type Integer = Extract<DataType, { kind: "integer" }>;

/** Writer of an integer vector. */
export function integerWriter(vector: Vector, type: Integer, style: TextStyle): CellWriter {
  const quoted = style.json && style.wideNumbers === "string";
  switch (type.bits) {
    case 8:
    case 16:
    case 32:
      return smallWriter(vector, type.bits, type.signed);
    case 64:
      return longWriter(vector, type.signed, quoted && !type.signed);
    case 128:
      return wideWriter(vector, type.signed, quoted);
  }
}

/** A view of the vector's fixed-width cells from its first row on. */
export function cellsOf(vector: Vector, width: number): DataView {
  const { values, offset, length } = vector;
  return new DataView(values.buffer, values.byteOffset + offset * width, length * width);
}

function smallWriter(vector: Vector, bits: 8 | 16 | 32, signed: boolean): CellWriter {
  const cells = cellsOf(vector, bits / 8);
  const read = (row: number): number => {
    if (bits === 32) return signed ? cells.getInt32(row * 4, true) : cells.getUint32(row * 4, true);
    if (bits === 16) return signed ? cells.getInt16(row * 2, true) : cells.getUint16(row * 2, true);
    return signed ? cells.getInt8(row) : cells.getUint8(row);
  };
  return {
    bound: () => 11,
    write: (out, at, row) => {
      const value = read(row);
      if (value >= 0) return putNumber(out, at, value);
      out[at] = minus;
      return putNumber(out, at + 1, -value);
    },
  };
}

function longWriter(vector: Vector, signed: boolean, quoted: boolean): CellWriter {
  const cells = cellsOf(vector, 8);
  const put = (out: Uint8Array, at: number, row: number): number => {
    const low = cells.getUint32(row * 8, true);
    const high = cells.getUint32(row * 8 + 4, true);
    if (!signed || high < 0x80000000) return putLong(out, at, high, low);
    out[at] = minus;
    // Two's complement: the carry reaches the high word only when the low one is zero.
    const flipped = ~high >>> 0;
    return low === 0
      ? putLong(out, at + 1, flipped + 1, 0)
      : putLong(out, at + 1, flipped, -low >>> 0);
  };
  return quoted ? quotedWriter(22, put) : { bound: () => 20, write: put };
}

function wideWriter(vector: Vector, signed: boolean, quoted: boolean): CellWriter {
  const cells = cellsOf(vector, 16);
  const put = (out: Uint8Array, at: number, row: number): number =>
    putCell128(out, at, cells, { at: row * 16, signed });
  return quoted ? quotedWriter(42, put) : { bound: () => 40, write: put };
}

/** Words of the number being written, least significant first. */
const words = new Uint32Array(4);

/** An integer of 16 bytes in two's complement or unsigned, with its sign. At most 40 bytes. */
export function putCell128(
  out: Uint8Array,
  at: number,
  cells: DataView,
  cell: { readonly at: number; readonly signed: boolean },
): number {
  const w0 = cells.getUint32(cell.at, true);
  const w1 = cells.getUint32(cell.at + 4, true);
  const w2 = cells.getUint32(cell.at + 8, true);
  const w3 = cells.getUint32(cell.at + 12, true);
  if (!cell.signed || w3 < 0x80000000) {
    words[0] = w0;
    words[1] = w1;
    words[2] = w2;
    words[3] = w3;
    return putWide(out, at, words);
  }
  out[at] = minus;
  // Negation: words are flipped, and one is added from the low end as long as words are zero.
  words[0] = -w0;
  words[1] = w0 === 0 ? -w1 : ~w1;
  words[2] = (w0 | w1) === 0 ? -w2 : ~w2;
  words[3] = (w0 | w1 | w2) === 0 ? -w3 : ~w3;
  return putWide(out, at + 1, words);
}

/** A writer whose cells stand between double quotes and need no escape. */
export function quotedWriter(bound: number, put: CellWriter["write"]): CellWriter {
  return {
    bound: () => bound,
    write: (out, at, row) => {
      out[at] = quote;
      const end = put(out, at + 1, row);
      out[end] = quote;
      return end + 1;
    },
  };
}
