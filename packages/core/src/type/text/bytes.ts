/** Text of what is bytes already (text, json, binary, uuid) and of booleans. */
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import type { Vector } from "../vector.ts";
import { putAscii, quote } from "./digits.ts";
import { cellsOf, quotedWriter } from "./integer.ts";

const backslash = 0x5c;
/** Above this length one call that copies beats a loop over the bytes. */
const copyByLoopMax = 48;
/** Up to this length the bound of an escaped text is the worst case; above it the cell is measured. */
const worstCaseMax = 1024;
/** `\u00XX` is the longest escape. */
export const escapeMax = 6;

const lowerHex = asciiOf("0123456789abcdef");
const upperHex = asciiOf("0123456789ABCDEF");
const base64Digits = asciiOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
/** The letter of the short escape of a control character, or 0. */
const shortEscapes = new Uint8Array(32);
for (const [code, letter] of [
  [8, "b"],
  [9, "t"],
  [10, "n"],
  [12, "f"],
  [13, "r"],
] as const) {
  shortEscapes[code] = letter.charCodeAt(0);
}

function asciiOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Writer of a text vector. */
export function textWriter(vector: Vector, style: TextStyle): CellWriter {
  return style.json ? escapedWriter(vector) : plainWriter(vector);
}

/** Writer of a json vector. */
export function jsonWriter(vector: Vector, style: TextStyle): CellWriter {
  return style.json && style.jsonCells === "string" ? escapedWriter(vector) : plainWriter(vector);
}

/** Writer of a binary vector. */
export function binaryWriter(vector: Vector, style: TextStyle): CellWriter {
  switch (style.binary) {
    case "hex":
      // The backslash is doubled inside JSON.
      return hexWriter(vector, { prefix: style.json ? "\\\\x" : "\\x", digits: lowerHex, style });
    case "0x":
      return hexWriter(vector, { prefix: "0x", digits: upperHex, style });
    case "base64":
      return base64Writer(vector, style.json);
    case "raw":
      return style.json ? base64Writer(vector, true) : plainWriter(vector);
  }
}

/** Writer of a boolean vector. */
export function booleanWriter(vector: Vector, style: TextStyle): CellWriter {
  const { values, offset } = vector;
  const [yes, no] = booleanTexts(style).map(asciiOf);
  const texts = { yes: yes ?? base64Digits, no: no ?? base64Digits };
  return {
    bound: () => 5,
    write: (out, at, row) => {
      const index = offset + row;
      const set = ((values[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
      return copyShort(out, at, set ? texts.yes : texts.no);
    },
  };
}

function booleanTexts(style: TextStyle): readonly [yes: string, no: string] {
  if (style.json || style.booleans === "true/false") return ["true", "false"];
  return style.booleans === "t/f" ? ["t", "f"] : ["1", "0"];
}

function copyShort(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index += 1) out[at + index] = bytes[index] ?? 0;
  return at + bytes.length;
}

/** Writer of a uuid vector: lower case, with hyphens. */
export function uuidWriter(vector: Vector, style: TextStyle): CellWriter {
  const cells = cellsOf(vector, 16);
  const put: CellWriter["write"] = (out, at, row) => {
    let end = at;
    for (let index = 0; index < 16; index += 1) {
      if (index === 4 || index === 6 || index === 8 || index === 10) {
        out[end] = 0x2d;
        end += 1;
      }
      const byte = cells.getUint8(row * 16 + index);
      out[end] = lowerHex[byte >> 4] ?? 0;
      out[end + 1] = lowerHex[byte & 15] ?? 0;
      end += 2;
    }
    return end;
  };
  return style.json ? quotedWriter(38, put) : { bound: () => 36, write: put };
}

/** Where the cells of a vector of variable length begin and end: cell `row` from `[first + row]` to the next. */
function rangesOf(vector: Vector): { readonly offsets: Int32Array; readonly first: number } {
  return { offsets: vector.offsets ?? new Int32Array(1), first: vector.offset };
}

function plainWriter(vector: Vector): CellWriter {
  const { values } = vector;
  const { offsets, first } = rangesOf(vector);
  return {
    bound: (row) => (offsets[first + row + 1] ?? 0) - (offsets[first + row] ?? 0),
    write: (out, at, row) => {
      const start = offsets[first + row] ?? 0;
      const end = offsets[first + row + 1] ?? 0;
      const length = end - start;
      if (length > copyByLoopMax) {
        out.set(values.subarray(start, end), at);
        return at + length;
      }
      for (let index = 0; index < length; index += 1) out[at + index] = values[start + index] ?? 0;
      return at + length;
    },
  };
}

function escapedWriter(vector: Vector): CellWriter {
  const { values } = vector;
  const { offsets, first } = rangesOf(vector);
  return {
    bound: (row) => escapedBound(values, offsets[first + row] ?? 0, offsets[first + row + 1] ?? 0),
    write: (out, at, row) =>
      putEscaped(out, at, values, [offsets[first + row] ?? 0, offsets[first + row + 1] ?? 0]),
  };
}

/** Most bytes that `putEscaped` writes for a range. */
function escapedBound(values: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length <= worstCaseMax) return length * escapeMax + 2;
  let bound = length + 2;
  for (let index = start; index < end; index += 1) {
    const byte = values[index] ?? 0;
    if (byte < 0x20) bound += escapeMax - 1;
    else if (byte === quote || byte === backslash) bound += 1;
  }
  return bound;
}

/** A range of UTF-8 as a JSON string with its quotes (RFC 8259 §7). */
export function putEscaped(
  out: Uint8Array,
  at: number,
  values: Uint8Array,
  range: readonly [start: number, end: number],
): number {
  const stop = range[1];
  let end = at + 1;
  out[at] = quote;
  for (let index = range[0]; index < stop; index += 1) {
    const byte = values[index] ?? 0;
    if (byte >= 0x20 && byte !== quote && byte !== backslash) {
      out[end] = byte;
      end += 1;
      continue;
    }
    end = putEscape(out, end, byte);
  }
  out[end] = quote;
  return end + 1;
}

function putEscape(out: Uint8Array, at: number, byte: number): number {
  out[at] = backslash;
  const letter = byte >= 0x20 ? byte : (shortEscapes[byte] ?? 0);
  if (letter !== 0) {
    out[at + 1] = letter;
    return at + 2;
  }
  const end = putAscii(out, at + 1, "u00");
  out[end] = lowerHex[byte >> 4] ?? 0;
  out[end + 1] = lowerHex[byte & 15] ?? 0;
  return end + 2;
}

interface HexForm {
  readonly prefix: string;
  readonly digits: Uint8Array;
  readonly style: TextStyle;
}

function hexWriter(vector: Vector, form: HexForm): CellWriter {
  const { values } = vector;
  const { offsets, first } = rangesOf(vector);
  const { digits } = form;
  const prefix = asciiOf(form.style.json ? `"${form.prefix}` : form.prefix);
  const around = prefix.length + (form.style.json ? 1 : 0);
  return {
    bound: (row) => ((offsets[first + row + 1] ?? 0) - (offsets[first + row] ?? 0)) * 2 + around,
    write: (out, at, row) => {
      const stop = offsets[first + row + 1] ?? 0;
      let end = copyShort(out, at, prefix);
      for (let index = offsets[first + row] ?? 0; index < stop; index += 1) {
        const byte = values[index] ?? 0;
        out[end] = digits[byte >> 4] ?? 0;
        out[end + 1] = digits[byte & 15] ?? 0;
        end += 2;
      }
      if (form.style.json) out[end] = quote;
      return form.style.json ? end + 1 : end;
    },
  };
}

function base64Writer(vector: Vector, quoted: boolean): CellWriter {
  const { values } = vector;
  const { offsets, first } = rangesOf(vector);
  const quotes = quoted ? 2 : 0;
  return {
    bound: (row) => {
      const length = (offsets[first + row + 1] ?? 0) - (offsets[first + row] ?? 0);
      return Math.ceil(length / 3) * 4 + quotes;
    },
    write: (out, at, row) => {
      if (quoted) out[at] = quote;
      const range = [offsets[first + row] ?? 0, offsets[first + row + 1] ?? 0] as const;
      const end = putBase64(out, quoted ? at + 1 : at, values, range);
      if (quoted) out[end] = quote;
      return quoted ? end + 1 : end;
    },
  };
}

/** Base64 with padding (RFC 4648 §4). */
function putBase64(
  out: Uint8Array,
  at: number,
  values: Uint8Array,
  [start, stop]: readonly [number, number],
): number {
  let end = at;
  for (let index = start; index < stop; index += 3) {
    const left = stop - index;
    const three =
      ((values[index] ?? 0) << 16) |
      ((left > 1 ? (values[index + 1] ?? 0) : 0) << 8) |
      (left > 2 ? (values[index + 2] ?? 0) : 0);
    out[end] = base64Digits[three >> 18] ?? 0;
    out[end + 1] = base64Digits[(three >> 12) & 63] ?? 0;
    out[end + 2] = left > 1 ? (base64Digits[(three >> 6) & 63] ?? 0) : 0x3d;
    out[end + 3] = left > 2 ? (base64Digits[three & 63] ?? 0) : 0x3d;
    end += 4;
  }
  return end;
}
