/**
 * Cells as JSON values for a model: what a double holds exactly as a number, truth as a boolean, everything else as
 * text that loses no digit. A value that is too long is cut, and says so.
 *
 * Lengths are looked at before a text is made, because one cell may have more bytes than an answer.
 */
import { cellWriter } from "@gateway/core/type/text.ts";
import { jsonText } from "@gateway/core/type/text.ts";
import type { CellWriter, TextStyle } from "@gateway/core/type/cellWriter.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";

export type Cell = string | number | boolean | null;

/** A cell, about how many bytes it takes in an answer, and whether it was cut. */
export interface ReadCell {
  readonly value: Cell;
  readonly bytes: number;
  readonly cut: boolean;
}

/** Reads the cells of one vector. `bytesMax`: a longer text is cut there. */
export type CellReader = (row: number, bytesMax: number) => ReadCell;

/** ISO 8601, so that a moment can be read without knowing the engine. */
const style: TextStyle = { ...jsonText, json: false, separator: "T", zoneSuffix: "isoOffset" };

/** A bound says what a text may take at most. Where it says more than this many times the limit, the text is not made. */
const boundFactor = 8;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const nothing: ReadCell = { value: null, bytes: 4, cut: false };

/** The reader for a vector's type. Row 0 is its first, whatever its offset. */
export function cellReader(vector: Vector): CellReader {
  const read = presentReader(vector);
  return (row, bytesMax) => (isNull(vector, row) ? nothing : read(row, bytesMax));
}

function presentReader(vector: Vector): CellReader {
  switch (vector.type.kind) {
    case "null":
      return () => nothing;
    case "boolean":
      return (row) => ({ value: valueAt(vector, row) === true, bytes: 5, cut: false });
    case "integer":
      return (row) => whole(valueAt(vector, row) as bigint);
    case "float":
      return fractions(cellWriter(vector, style));
    case "text":
    case "json":
      return texts(vector);
    case "binary":
      return binaries(vector);
    case "decimal":
    case "date":
    case "time":
    case "timestamp":
    case "interval":
    case "uuid":
    case "list":
    case "struct":
    case "map":
      return written(cellWriter(vector, style));
  }
}

function whole(value: bigint): ReadCell {
  const number = Number(value);
  const digits = String(value);
  return {
    value: Number.isSafeInteger(number) ? number : digits,
    bytes: digits.length,
    cut: false,
  };
}

/** By their shortest text: a float32 keeps the digits it has. */
function fractions(writer: CellWriter): CellReader {
  return (row) => {
    const text = textOf(writer, row);
    const number = Number(text);
    return { value: Number.isFinite(number) ? number : text, bytes: text.length, cut: false };
  };
}

function texts(vector: Vector): CellReader {
  return (row, bytesMax) => {
    const [start, end] = rangeOf(vector, row);
    const length = end - start;
    if (length <= bytesMax) {
      const value = decoder.decode(vector.values.subarray(start, end));
      return { value, bytes: length, cut: false };
    }
    // The cut may fall into a character; what is left of it is dropped.
    const head = decoder.decode(vector.values.subarray(start, start + bytesMax));
    return cutAt(head.replace(/\uFFFD$/, ""), length);
  };
}

function binaries(vector: Vector): CellReader {
  return (row, bytesMax) => {
    const [start, end] = rangeOf(vector, row);
    const length = end - start;
    // Base64 makes four characters of three bytes.
    const taken = Math.min(length, Math.floor(bytesMax / 4) * 3);
    const { buffer, byteOffset } = vector.values;
    const value = Buffer.from(buffer, byteOffset + start, taken).toString("base64");
    return taken < length ? cutAt(value, length) : { value, bytes: value.length, cut: false };
  };
}

function written(writer: CellWriter): CellReader {
  return (row, bytesMax) => {
    const bound = writer.bound(row);
    if (bound > bytesMax * boundFactor && bound > smallBound) return cutAt("", bound);
    const value = textOf(writer, row);
    return value.length > bytesMax
      ? cutAt(value.slice(0, bytesMax), value.length)
      : { value, bytes: Buffer.byteLength(value), cut: false };
  };
}

/** No scalar has more, so that a low limit cuts none. */
const smallBound = 1_024;

function cutAt(head: string, length: number): ReadCell {
  const value = `${head.toWellFormed()}… [cut here: the whole value has about ${length} bytes]`;
  return { value, bytes: Buffer.byteLength(value), cut: true };
}

function textOf(writer: CellWriter, row: number): string {
  const scratch = Buffer.allocUnsafe(writer.bound(row));
  return scratch.toString("utf8", 0, writer.write(scratch, 0, row));
}

function rangeOf(vector: Vector, row: number): readonly [start: number, end: number] {
  const index = vector.offset + row;
  const start = vector.offsets?.[index];
  const end = vector.offsets?.[index + 1];
  if (start === undefined || end === undefined)
    throw new RangeError("a vector without its offsets");
  return [start, end];
}
