/**
 * ClickHouse's Native format: blocks of columns, each with its name, its type's name and its values.
 *
 * A block is read whole or not at all: the reader says how many more bytes it needs at least. Every
 * length is compared with the bytes that are there before memory is taken for it.
 */
import { isUtf8 } from "node:buffer";
import type { Column } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { gathered } from "./dictionary.ts";
import { Source, type TextProgress } from "./source.ts";
import { layoutOf, type Layout } from "../types.ts";
import { convertedVector } from "./values.ts";

export interface Block {
  readonly columns: readonly Column[];
  readonly vectors: readonly Vector[];
  readonly rows: number;
}

export type BlockRead =
  | { readonly kind: "block"; readonly block: Block; readonly bytes: number }
  /** At least this many more bytes are needed behind `bytes`; those before are in what was begun. */
  | {
      readonly kind: "short";
      readonly missing: number;
      readonly bytes: number;
      readonly begun: Begun | undefined;
    }
  /** A type without a reader here. */
  | { readonly kind: "unsupported"; readonly type: string }
  /** The bytes are no block. */
  | { readonly kind: "broken"; readonly reason: string };

/** A block whose first columns are there. */
export interface Begun {
  readonly columnCount: number;
  readonly rows: number;
  readonly columns: readonly Column[];
  readonly vectors: readonly Vector[];
  /** Of the column that is not there whole, counted from its start. */
  readonly texts: TextProgress | undefined;
}

const columnsMax = 100_000;
const nameBytesMax = 1 << 20;
const elementsMax = 0x7fff_ffff;
const decoder = new TextDecoder();

/** Reads the block at the start of `bytes`, or the rest of one that was begun before them. */
export function readBlock(bytes: Uint8Array, begun?: Begun): BlockRead {
  const source = new Source(bytes, begun?.texts);
  const head = begun ?? readHead(source);
  if (head === undefined) return unread(source, 0, undefined);
  const { columnCount, rows } = head;
  const columns = [...head.columns];
  const vectors = [...head.vectors];
  let read = source.at;
  while (columns.length < columnCount) {
    const name = readName(source);
    const typeName = name === undefined ? undefined : readName(source);
    const layout = typeName === undefined ? undefined : layoutOf(typeName);
    if (typeName !== undefined && layout === undefined)
      return { kind: "unsupported", type: typeName };
    const vector = layout === undefined ? undefined : readVector(source, layout, rows);
    if (
      name === undefined ||
      typeName === undefined ||
      layout === undefined ||
      vector === undefined
    )
      return unread(source, read, {
        columnCount,
        rows,
        columns,
        vectors,
        texts: textsFrom(source, read),
      });
    columns.push(columnOf(name, typeName, layout));
    vectors.push(vector);
    read = source.at;
  }
  return { kind: "block", block: { columns, vectors, rows }, bytes: source.at };
}

function readHead(source: Source): Begun | undefined {
  const columnCount = source.varint();
  const rows = columnCount === undefined ? undefined : source.varint();
  if (columnCount === undefined || rows === undefined) return undefined;
  if (columnCount > columnsMax || rows > elementsMax)
    return source.refuse("too many columns or rows");
  // Of rows without columns four bytes could claim millions.
  if (columnCount === 0 && rows > 0) return source.refuse("rows without columns");
  return { columnCount, rows, columns: [], vectors: [], texts: undefined };
}

function readVector(source: Source, layout: Layout, rows: number): Vector | undefined {
  const ready = rows === 0 || readPrefix(source, layout) === true;
  return ready ? readColumn(source, layout, rows) : undefined;
}

/** The neutral column of a name and a type; undefined where the type has no reader. */
export function describedColumn(name: string, typeName: string): Column | undefined {
  const layout = layoutOf(typeName);
  return layout === undefined ? undefined : columnOf(name, typeName, layout);
}

function columnOf(name: string, engineType: string, layout: Layout): Column {
  const nullable = layout.kind === "nullable" || (layout.kind === "dictionary" && layout.nullable);
  return { name, type: layout.type, nullable, engineType };
}

/** `bytes` were read for good; nothing of the rest is kept. */
function unread({ broken, missing }: Source, bytes: number, begun: Begun | undefined): BlockRead {
  if (broken !== undefined) return { kind: "broken", reason: broken };
  return { kind: "short", missing, bytes, begun };
}

function readName(source: Source): string | undefined {
  const length = source.varint();
  if (length === undefined) return undefined;
  if (length > nameBytesMax) return source.refuse("a name of more than a megabyte");
  const start = source.skip(length);
  return start === undefined
    ? undefined
    : decoder.decode(source.bytes.subarray(start, start + length));
}

const dictionaryVersion = 1;
/** A JSON column whose cells are text. */
const jsonTextVersion = 1;

/** What stands before the values of a column: the version of each dictionary and JSON in it. */
function readPrefix(source: Source, layout: Layout): true | undefined {
  switch (layout.kind) {
    case "dictionary":
      return readVersion(source, dictionaryVersion, "a dictionary of another version");
    case "nullable":
    case "list":
      return readPrefix(source, layout.inner);
    case "struct":
      return layout.members.every((member) => readPrefix(source, member) === true)
        ? true
        : undefined;
    case "map":
      return readPrefix(source, layout.key) === true ? readPrefix(source, layout.value) : undefined;
    case "text":
      if (layout.type.kind !== "json") return true;
      return readVersion(source, jsonTextVersion, "JSON of another version");
    case "fixed":
    case "converted":
      return true;
  }
}

function readVersion(source: Source, known: number, otherwise: string): true | undefined {
  const version = source.count64();
  if (version === undefined) return undefined;
  return version === known ? true : source.refuse(otherwise);
}

const noBytes = new Uint8Array(0);

function readColumn(source: Source, layout: Layout, rows: number): Vector | undefined {
  const { type } = layout;
  const plain = {
    type,
    length: rows,
    offset: 0,
    validity: undefined,
    offsets: undefined,
    children: [],
  };
  switch (layout.kind) {
    case "fixed": {
      const values = source.copy(rows * layout.width);
      return values === undefined ? undefined : { ...plain, values };
    }
    case "converted": {
      const { width, rule } = layout;
      const start = source.skip(rows * width);
      if (start === undefined) return undefined;
      return convertedVector(type, rule, { view: source.viewOf(start, rows * width), width, rows });
    }
    case "text":
      return readText(source, layout, rows);
    case "nullable": {
      const validity = readNulls(source, rows);
      const inner = validity === undefined ? undefined : readColumn(source, layout.inner, rows);
      return inner === undefined ? undefined : { ...inner, validity };
    }
    case "dictionary":
      return readDictionary(source, layout, rows);
    case "list": {
      const offsets = readOffsets(source, rows);
      const items =
        offsets === undefined ? undefined : readColumn(source, layout.inner, offsets[rows] ?? 0);
      return items === undefined
        ? undefined
        : { ...plain, values: noBytes, offsets, children: [items] };
    }
    case "struct": {
      const children = readAll(source, layout.members, rows);
      return children === undefined ? undefined : { ...plain, values: noBytes, children };
    }
    case "map": {
      const offsets = readOffsets(source, rows);
      if (offsets === undefined) return undefined;
      const children = readAll(source, [layout.key, layout.value], offsets[rows] ?? 0);
      return children === undefined ? undefined : { ...plain, values: noBytes, offsets, children };
    }
  }
}

function readAll(
  source: Source,
  layouts: readonly Layout[],
  rows: number,
): readonly Vector[] | undefined {
  const vectors: Vector[] = [];
  for (const layout of layouts) {
    const vector = readColumn(source, layout, rows);
    if (vector === undefined) return undefined;
    vectors.push(vector);
  }
  return vectors;
}

/** One byte a row, 1 for NULL, as a bitmap of what is there. */
function readNulls(source: Source, rows: number): Uint8Array | undefined {
  const start = source.skip(rows);
  if (start === undefined) return undefined;
  const bits = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row += 1) {
    if (source.bytes[start + row] === 0) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}

/** Ends of the rows' elements, counted in 64 bits. */
function readOffsets(source: Source, rows: number): Int32Array | undefined {
  const start = source.skip(rows * 8);
  if (start === undefined) return undefined;
  const view = source.viewOf(start, rows * 8);
  const offsets = new Int32Array(rows + 1);
  let before = 0;
  for (let row = 0; row < rows; row += 1) {
    const end =
      view.getUint32(row * 8 + 4, true) === 0 ? view.getUint32(row * 8, true) : elementsMax + 1;
    if (end < before || end > elementsMax) return source.refuse("offsets that fall or run over");
    offsets[row + 1] = end;
    before = end;
  }
  return offsets;
}

function readText(source: Source, { type }: Layout, rows: number): Vector | undefined {
  // Every cell has at least the byte of its length.
  if (rows > source.left) {
    source.missing = rows - source.left;
    return undefined;
  }
  const read = readLengths(source, rows);
  if (read === undefined) return undefined;
  const { begin, starts, offsets, end } = read;
  // Copied in one go, and then closed up over the lengths between them: half of what copying each costs.
  const all = new Uint8Array(source.bytes.subarray(begin, source.at));
  for (let row = 0; row < rows; row += 1) {
    const from = starts[row] ?? 0;
    const at = offsets[row] ?? 0;
    all.copyWithin(at, from, from + (offsets[row + 1] ?? 0) - at);
  }
  const values = all.subarray(0, end);
  const vector = {
    type,
    length: rows,
    offset: 0,
    validity: undefined,
    values,
    offsets,
    children: [],
  };
  return beginsInside(values, offsets) || !isUtf8(values) ? repaired(vector, offsets) : vector;
}

/** Finds where the texts begin and end. Goes on where an earlier reading stopped for want of bytes. */
function readLengths(source: Source, rows: number): TextProgress | undefined {
  const begin = source.at;
  const known = source.texts?.begin === begin && source.texts.starts.length === rows;
  const { bytes } = source;
  const { starts, offsets, ...before } = (known ? source.texts : undefined) ?? noTexts(begin, rows);
  let { at, end, row } = before;
  while (row < rows) {
    source.at = at;
    const first = bytes[at] ?? 0x80;
    // Nearly all lengths are one byte.
    const length = first < 0x80 ? first : source.varint();
    if (first < 0x80) source.at = at + 1;
    const start = length === undefined ? undefined : source.skip(length);
    if (length === undefined || start === undefined) break;
    starts[row] = start - begin;
    end += length;
    offsets[row + 1] = end;
    at = start + length;
    row += 1;
  }
  const texts = { begin, at, row, end, starts, offsets };
  if (row === rows) return texts;
  source.texts = texts;
  return undefined;
}

function noTexts(begin: number, rows: number): TextProgress {
  const starts = new Int32Array(rows);
  return { begin, at: begin, row: 0, end: 0, starts, offsets: new Int32Array(rows + 1) };
}

/** What was found out of the texts, counted from `start`; undefined when it is of what lies before. */
function textsFrom({ texts }: Source, start: number): TextProgress | undefined {
  if (texts === undefined || texts.begin < start) return undefined;
  return { ...texts, begin: texts.begin - start, at: texts.at - start };
}

/** True when a text begins in the middle of a character: together with the one before it may look whole. */
function beginsInside(values: Uint8Array, offsets: Int32Array): boolean {
  for (let row = 1; row < offsets.length - 1; row += 1) {
    if (((values[offsets[row] ?? 0] ?? 0) & 0xc0) === 0x80) return true;
  }
  return false;
}

const lenient = new TextDecoder();
const encoder = new TextEncoder();

/** ClickHouse's strings are bytes; a client's text is UTF-8. What is none is shown as U+FFFD. */
function repaired(vector: Vector, offsets: Int32Array): Vector {
  const cells = Array.from({ length: vector.length }, (_, row) =>
    encoder.encode(lenient.decode(vector.values.subarray(offsets[row], offsets[row + 1]))),
  );
  const ends = new Int32Array(vector.length + 1);
  for (const [row, cell] of cells.entries()) ends[row + 1] = (ends[row] ?? 0) + cell.length;
  const values = new Uint8Array(ends[vector.length] ?? 0);
  for (const [row, cell] of cells.entries()) values.set(cell, ends[row]);
  return { ...vector, values, offsets: ends };
}

const additionalKeys = 0x200;
const globalDictionary = 0x100;

function readDictionary(
  source: Source,
  layout: Extract<Layout, { kind: "dictionary" }>,
  rows: number,
): Vector | undefined {
  // A column without rows, inside an empty list, has no bytes at all.
  if (rows === 0) return readColumn(source, layout.inner, 0);
  const flags = source.count64();
  if (flags === undefined) return undefined;
  if ((flags & globalDictionary) !== 0 || (flags & additionalKeys) === 0 || (flags & 0xff) > 3) {
    return source.refuse("a dictionary that lies elsewhere");
  }
  const valueCount = source.count64();
  if (valueCount === undefined) return undefined;
  if (valueCount > elementsMax) return source.refuse("too many keys");
  const dictionary = readColumn(source, layout.inner, valueCount);
  const count = dictionary === undefined ? undefined : source.count64();
  if (dictionary === undefined || count === undefined) return undefined;
  if (count !== rows) return source.refuse("a dictionary for other rows");
  const width = 1 << (flags & 0xff);
  const start = source.skip(rows * width);
  if (start === undefined) return undefined;
  const found = gathered(dictionary, {
    view: source.viewOf(start, rows * width),
    width,
    rows,
    nullable: layout.nullable,
  });
  return found ?? source.refuse("an index outside the dictionary");
}
