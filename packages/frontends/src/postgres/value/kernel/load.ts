/** How each column is handed over to the kernel, and the cells of some rows of it. */
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { utc } from "@gateway/core/type/zone.ts";
import type { RowShape } from "../rows.ts";
import {
  cellBytes,
  cellsAt,
  columnsMax,
  entriesAt,
  entry,
  kinds,
  nothingAt,
  pieceRowsMax,
  textBytes,
  textsAt,
  type Kind,
} from "./layout.ts";

/** A column as the kernel is told of it. */
export interface KernelColumn {
  readonly kind: Kind;
  readonly vector: Vector;
  /** Bytes of a value; 0: a bitmap, or texts. */
  readonly width: number;
  readonly digits: number;
  readonly zoned: boolean;
}

/** Bytes that a column may need beside its values: bitmaps, one more offset, and the start at a word. */
const columnRoom = pieceRowsMax / 8 + 32;
const wordMask = 7;

/** Undefined when a column has to be written by plain code. */
export function kernelColumns(
  { columns }: ColumnarBatch,
  shape: RowShape,
): readonly KernelColumn[] | undefined {
  if (columns.length > columnsMax) return undefined;
  const found: KernelColumn[] = [];
  for (const [index, vector] of columns.entries()) {
    const form = (shape.formats[index] ?? 0) === 0 ? formOf(vector.type, shape) : undefined;
    if (form === undefined) return undefined;
    found.push({ ...form, vector });
  }
  return found;
}

/** So many rows of these columns are handed over at once, unless their texts are long. */
export function pieceRows(columns: readonly KernelColumn[]): number {
  const fixed = columns.reduce((sum, { kind, width }) => sum + (kind === "text" ? 4 : width), 0);
  const room = cellBytes - columns.length * columnRoom;
  return Math.max(1, Math.min(pieceRowsMax, Math.floor(room / Math.max(1, fixed))));
}

const integerKinds = {
  8: { signed: "byte", unsigned: "byteUnsigned", width: 1 },
  16: { signed: "short", unsigned: "shortUnsigned", width: 2 },
  32: { signed: "int", unsigned: "intUnsigned", width: 4 },
  64: { signed: "long", unsigned: "longUnsigned", width: 8 },
} as const;

type Form = Omit<KernelColumn, "vector">;

function formOf(type: DataType, { zone }: RowShape): Form | undefined {
  const plain = { digits: 0, zoned: false };
  switch (type.kind) {
    case "null":
      return { ...plain, kind: "null", width: 0 };
    case "boolean":
      return { ...plain, kind: "boolean", width: 0 };
    case "integer": {
      if (type.bits === 128) {
        return type.signed ? { ...plain, kind: "decimal", width: 16 } : undefined;
      }
      const { signed, unsigned, width } = integerKinds[type.bits];
      return { ...plain, kind: type.signed ? signed : unsigned, width };
    }
    case "float":
      return type.bits === 64 ? { ...plain, kind: "double", width: 8 } : undefined;
    case "decimal": {
      // Ten to the power of the scale has to fit 64 bits.
      if (type.scale > 18) return undefined;
      return { kind: "decimal", width: 16, digits: type.scale, zoned: false };
    }
    case "text":
    case "json":
      return { ...plain, kind: "text", width: 0 };
    case "date":
      return { ...plain, kind: "date", width: 4 };
    case "timestamp": {
      const { zoned, unit } = type;
      if (zoned && zone !== utc) return undefined;
      return { kind: "timestamp", width: 8, digits: fractionDigits[unit], zoned };
    }
    case "binary":
    case "time":
    case "interval":
    case "uuid":
    case "list":
    case "struct":
    case "map":
      return undefined;
  }
}

/** The kernel's memory, as it is written to. */
export interface KernelMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Hands over at most `most` rows from `first` on; answers how many, 0 when the texts of one are too long. */
export function loadPiece(
  { bytes, view }: KernelMemory,
  columns: readonly KernelColumn[],
  first: number,
  most: number,
): number {
  let count = most;
  while (count > 0 && textsOf(columns, first, count) > textBytes) count >>= 1;
  let at = cellsAt;
  let textAt = textsAt;
  const keep = (part: Uint8Array): number => {
    const start = at;
    bytes.set(part, start);
    at = (start + part.length + wordMask) & ~wordMask;
    return start;
  };
  for (const [index, { kind, vector, width, digits, zoned }] of columns.entries()) {
    const base = entriesAt + index * entry.bytes;
    const { values, validity, offset } = vector;
    const from = offset + first;
    const bitmap = (bits: Uint8Array): number =>
      keep(bits.subarray(from >> 3, (from + count + wordMask) >> 3));
    view.setInt32(base + entry.kind, kinds[kind], true);
    view.setInt32(base + entry.bit, from & wordMask, true);
    const present = validity === undefined ? 0 : bitmap(validity);
    view.setInt32(base + entry.validity, kind === "null" ? nothingAt : present, true);
    view.setInt32(base + entry.zoned, zoned ? 1 : 0, true);
    if (kind === "text") {
      const offsets = (vector.offsets ?? none).subarray(from, from + count + 1);
      const begin = offsets[0] ?? 0;
      const text = values.subarray(begin, offsets[count] ?? begin);
      bytes.set(text, textAt);
      view.setInt32(base + entry.values, textAt - begin, true);
      view.setInt32(base + entry.digits, keep(bytesOf(offsets)), true);
      textAt += text.length;
      continue;
    }
    const own =
      kind === "boolean"
        ? bitmap(values)
        : keep(values.subarray(from * width, (from + count) * width));
    view.setInt32(base + entry.values, own, true);
    view.setInt32(base + entry.digits, digits, true);
    view.setBigInt64(base + entry.power, powers[digits] ?? 1n, true);
  }
  return count;
}

const none = new Int32Array(1);
const powers: readonly bigint[] = Array.from({ length: 19 }, (_, digits) => 10n ** BigInt(digits));

function textsOf(columns: readonly KernelColumn[], first: number, count: number): number {
  let sum = 0;
  for (const { kind, vector } of columns) {
    if (kind !== "text") continue;
    const { offsets, offset } = vector;
    const from = offset + first;
    sum += (offsets?.[from + count] ?? 0) - (offsets?.[from] ?? 0);
  }
  return sum;
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
