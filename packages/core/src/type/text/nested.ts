/**
 * Text of lists, structs and maps: PostgreSQL's literals or JSON.
 *
 * The writers of the parts are made once per vector by the caller's `cellWriter`, so that a nested
 * cell costs no more objects than its parts do.
 */
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import type { DataType } from "../type.ts";
import { isNull, type Vector } from "../vector.ts";
import { escapeMax, putEscaped } from "./bytes.ts";
import { putAscii, quote } from "./digits.ts";

/** `cellWriter` of text.ts, passed in because that module calls this one. */
export type MakeWriter = (vector: Vector, style: TextStyle) => CellWriter;

type Nested = Extract<DataType, { kind: "list" | "struct" | "map" }>;

const backslash = 0x5c;
const comma = 0x2c;
const encoder = new TextEncoder();

/** Writer of a list, struct or map vector. */
export function nestedWriter(
  vector: Vector,
  type: Nested,
  style: TextStyle,
  make: MakeWriter,
): CellWriter {
  if (style.json || style.nested === "json") {
    const inside: TextStyle = { ...style, json: true, nested: "json" };
    return jsonNested(vector, type, inside, make);
  }
  switch (type.kind) {
    case "list":
      return arrayWriter(vector, childOf(vector, 0), style, make);
    case "struct":
      return recordWriter(vector, style, make);
    case "map":
      return arrayWriter(vector, entriesOf(vector, type), style, make);
  }
}

function jsonNested(vector: Vector, type: Nested, style: TextStyle, make: MakeWriter): CellWriter {
  switch (type.kind) {
    case "list":
      return sequenceWriter(vector, jsonPart(childOf(vector, 0), style, make), "[]");
    case "map":
      return sequenceWriter(vector, jsonEntry(vector, style, make), "{}");
    case "struct": {
      const named = style.structs === "object";
      const names = type.fields.map((field) => (named ? `${JSON.stringify(field.name)}:` : ""));
      const parts = vector.children.map((child) => jsonPart(child, style, make));
      return tupleWriter(vector, parts, named ? "{}" : "[]", names);
    }
  }
}

function childOf(vector: Vector, index: number): Vector {
  const child = vector.children[index];
  if (child === undefined) throw new RangeError("a nested vector without its children");
  return child;
}

/** The pairs of a map as structs of key and value. */
function entriesOf(vector: Vector, type: Extract<Nested, { kind: "map" }>): Vector {
  const keys = childOf(vector, 0);
  return {
    type: {
      kind: "struct",
      fields: [
        { name: "key", type: type.key },
        { name: "value", type: type.value },
      ],
    },
    length: keys.length,
    offset: 0,
    validity: undefined,
    values: new Uint8Array(0),
    offsets: undefined,
    children: vector.children,
  };
}

/** A writer of the parts of a nested cell, which also writes their NULLs. */
function jsonPart(vector: Vector, style: TextStyle, make: MakeWriter): CellWriter {
  const writer = make(vector, style);
  return {
    bound: (row) => (isNull(vector, row) ? 4 : writer.bound(row)),
    write: (out, at, row) =>
      isNull(vector, row) ? putAscii(out, at, "null") : writer.write(out, at, row),
  };
}

/** `"key":value`. A key that is no JSON string by itself becomes the string of its JSON text. */
function jsonEntry(vector: Vector, style: TextStyle, make: MakeWriter): CellWriter {
  const keys = jsonPart(childOf(vector, 0), style, make);
  const values = jsonPart(childOf(vector, 1), style, make);
  const scratch = scratchOf();
  return {
    // Worst case of a key: every byte of its text is escaped, and quotes and colon around it.
    bound: (row) => keys.bound(row) * escapeMax + 3 + values.bound(row),
    write: (out, at, row) => {
      let end = keys.write(out, at, row);
      if (out[at] !== quote) {
        const text = scratch.room(end - at);
        text.set(out.subarray(at, end));
        end = putEscaped(out, at, text, [0, end - at]);
      }
      out[end] = 0x3a;
      return values.write(out, end + 1, row);
    },
  };
}

/** Parts by the vector's offsets, with commas between and a bracket at each end. */
function sequenceWriter(vector: Vector, part: CellWriter, brackets: "[]" | "{}"): CellWriter {
  const offsets = vector.offsets ?? new Int32Array(1);
  const first = vector.offset;
  const open = brackets.charCodeAt(0);
  const close = brackets.charCodeAt(1);
  return {
    bound: (row) => {
      const stop = offsets[first + row + 1] ?? 0;
      let bound = 2;
      for (let item = offsets[first + row] ?? 0; item < stop; item += 1) {
        bound += part.bound(item) + 1;
      }
      return bound;
    },
    write: (out, at, row) => {
      const start = offsets[first + row] ?? 0;
      const stop = offsets[first + row + 1] ?? 0;
      out[at] = open;
      let end = at + 1;
      for (let item = start; item < stop; item += 1) {
        if (item > start) {
          out[end] = comma;
          end += 1;
        }
        end = part.write(out, end, item);
      }
      out[end] = close;
      return end + 1;
    },
  };
}

/** One part of each child at the same row, each behind its name, with a bracket at each end. */
function tupleWriter(
  vector: Vector,
  parts: readonly CellWriter[],
  brackets: "[]" | "{}" | "()",
  names: readonly string[],
): CellWriter {
  const first = vector.offset;
  const heads = names.map((name, index) => encoder.encode(index === 0 ? name : `,${name}`));
  const around = heads.reduce((sum, head) => sum + head.length, 2);
  const open = brackets.charCodeAt(0);
  const close = brackets.charCodeAt(1);
  return {
    bound: (row) => parts.reduce((sum, part) => sum + part.bound(first + row), around),
    write: (out, at, row) => {
      out[at] = open;
      let end = at + 1;
      for (const [index, part] of parts.entries()) {
        const head = heads[index];
        if (head !== undefined) {
          out.set(head, end);
          end += head.length;
        }
        end = part.write(out, end, first + row);
      }
      out[end] = close;
      return end + 1;
    },
  };
}

function arrayWriter(
  vector: Vector,
  items: Vector,
  style: TextStyle,
  make: MakeWriter,
): CellWriter {
  // An array inside an array is another dimension and stands without quotes.
  const dimension = items.type.kind === "list" || items.type.kind === "map";
  const writer = make(items, style);
  const written = dimension ? writer : quotedPart(writer, needsArrayQuotes, putArrayQuoted);
  const part: CellWriter = {
    bound: (row) => (isNull(items, row) ? 4 : written.bound(row)),
    write: (out, at, row) =>
      isNull(items, row) ? putAscii(out, at, "NULL") : written.write(out, at, row),
  };
  return sequenceWriter(vector, part, "{}");
}

function recordWriter(vector: Vector, style: TextStyle, make: MakeWriter): CellWriter {
  const parts = vector.children.map((child): CellWriter => {
    const written = quotedPart(make(child, style), needsRecordQuotes, putRecordQuoted);
    return {
      bound: (row) => (isNull(child, row) ? 0 : written.bound(row)),
      write: (out, at, row) => (isNull(child, row) ? at : written.write(out, at, row)),
    };
  });
  return tupleWriter(
    vector,
    parts,
    "()",
    parts.map(() => ""),
  );
}

type Range = readonly [bytes: Uint8Array, length: number];

/** A part that is written as it is or, where its text would be read as something else, in quotes. */
function quotedPart(
  writer: CellWriter,
  needsQuotes: (text: Range) => boolean,
  put: (out: Uint8Array, at: number, text: Range) => number,
): CellWriter {
  const scratch = scratchOf();
  return {
    bound: (row) => writer.bound(row) * 2 + 2,
    write: (out, at, row) => {
      const end = writer.write(out, at, row);
      const text = out.subarray(at, end);
      if (!needsQuotes([text, end - at])) return end;
      const copy = scratch.room(end - at);
      copy.set(text);
      return put(out, at, [copy, end - at]);
    },
  };
}

/** Bytes that mean something in an array literal: space and its kin, quote, comma, backslash, braces. */
const arraySpecial = flagsOf(' \t\n\v\f\r",\\{}');
const recordSpecial = flagsOf(' \t\n\v\f\r",\\()');

function flagsOf(characters: string): Uint8Array {
  const flags = new Uint8Array(256);
  for (const character of characters) flags[character.charCodeAt(0)] = 1;
  return flags;
}

function hasFlagged([bytes, length]: Range, flags: Uint8Array): boolean {
  for (let index = 0; index < length; index += 1) {
    if (flags[bytes[index] ?? 0] === 1) return true;
  }
  return false;
}

/** Source: PostgreSQL `array_out`; the word NULL in any case would be read as NULL. */
function needsArrayQuotes(text: Range): boolean {
  return text[1] === 0 || isNullWord(text) || hasFlagged(text, arraySpecial);
}

function isNullWord([bytes, length]: Range): boolean {
  if (length !== 4) return false;
  for (let index = 0; index < 4; index += 1) {
    if (((bytes[index] ?? 0) | 0x20) !== "null".charCodeAt(index)) return false;
  }
  return true;
}

/** Source: PostgreSQL `record_out`. Nothing at all would be read as NULL. */
function needsRecordQuotes(text: Range): boolean {
  return text[1] === 0 || hasFlagged(text, recordSpecial);
}

function putArrayQuoted(out: Uint8Array, at: number, text: Range): number {
  return putQuoted(out, at, text, () => backslash);
}

function putRecordQuoted(out: Uint8Array, at: number, text: Range): number {
  return putQuoted(out, at, text, (byte) => byte);
}

/** In quotes, with a byte before each quote and backslash. */
function putQuoted(
  out: Uint8Array,
  at: number,
  [bytes, length]: Range,
  before: (byte: number) => number,
): number {
  out[at] = quote;
  let end = at + 1;
  for (let index = 0; index < length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === quote || byte === backslash) {
      out[end] = before(byte);
      end += 1;
    }
    out[end] = byte;
    end += 1;
  }
  out[end] = quote;
  return end + 1;
}

interface Scratch {
  /** Bytes to write `length` of into; valid until the next call. */
  room(length: number): Uint8Array;
}

function scratchOf(): Scratch {
  let bytes = new Uint8Array(256);
  return {
    room: (length) => {
      if (bytes.length < length) bytes = new Uint8Array(Math.max(length, bytes.length * 2));
      return bytes;
    },
  };
}
