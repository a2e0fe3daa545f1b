/**
 * Text batches as the rows of Trino's JSON answers: the source's bytes with quotes around them where
 * JSON wants some, and escapes where a text needs them. No cell is read as a value.
 */
import { escapeMax, putEscaped } from "@gateway/core/type/text/bytes.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import type { TextBatch } from "@gateway/core/type/vector.ts";
import { reserve, type RowBuffer } from "../encode.ts";

const comma = 0x2c;
const open = 0x5b;
const close = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const upperE = 0x45;
const lowerE = 0x65;
const nullText = bytesOf("null");
const utcSuffix = bytesOf(" UTC");

/** What a cell may need beside its bytes: comma, quotes, a suffix, or `null`. */
const cellRoom = 12;
/** In a row of up to this many bytes, each byte counts as one with the longest escape. */
const worstCaseMax = 1024;

/** How the text of a column's cells becomes JSON. */
type Form = "bare" | "float" | "quoted" | "instant" | "escaped";

/** The form of each column; undefined where one can not be written from its text. Instants stand there in UTC only. */
export function textForms(
  types: readonly DataType[],
  { zone }: Pick<TextStyle, "zone">,
): readonly Form[] | undefined {
  const forms: Form[] = [];
  for (const type of types) {
    const form = formOf(type);
    if (form === undefined || (form === "instant" && zone.name !== "UTC")) return undefined;
    forms.push(form);
  }
  return forms;
}

function formOf(type: DataType): Form | undefined {
  switch (type.kind) {
    case "boolean":
    case "null":
      return "bare";
    case "integer":
      // Beyond 64 signed bits integers are decimals to Trino, which its JSON has as strings.
      return type.bits === 128 || (type.bits === 64 && !type.signed) ? "quoted" : "bare";
    case "float":
      return "float";
    case "decimal":
    case "date":
    case "time":
    case "uuid":
      return "quoted";
    case "timestamp":
      return type.zoned ? "instant" : "quoted";
    case "text":
    case "json":
      return "escaped";
    case "binary":
    case "interval":
    case "list":
    case "struct":
    case "map":
      return undefined;
  }
}

/** A text batch that is being written. */
export class OpenText {
  readonly #batch: TextBatch;
  readonly #forms: readonly Form[];
  #row = 0;
  /** The page's memory and the offset behind what is written, while a row is. */
  #out: Uint8Array = nullText;
  #at = 0;

  constructor(batch: TextBatch, forms: readonly Form[]) {
    this.#batch = batch;
    this.#forms = forms;
  }

  /** Writes rows until the page is full or the batch has no more. True when the batch is done. */
  write(page: RowBuffer): boolean {
    const { rows } = this.#batch;
    while (this.#row < rows && page.length < page.targetBytes) {
      reserve(page, this.#room());
      this.#out = page.bytes;
      this.#at = page.length;
      if (page.rows > 0) this.#put(comma);
      this.#writeRow();
      page.length = this.#at;
      page.rows += 1;
      this.#row += 1;
    }
    return this.#row >= rows;
  }

  /** Most bytes that the row may take. */
  #room(): number {
    const { lengths } = this.#batch;
    const count = this.#forms.length;
    const first = this.#row * count;
    let size = 0;
    for (let index = first; index < first + count; index += 1) {
      const length = lengths[index] ?? 0;
      if (length > 0) size += length;
    }
    const escapes = size <= worstCaseMax ? size * (escapeMax - 1) : this.#escapes(first);
    return size + escapes + count * cellRoom + 3;
  }

  /** Bytes that escapes add to the row's texts at most. */
  #escapes(first: number): number {
    const { bytes, starts, lengths } = this.#batch;
    let count = 0;
    for (let index = first; index < first + this.#forms.length; index += 1) {
      const start = starts[index] ?? 0;
      const stop = start + Math.max(lengths[index] ?? 0, 0);
      for (let at = start; at < stop; at += 1) if (needsEscape(bytes[at] ?? 0)) count += 1;
    }
    return count * (escapeMax - 1);
  }

  #writeRow(): void {
    const { starts, lengths } = this.#batch;
    const first = this.#row * this.#forms.length;
    this.#put(open);
    for (let column = 0; column < this.#forms.length; column += 1) {
      if (column > 0) this.#put(comma);
      const size = lengths[first + column] ?? -1;
      if (size < 0) this.#copy(nullText, 0, 4);
      else this.#writeCell(this.#forms[column] ?? "escaped", starts[first + column] ?? 0, size);
    }
    this.#put(close);
  }

  #writeCell(form: Form, start: number, size: number): void {
    const { bytes } = this.#batch;
    switch (form) {
      case "bare":
        return this.#copy(bytes, start, size);
      case "float":
        return this.#writeFloat(start, size);
      case "quoted":
        return this.#writeQuoted(start, size);
      case "instant":
        this.#put(quote);
        this.#copy(bytes, start, size);
        this.#copy(utcSuffix, 0, utcSuffix.length);
        return this.#put(quote);
      case "escaped":
        return this.#writeEscaped(start, size);
    }
  }

  #writeQuoted(start: number, size: number): void {
    this.#put(quote);
    this.#copy(this.#batch.bytes, start, size);
    this.#put(quote);
  }

  /** `1` becomes `1.0`, because Java's clients refuse a float without; what is no number is a string. */
  #writeFloat(start: number, size: number): void {
    const { bytes } = this.#batch;
    const last = bytes[start + size - 1] ?? 0;
    if (last < zero || last > nine) return this.#writeQuoted(start, size);
    let pointed = false;
    for (let at = start; at < start + size; at += 1) {
      const byte = bytes[at];
      if (byte === point || byte === lowerE || byte === upperE) pointed = true;
    }
    this.#copy(bytes, start, size);
    if (pointed) return;
    this.#put(point);
    this.#put(zero);
  }

  /** Copies the text; nearly always nothing in it needs an escape. */
  #writeEscaped(start: number, size: number): void {
    const { bytes } = this.#batch;
    const out = this.#out;
    const stop = start + size;
    let at = this.#at + 1;
    for (let index = start; index < stop; index += 1) {
      const byte = bytes[index] ?? 0;
      if (needsEscape(byte)) {
        this.#at = putEscaped(out, this.#at, bytes, [start, stop]);
        return;
      }
      out[at] = byte;
      at += 1;
    }
    out[this.#at] = quote;
    out[at] = quote;
    this.#at = at + 1;
  }

  #put(byte: number): void {
    this.#out[this.#at] = byte;
    this.#at += 1;
  }

  #copy(bytes: Uint8Array, start: number, size: number): void {
    const out = this.#out;
    const at = this.#at;
    if (size > copyByLoopMax) out.set(bytes.subarray(start, start + size), at);
    else for (let index = 0; index < size; index += 1) out[at + index] = bytes[start + index] ?? 0;
    this.#at = at + size;
  }
}

/** Above this length one call that copies beats a loop over the bytes. */
const copyByLoopMax = 48;

function needsEscape(byte: number): boolean {
  return byte < 0x20 || byte === quote || byte === backslash;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
