/**
 * Cells as ClickHouse's text: plain for tab-separated and comma-separated rows, quoted inside arrays, tuples and maps,
 * and JSON. The writers are core's, with what ClickHouse writes in its own way around them.
 */
import type { CellWriter, TextStyle } from "@gateway/core/type/cellWriter.ts";
import { cellWriter, jsonText, postgresText } from "@gateway/core/type/text.ts";
import { nestedWriter } from "@gateway/core/type/text/nested.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";

/** Plain text of a cell. */
const plainStyle: TextStyle = {
  ...postgresText,
  booleans: "true/false",
  binary: "raw",
  fraction: "fixed",
  zoneSuffix: "none",
  years: "iso",
  exponents: "ecmascript",
  intervals: "iso",
  nested: "json",
};

const jsonStyle: TextStyle = { ...jsonText, zoneSuffix: "none", wideNumbers: "number" };

/** How JSON shows what JavaScript's numbers do not hold. */
export interface JsonLook {
  readonly quotes64: boolean;
  readonly quotesDecimals: boolean;
  readonly quotesDenormals: boolean;
}

const quote = 0x27;
const doubleQuote = 0x22;
const backslash = 0x5c;
const nullBytes = Buffer.from("NULL");
const jsonNull = Buffer.from("null");

/** The text of a cell without quotes. */
export function plainCell(vector: Vector): CellWriter {
  switch (vector.type.kind) {
    case "float":
      return withWords(cellWriter(vector, plainStyle), "plain");
    case "list":
    case "struct":
    case "map":
      return nestedCell(vector);
    default:
      return cellWriter(vector, plainStyle);
  }
}

/** True for types whose text stands in quotes inside others. */
export function isQuoted({ type }: Vector): boolean {
  switch (type.kind) {
    case "text":
    case "binary":
    case "json":
    case "date":
    case "time":
    case "timestamp":
    case "interval":
    case "uuid":
      return true;
    case "null":
    case "boolean":
    case "integer":
    case "float":
    case "decimal":
    case "list":
    case "struct":
    case "map":
      return false;
  }
}

/** A cell as it stands inside an array, or in `VALUES`. */
export function quotedCell(vector: Vector): CellWriter {
  const plain = plainCell(vector);
  return isQuoted(vector) ? surrounded(escapedCell(plain), quote) : plain;
}

/** Letters behind the backslash, by the byte that they stand for; 0 for one that stands for itself. */
const letters = new Uint8Array(256);
for (const [byte, letter] of [
  [0, "0"],
  [8, "b"],
  [9, "t"],
  [10, "n"],
  [12, "f"],
  [13, "r"],
  [quote, "'"],
  [backslash, "\\"],
] as const) {
  letters[byte] = letter.charCodeAt(0);
}

/** The same text with the escapes of tab-separated rows. */
export function escapedCell(writer: CellWriter): CellWriter {
  return copied(writer, 2, (from, length, out, start) => {
    let at = start;
    for (let index = 0; index < length; index += 1) {
      const byte = from[index] ?? 0;
      const letter = letters[byte] ?? 0;
      if (letter !== 0) out[at++] = backslash;
      out[at++] = letter === 0 ? byte : letter;
    }
    return at;
  });
}

/** In double quotes, with those inside doubled. */
export function csvCell(writer: CellWriter): CellWriter {
  const doubled = copied(writer, 2, (from, length, out, start) => {
    let at = start;
    for (let index = 0; index < length; index += 1) {
      const byte = from[index] ?? 0;
      if (byte === doubleQuote) out[at++] = doubleQuote;
      out[at++] = byte;
    }
    return at;
  });
  return surrounded(doubled, doubleQuote);
}

type Copy = (from: Uint8Array, length: number, out: Uint8Array, start: number) => number;

/** Writes a cell aside, and copies it. */
function copied(writer: CellWriter, factor: number, copy: Copy): CellWriter {
  let aside = new Uint8Array(64);
  return {
    bound: (row) => writer.bound(row) * factor,
    write: (out, at, row) => {
      const bound = writer.bound(row);
      if (bound > aside.length) aside = new Uint8Array(bound * 2);
      return copy(aside, writer.write(aside, 0, row), out, at);
    },
  };
}

function surrounded(writer: CellWriter, mark: number): CellWriter {
  return {
    bound: (row) => writer.bound(row) + 2,
    write: (out, at, row) => {
      out[at] = mark;
      const end = writer.write(out, at + 1, row);
      out[end] = mark;
      return end + 1;
    },
  };
}

/** `['a',NULL]`, `(1,'x')`, `{'k':1}`. */
function nestedCell(vector: Vector): CellWriter {
  const { type } = vector;
  const parts = vector.children.map((child) => orNull(quotedCell(child), child, nullBytes));
  if (type.kind === "struct") return tupleCell(vector, parts);
  const marks = type.kind === "map" ? "{}" : "[]";
  const [open, close] = [marks.charCodeAt(0), marks.charCodeAt(1)];
  const range = (row: number): readonly [number, number] => {
    const index = vector.offset + row;
    return [vector.offsets?.[index] ?? 0, vector.offsets?.[index + 1] ?? 0];
  };
  return {
    bound: (row) => {
      const [from, to] = range(row);
      let bound = 2 + (to - from) * (parts.length + 1);
      for (let item = from; item < to; item += 1) {
        for (const part of parts) bound += part.bound(item);
      }
      return bound;
    },
    write: (out, start, row) => {
      const [from, to] = range(row);
      let at = start;
      out[at++] = open;
      for (let item = from; item < to; item += 1) {
        if (item > from) out[at++] = 0x2c;
        for (const [index, part] of parts.entries()) {
          if (index > 0) out[at++] = 0x3a;
          at = part.write(out, at, item);
        }
      }
      out[at++] = close;
      return at;
    },
  };
}

function tupleCell({ offset }: Vector, parts: readonly CellWriter[]): CellWriter {
  return {
    bound: (row) => parts.reduce((sum, part) => sum + part.bound(offset + row) + 1, 3),
    write: (out, start, row) => {
      let at = start;
      out[at++] = 0x28;
      for (const [index, part] of parts.entries()) {
        if (index > 0) out[at++] = 0x2c;
        at = part.write(out, at, offset + row);
      }
      out[at++] = 0x29;
      return at;
    },
  };
}

/** A writer that also takes rows without a value. */
export function orNull(writer: CellWriter, vector: Vector, word: Uint8Array): CellWriter {
  return {
    bound: (row) => (isNull(vector, row) ? word.length : writer.bound(row)),
    write: (out, at, row) => {
      if (!isNull(vector, row)) return writer.write(out, at, row);
      out.set(word, at);
      return at + word.length;
    },
  };
}

/** A cell as a JSON value. NULLs are the caller's; inside nested cells they are written here. */
export function jsonCell(vector: Vector, look: JsonLook): CellWriter {
  const { type } = vector;
  switch (type.kind) {
    case "float":
      return withWords(cellWriter(vector, jsonStyle), look.quotesDenormals ? "quoted" : "null");
    case "integer": {
      const plain = cellWriter(vector, jsonStyle);
      return type.bits >= 64 && look.quotes64 ? surrounded(plain, doubleQuote) : plain;
    }
    case "decimal": {
      const plain = cellWriter(vector, jsonStyle);
      return look.quotesDecimals ? surrounded(plain, doubleQuote) : plain;
    }
    case "binary":
      // Bytes are a String, whatever they hold.
      return cellWriter({ ...vector, type: { kind: "text" } }, jsonStyle);
    case "list":
    case "struct":
    case "map":
      return nestedWriter(vector, type, jsonStyle, (part) => jsonCell(part, look));
    default:
      return cellWriter(vector, jsonStyle);
  }
}

/** The plain text of a cell as a JSON string. */
export function jsonStringCell(vector: Vector): CellWriter {
  const plain = plainCell(vector);
  if (!isQuoted(vector) && !vector.children.length) return surrounded(plain, doubleQuote);
  const escaped = copied(plain, 6, (from, length, out, start) => {
    const text = JSON.stringify(Buffer.from(from.buffer, from.byteOffset, length).toString());
    return start + Buffer.from(out.buffer, out.byteOffset).write(text, start);
  });
  return {
    bound: (row) => escaped.bound(row) + 2,
    write: (out, at, row) => escaped.write(out, at, row),
  };
}

/** `nan` and `inf`, which no other writer calls so; `null` where JSON has no word. */
function withWords(writer: CellWriter, form: "plain" | "quoted" | "null"): CellWriter {
  return {
    bound: (row) => writer.bound(row),
    write: (out, at, row) => {
      const end = writer.write(out, at, row);
      const first = out[at] === doubleQuote ? at + 1 : at;
      const letter = out[first] === 0x2d ? first + 1 : first;
      const isNan = out[letter] === 0x4e;
      if (!isNan && out[letter] !== 0x49) return end;
      if (form === "null") {
        out.set(jsonNull, at);
        return at + jsonNull.length;
      }
      const word = isNan ? "nan" : letter > first ? "-inf" : "inf";
      const text = Buffer.from(form === "quoted" ? `"${word}"` : word);
      out.set(text, at);
      return at + text.length;
    },
  };
}
