/**
 * The text of Trino's cells as the canonical text of their types, column by column and in place.
 *
 * `malformed`: no Trino writes that. `columns`: the value has no canonical text (a year beyond 9999),
 * so the page is read as columns instead.
 */
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import { base64InPlace } from "@gateway/wire/trino/clientText.ts";
import { canonicalFloat, numberSizeMax, rewritten, wholeNumber, type LongCells } from "./floats.ts";
import { clockDigits, dateSize, isClock, isDate, isNanoYear, moveReading } from "./moments.ts";
import { asItIs, type ZoneReader } from "./zones.ts";

export type CellProblem = "malformed" | "columns";

/** The cells of a page; `starts` and `lengths` are changed where a cell moves. */
export interface CellPage {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly columns: number;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  /** Cells that do not fit into their place. */
  readonly long: LongCells;
  readonly zones: ZoneReader;
}

/** Makes the cells of a column canonical. */
export type Canonical = (page: CellPage, column: number) => CellProblem | undefined;

/** Looks at one cell that is not NULL. */
type CellRule = (page: CellPage, cell: number) => CellProblem | undefined;

/** What makes a column of a type canonical; undefined where its cells always are. */
export function canonicalOf(type: DataType): Canonical | undefined {
  const rule = ruleOf(type);
  return rule === undefined ? undefined : (page, column) => eachCell(page, column, rule);
}

/** True when cells of the type have a canonical text at all. */
export function hasText({ kind }: DataType): boolean {
  return kind !== "interval" && kind !== "list" && kind !== "struct" && kind !== "map";
}

function ruleOf(type: DataType): CellRule | undefined {
  switch (type.kind) {
    case "text":
    case "json":
    case "interval":
    case "list":
    case "struct":
    case "map":
      return undefined;
    case "null":
      return () => "malformed";
    case "boolean":
      return boolean;
    case "integer":
      return integer;
    case "decimal":
      return decimalOf(type.scale);
    case "float":
      return float;
    case "binary":
      return binary;
    case "date":
      return date;
    case "uuid":
      return uuid;
    case "time":
      return timeOf(fractionDigits[type.unit]);
    case "timestamp":
      return timestampOf(fractionDigits[type.unit], type.zoned);
  }
}

function eachCell(page: CellPage, column: number, rule: CellRule): CellProblem | undefined {
  const { lengths, columns } = page;
  const end = page.rows * columns;
  for (let cell = column; cell < end; cell += columns) {
    if ((lengths[cell] ?? -1) < 0) continue;
    const problem = rule(page, cell);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function boolean({ bytes, starts, lengths }: CellPage, cell: number): CellProblem | undefined {
  const at = starts[cell] ?? 0;
  const length = lengths[cell] ?? 0;
  // `true` or `false`, told apart by their length everywhere.
  const known = (length === 4 && bytes[at] === 0x74) || (length === 5 && bytes[at] === 0x66);
  return known && bytes[at + length - 1] === 0x65 ? undefined : "malformed";
}

/** More digits than a 128-bit number has. */
const integerSizeMax = 40;

function integer(page: CellPage, cell: number): CellProblem | undefined {
  const { bytes, starts, lengths } = page;
  const start = starts[cell] ?? 0;
  const length = lengths[cell] ?? 0;
  const from = bytes[start] === 0x2d ? start + 1 : start;
  const end = start + length;
  const plain = from < end && length <= integerSizeMax && digitsUntil(bytes, from, end) === end;
  // Zero has no sign.
  if (plain && (from === start || bytes[from] !== 0x30)) return undefined;
  return rewritten(page, cell, wholeNumber) ? undefined : "malformed";
}

function digitsUntil(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return at;
    at += 1;
  }
  return end;
}

/** Whether a number is written with an exponent behind `at`. */
function hasExponent(bytes: Uint8Array, at: number, end: number): boolean {
  for (let index = at; index < end; index += 1) {
    const byte = bytes[index];
    if (byte === 0x65 || byte === 0x45) return true;
  }
  return false;
}

function decimalOf(scale: number): CellRule {
  return ({ bytes, starts, lengths }, cell) => {
    const start = starts[cell] ?? 0;
    const end = start + (lengths[cell] ?? 0);
    const from = bytes[start] === 0x2d ? start + 1 : start;
    const point = digitsUntil(bytes, from, end);
    if (point === from || end - start > numberSizeMax) return "malformed";
    if (end - start > integerSizeMax + 1) return "columns";
    if (point === end) return scale === 0 ? undefined : "columns";
    const isPlain = bytes[point] === 0x2e && digitsUntil(bytes, point + 1, end) === end;
    if (!isPlain) return hasExponent(bytes, point, end) ? "columns" : "malformed";
    return end - point - 1 === scale ? undefined : "columns";
  };
}

function float(page: CellPage, cell: number): CellProblem | undefined {
  return canonicalFloat(page, cell) ? undefined : "malformed";
}

function binary({ bytes, starts, lengths }: CellPage, cell: number): CellProblem | undefined {
  const length = base64InPlace(bytes, starts[cell] ?? 0, lengths[cell] ?? 0);
  if (length < 0) return "malformed";
  lengths[cell] = length;
  return undefined;
}

function date({ bytes, starts, lengths }: CellPage, cell: number): CellProblem | undefined {
  const known = lengths[cell] === dateSize && isDate(bytes, starts[cell] ?? 0);
  return known ? undefined : "columns";
}

function uuid({ bytes, starts, lengths }: CellPage, cell: number): CellProblem | undefined {
  if (lengths[cell] !== 36) return "malformed";
  const start = starts[cell] ?? 0;
  for (let at = start; at < start + 36; at += 1) {
    const byte = bytes[at] ?? 0;
    const hyphen = at === start + 8 || at === start + 13 || at === start + 18 || at === start + 23;
    const digit = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
    if (hyphen ? byte !== 0x2d : !digit) return "malformed";
  }
  return undefined;
}

function timeOf(digits: number): CellRule {
  return (page, cell) => {
    const { bytes, starts, lengths } = page;
    const found = clockDigits(bytes, starts[cell] ?? 0, lengths[cell] ?? 0);
    return found < 0 ? "malformed" : withDigits(page, cell, digits - found);
  };
}

function timestampOf(digits: number, zoned: boolean): CellRule {
  return (page, cell) => {
    const { bytes, starts, lengths } = page;
    const start = starts[cell] ?? 0;
    if (!isDate(bytes, start)) return "columns";
    if (bytes[start + dateSize] !== 0x20) return "malformed";
    if (digits === 9 && !isNanoYear(bytes, start)) return "columns";
    if (zoned && (!isClock(bytes, start + dateSize + 1) || !inUtc(page, cell))) return "columns";
    const clock = start + dateSize + 1;
    const found = clockDigits(bytes, clock, (lengths[cell] ?? 0) - dateSize - 1);
    return found < 0 ? "malformed" : withDigits(page, cell, digits - found);
  };
}

/** Moves a reading to UTC and cuts the zone behind it. False, and nothing is changed, when the zone is not known or the year leaves four digits. */
function inUtc({ bytes, starts, lengths, zones }: CellPage, cell: number): boolean {
  const start = starts[cell] ?? 0;
  const end = start + (lengths[cell] ?? 0);
  let space = start + dateSize + 1;
  while (space < end && bytes[space] !== 0x20) space += 1;
  if (space === end) return false;
  const instant = zones.zone(bytes, space + 1, end);
  if (instant === undefined) return false;
  if (instant !== asItIs && !moveReading(bytes, start, instant)) return false;
  lengths[cell] = space - start;
  return true;
}

/** The quotes around a string are two bytes more than Trino's own digits need. */
const digitsMissingMax = 2;

/** Adds zeros up to the digits of the unit: the cell begins where its quote stood. */
function withDigits(page: CellPage, cell: number, missing: number): CellProblem | undefined {
  if (missing === 0) return undefined;
  const start = page.starts[cell] ?? 0;
  const length = page.lengths[cell] ?? 0;
  const { bytes } = page;
  const hasPoint = bytes.subarray(start, start + length).includes(0x2e);
  if (missing < 0 || missing > digitsMissingMax || !hasPoint) return "columns";
  bytes.copyWithin(start - 1, start, start + length);
  bytes.fill(0x30, start - 1 + length, start - 1 + length + missing);
  page.starts[cell] = start - 1;
  page.lengths[cell] = length + missing;
  return undefined;
}
