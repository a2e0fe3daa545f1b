/**
 * Writes batches as the CopyData messages of `COPY … TO STDOUT`: text, CSV or binary, one message per row.
 *
 * A cell is first written as the text of its value. Most cells hold nothing to escape; the others are spread
 * out in place, from their end.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import { copyData } from "@gateway/wire/postgres/backend.ts";
import { putInt32, type ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import type { CopyForm } from "../read/copyForm.ts";
import { rowWriter, textWriterOf, type RowWriter } from "../value/rows.ts";

const encoder = new TextEncoder();

const newline = 0x0a;
const backslash = 0x5c;
/** Letter and length. */
const headBytes = 5;

/** How rows are copied. */
export interface CopyShape {
  readonly form: CopyForm;
  readonly columns: readonly Column[];
  readonly zone: Zone;
}

/** Signature, flags and length of the extension: what a binary copy begins with. */
const binaryHead = Uint8Array.from([
  ...encoder.encode("PGCOPY\n"),
  0xff,
  0x0d,
  0x0a,
  0,
  ...Array.from({ length: 8 }, () => 0),
]);
/** A count of -1: no row follows. */
const binaryTail = Uint8Array.of(0xff, 0xff);

/** What is wrong with the options for these columns. */
export function copyProblem(form: CopyForm, columns: readonly Column[]): GatewayError | undefined {
  if (form.kind !== "csv" || form.forceQuote === "all") return undefined;
  const missing = form.forceQuote.find((name) => columns.every((column) => column.name !== name));
  if (missing === undefined) return undefined;
  const message = `FORCE_QUOTE column "${missing}" not referenced by COPY`;
  return gatewayError("query.invalid", { sqlState: "42P10", message });
}

/** Writes the line of names before the first row, if the client wants one. */
export function writeCopyHead(out: ByteWriter, { form, columns }: CopyShape): void {
  if (form.kind === "binary") return;
  if (!form.plain.header) return;
  const names = columns.map(({ name }) => encoder.encode(name));
  const bytes = names.reduce((sum, name) => sum + 2 * name.length + 3, 1);
  out.room(bytes + headBytes);
  const start = out.begin(copyData);
  const escape = escaperOf(form);
  const margin = marginOf(form);
  let at = out.length;
  for (const [index, name] of names.entries()) {
    if (index > 0) at = put(out.buffer, at, form.plain.delimiter);
    const cell = at + margin;
    out.buffer.set(name, cell);
    const force = forced(form, columns[index]?.name ?? "");
    at = escape(out.buffer, { start: at, cell, end: cell + name.length }, force);
  }
  out.length = put(out.buffer, at, newline);
  out.end(start);
}

/** Writes what follows the last row. `begun` is false when there was none. */
export function writeCopyTail(out: ByteWriter, form: CopyForm, begun: boolean): void {
  if (form.kind !== "binary") return;
  const start = out.begin(copyData);
  if (!begun) out.bytes(binaryHead);
  out.bytes(binaryTail);
  out.end(start);
}

/** Chooses the writer of a batch. `first`: no row was written before it. */
export function copyWriter(batch: ColumnarBatch, shape: CopyShape, first: boolean): RowWriter {
  const { form, zone, columns } = shape;
  if (form.kind !== "binary") return plainWriter(batch, form, shape);
  // A row of a binary copy is what a DataRow in binary holds.
  const formats = columns.map(() => 1 as const);
  const rows = rowWriter(batch, { formats, zone, columns, letter: copyData });
  return first ? withHead(rows) : rows;
}

/** Puts the signature into the first row's message, where readers expect it. */
function withHead(rows: RowWriter): RowWriter {
  return {
    rows: rows.rows,
    write: (out, row, limit) => {
      if (row > 0) return rows.write(out, row, limit);
      const start = out.length;
      const next = rows.write(out, row, { end: Math.min(limit.end, 1), bytesMax: limit.bytesMax });
      const body = start + headBytes;
      out.room(binaryHead.length);
      out.buffer.copyWithin(body + binaryHead.length, body, out.length);
      out.buffer.set(binaryHead, body);
      out.length += binaryHead.length;
      out.end(start + 1);
      return next < limit.end && out.length < limit.bytesMax ? rows.write(out, next, limit) : next;
    },
  };
}

type TextForm = Exclude<CopyForm, { kind: "binary" }>;

interface Cell {
  readonly vector: Vector;
  readonly writer: CellWriter;
  readonly force: boolean;
}

function plainWriter(
  batch: ColumnarBatch,
  form: TextForm,
  { zone, columns }: CopyShape,
): RowWriter {
  const { delimiter } = form.plain;
  const nullBytes = encoder.encode(form.plain.nullText);
  const escape = escaperOf(form);
  const margin = marginOf(form);
  const cells: readonly Cell[] = batch.columns.map((vector, index) => ({
    vector,
    writer: textWriterOf(vector, zone),
    force: forced(form, columns[index]?.name ?? ""),
  }));

  function writeRow(out: ByteWriter, row: number): void {
    let most = headBytes + 1;
    for (const { vector, writer } of cells) {
      most += isNullAt(vector, row) ? nullBytes.length + 1 : 2 * writer.bound(row) + 3;
    }
    out.room(most);
    const bytes = out.buffer;
    const start = out.length;
    bytes[start] = copyData;
    let at = start + headBytes;
    for (let index = 0; index < cells.length; index += 1) {
      const { vector, writer, force } = cells[index] as Cell;
      if (index > 0) at = put(bytes, at, delimiter);
      if (isNullAt(vector, row)) {
        bytes.set(nullBytes, at);
        at += nullBytes.length;
        continue;
      }
      const cell = at + margin;
      at = escape(bytes, { start: at, cell, end: writer.write(bytes, cell, row) }, force);
    }
    at = put(bytes, at, newline);
    putInt32(bytes, start + 1, at - start - 1);
    out.length = at;
  }

  return {
    rows: batch.rows,
    write: (out, first, { end, bytesMax }) => {
      let row = first;
      while (row < end) {
        writeRow(out, row);
        row += 1;
        if (out.length >= bytesMax) break;
      }
      return row;
    },
  };
}

/** Bytes left free before a cell: CSV puts its opening quote there. */
function marginOf({ kind }: TextForm): number {
  return kind === "csv" ? 1 : 0;
}

/** A cell in the buffer: its raw text lies from `cell` to `end`, and it may use the bytes from `start` on. */
interface Raw {
  readonly start: number;
  readonly cell: number;
  readonly end: number;
}

/** Brings a raw cell into its final form from `start` on; answers the offset behind it. */
type Escaper = (bytes: Uint8Array, raw: Raw, force: boolean) => number;

function escaperOf(form: TextForm): Escaper {
  return form.kind === "text" ? textEscaper(form.plain.delimiter) : csvEscaper(form);
}

/** Control characters that the text form names by a letter (PostgreSQL's CopyAttributeOutText). */
const letters: ReadonlyMap<number, number> = new Map(
  [
    [0x08, "b"],
    [0x0c, "f"],
    [0x0a, "n"],
    [0x0d, "r"],
    [0x09, "t"],
    [0x0b, "v"],
  ].map(([code, letter]) => [Number(code), String(letter).charCodeAt(0)]),
);

function textEscaper(delimiter: number): Escaper {
  // For each byte the one that follows its backslash; 0 for bytes that need no backslash.
  const escapes = new Uint8Array(256);
  for (const [code, letter] of letters) escapes[code] = letter;
  escapes[backslash] = backslash;
  // A delimiter that is a control character is still named by its letter.
  if (escapes[delimiter] === 0) escapes[delimiter] = delimiter;

  return (bytes, { cell, end }) => {
    let more = 0;
    for (let at = cell; at < end; at += 1) if (escapes[bytes[at] ?? 0] !== 0) more += 1;
    let to = end + more;
    for (let at = end - 1; to > at + 1; at -= 1) {
      const escape = escapes[bytes[at] ?? 0] ?? 0;
      to -= 1;
      bytes[to] = escape === 0 ? (bytes[at] ?? 0) : escape;
      if (escape === 0) continue;
      to -= 1;
      bytes[to] = backslash;
    }
    return end + more;
  };
}

function csvEscaper({ plain, quote, escape }: Extract<TextForm, { kind: "csv" }>): Escaper {
  const special = new Uint8Array(256);
  for (const code of [plain.delimiter, quote, newline, 0x0d]) special[code] = 1;
  const doubled = new Uint8Array(256);
  doubled[quote] = 1;
  doubled[escape] = 1;
  const nullBytes = encoder.encode(plain.nullText);

  return (bytes, { start, cell, end }, force) => {
    let more = 0;
    let quoted = force || isSame(bytes, cell, end, nullBytes) || isEndMark(bytes, cell, end);
    for (let at = cell; at < end; at += 1) {
      const code = bytes[at] ?? 0;
      if (special[code] === 1) quoted = true;
      if (doubled[code] === 1) more += 1;
    }
    if (!quoted) {
      bytes.copyWithin(start, cell, end);
      return start + end - cell;
    }
    bytes[start] = quote;
    // The raw text stands where it belongs: behind the opening quote.
    let to = end + more;
    bytes[to] = quote;
    for (let at = end - 1; to > at + 1; at -= 1) {
      const code = bytes[at] ?? 0;
      to -= 1;
      bytes[to] = code;
      if (doubled[code] !== 1) continue;
      to -= 1;
      bytes[to] = escape;
    }
    return end + more + 1;
  };
}

function isSame(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length) return false;
  for (let at = 0; at < other.length; at += 1) if (bytes[from + at] !== other[at]) return false;
  return true;
}

/** `\.` alone ended a copy in older versions. */
function isEndMark(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from === 2 && bytes[from] === backslash && bytes[from + 1] === 0x2e;
}

function forced(form: TextForm, name: string): boolean {
  if (form.kind !== "csv") return false;
  return form.forceQuote === "all" || form.forceQuote.includes(name);
}

function isNullAt({ type, validity, offset }: Vector, row: number): boolean {
  if (type.kind === "null") return true;
  const index = offset + row;
  return validity !== undefined && ((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
}

function put(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value;
  return at + 1;
}
