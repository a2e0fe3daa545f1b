/**
 * Writes text batches as DataRow frames in text format: a length before the source's own bytes. No cell is read
 * as a value, so this is only for columns whose canonical text is nearly PostgreSQL's.
 */
import { floatsAreCommon, putCell } from "@gateway/core/type/textCells.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import type { TextBatch } from "@gateway/core/type/vector.ts";
import { utc, type Zone } from "@gateway/core/type/zone.ts";
import { dataRow } from "@gateway/wire/postgres/backend.ts";
import { putInt16, putInt32, type ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import { rowHeadBytes, type RowShape, type RowWriter } from "./rows.ts";

/** How the text of a column's cells becomes PostgreSQL's. */
type Form =
  | "same"
  /** `t` or `f`. */
  | "boolean"
  /** Without the zeros at the end of its fraction. */
  | "moment"
  /** Like a timestamp, with the offset of UTC behind it. */
  | "instant"
  /** Without a fraction. */
  | "instantSecond";

/** PostgreSQL writes an exponent below 10^-4, and from 10^15 (float8) or 10^6 (float4) on. */
const plainFloats = {
  32: { wholeDigitsMax: 6, zerosMax: 3 },
  64: { wholeDigitsMax: 15, zerosMax: 3 },
} as const;
/** `+00`. */
const utcOffsetSize = 3;
/** What a cell may need beside its bytes: its length and an offset. */
const cellRoom = 4 + utcOffsetSize;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;
const letters = { t: 0x74, f: 0x66 };
const trueSize = "true".length;

/** The writer of a batch; undefined when a column is wanted in binary, or PostgreSQL writes its cells another way. */
export function textRowWriter(batch: TextBatch, shape: RowShape): RowWriter | undefined {
  const forms: Form[] = [];
  for (const [index, type] of batch.types.entries()) {
    const asText = (shape.formats[index] ?? 0) === 0;
    const form = asText ? formOf(batch, type, index, shape.zone) : undefined;
    if (form === undefined) return undefined;
    forms.push(form);
  }
  const letter = shape.letter ?? dataRow;
  return {
    rows: batch.rows,
    write: (out, first, { end, bytesMax }) => {
      let row = first;
      while (row < end) {
        writeRow(out, batch, forms, { row, letter });
        row += 1;
        if (out.length >= bytesMax) break;
      }
      return row;
    },
  };
}

function formOf(batch: TextBatch, type: DataType, column: number, zone: Zone): Form | undefined {
  switch (type.kind) {
    case "null":
    case "integer":
    case "decimal":
    case "text":
    case "json":
    case "date":
    case "uuid":
      return "same";
    case "boolean":
      return "boolean";
    case "float":
      return floatsAreCommon(batch, column, plainFloats[type.bits]) ? "same" : undefined;
    case "time":
      return type.unit === "s" ? "same" : "moment";
    case "timestamp":
      if (type.zoned && zone !== utc) return undefined;
      if (type.zoned) return type.unit === "s" ? "instantSecond" : "instant";
      return type.unit === "s" ? "same" : "moment";
    case "binary":
    case "interval":
    case "list":
    case "struct":
    case "map":
      return undefined;
  }
}

function writeRow(
  out: ByteWriter,
  batch: TextBatch,
  forms: readonly Form[],
  { row, letter }: { readonly row: number; readonly letter: number },
): void {
  const { lengths } = batch;
  const width = forms.length;
  const cell = row * width;
  let size = rowHeadBytes + width * cellRoom;
  for (let index = cell; index < cell + width; index += 1) {
    const length = lengths[index] ?? -1;
    if (length > 0) size += length;
  }
  out.room(size);
  const to = out.buffer;
  const begin = out.length;
  to[begin] = letter;
  let at = putInt16(to, begin + 5, width);
  for (let column = 0; column < width; column += 1) {
    const length = lengths[cell + column] ?? -1;
    if (length < 0) {
      at = putInt32(to, at, -1);
      continue;
    }
    const form = forms[column] ?? "same";
    const end =
      form === "boolean"
        ? putBoolean(to, at + 4, length)
        : putText(form, to, putCell(to, at + 4, batch, cell + column));
    putInt32(to, at, end - at - 4);
    at = end;
  }
  putInt32(to, begin + 1, at - begin - 1);
  out.length = at;
}

function putBoolean(to: Uint8Array, at: number, length: number): number {
  // `true` and `false` differ in length.
  to[at] = length === trueSize ? letters.t : letters.f;
  return at + 1;
}

/** Makes the text that ends at `end` PostgreSQL's; returns the offset behind it. */
function putText(form: Exclude<Form, "boolean">, to: Uint8Array, end: number): number {
  if (form === "same") return end;
  const behind = form === "instantSecond" ? end : trimmed(to, end);
  if (form === "moment") return behind;
  to[behind] = plus;
  to[behind + 1] = zero;
  to[behind + 2] = zero;
  return behind + utcOffsetSize;
}

/** The end of a reading without the zeros that end its fraction. */
function trimmed(to: Uint8Array, end: number): number {
  let at = end;
  while (to[at - 1] === zero) at -= 1;
  return to[at - 1] === point ? at - 1 : at;
}
