/**
 * A Trino server's answer as offsets into its bytes: where columns, rows, counters and errors are.
 *
 * The rows, nearly all of an answer, are not read here. Trino writes `stats` right behind them, so their end
 * is found from the end of the answer. Whoever reads the rows must come to the same end, or refuse the
 * answer. Only the short values that it names are decoded.
 */

/** Bytes from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One answer. Spans hold one JSON value each. */
export interface ClientPage {
  readonly id: string;
  readonly nextUri: string | undefined;
  readonly columns: Span | undefined;
  /** An array of rows, or an object when the rows are spooled. */
  readonly data: Span | undefined;
  readonly stats: Span | undefined;
  readonly error: Span | undefined;
  readonly warnings: Span | undefined;
  readonly updateType: string | undefined;
  readonly updateCount: number | undefined;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const letterN = 0x6e;

/** 1 for the bytes that delimit values: one look-up is cheaper than six comparisons for each byte. */
const marks = new Uint8Array(256);
for (const mark of [quote, comma, openArray, closeArray, openObject, closeObject]) marks[mark] = 1;

/** Length of the longest name that is read, with each letter as `\uXXXX`; a longer one is another name. */
const escapedNameMax = 6 * "updateCount".length;
/** Ids, links and statement names are short: 4,096 letters, each of which may be an escape. */
const textLengthMax = 6 * 4_096;

const decoder = new TextDecoder();
/** The text between the rows and the counters. */
const behindRows = new TextEncoder().encode(',"stats":{');

/** Reads an answer; undefined when it is no object with an id, is cut off, or has a link that is no link. */
export function readClientPage(bytes: Uint8Array): ClientPage | undefined {
  const members: Members = {
    id: undefined,
    nextUri: undefined,
    columns: undefined,
    data: undefined,
    stats: undefined,
    error: undefined,
    warnings: undefined,
    updateType: undefined,
    updateCount: undefined,
  };
  if (!readMembers(bytes, members)) return undefined;
  const id = textIn(bytes, members.id);
  const nextUri = textIn(bytes, members.nextUri);
  if (id === undefined) return undefined;
  // Without its link the answer would seem to be the last, and the rows so far the whole result.
  if (nextUri === undefined && members.nextUri !== undefined) return undefined;
  const { columns, data, stats, error, warnings, updateCount } = members;
  return {
    id,
    nextUri,
    columns,
    data,
    stats,
    error,
    warnings,
    updateType: textIn(bytes, members.updateType),
    updateCount: updateCount === undefined ? undefined : countIn(bytes, updateCount),
  };
}

/** The JSON text in a span. */
export function textOfSpan(bytes: Uint8Array, { start, end }: Span): string {
  return decoder.decode(bytes.subarray(start, end));
}

/** The value in a span; undefined when it is no JSON. For small spans, never for rows. */
export function valueOfSpan(bytes: Uint8Array, span: Span | undefined): unknown {
  if (span === undefined) return undefined;
  try {
    return JSON.parse(textOfSpan(bytes, span)) as unknown;
  } catch {
    return undefined;
  }
}

/** Where the members that are read lie. */
type Members = { -readonly [Name in keyof ClientPage]: Span | undefined };

/** Names of the members that are read, by their length; each length has two at most. */
const namesBySize: readonly (readonly (keyof ClientPage)[])[] = [
  [],
  [],
  ["id"],
  [],
  ["data"],
  ["stats", "error"],
  [],
  ["nextUri", "columns"],
  ["warnings"],
  [],
  ["updateType"],
  ["updateCount"],
];

/** Notes the members of the object in the bytes: the last one of each name, without null values. False when it is no object. */
function readMembers(bytes: Uint8Array, members: Members): boolean {
  let { start: at } = jsonSpan(bytes);
  if (bytes[at] !== openObject) return false;
  at = skipSpace(bytes, at + 1);
  for (;;) {
    const keyEnd = skipValue(bytes, at);
    if (bytes[at] !== quote || keyEnd < 0) return false;
    const name = nameIn(bytes, at + 1, keyEnd - 1);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== colon) return false;
    const start = skipSpace(bytes, at + 1);
    const end = name === "data" ? endOfRows(bytes, start) : skipValue(bytes, start);
    if (end < 0) return false;
    if (name !== undefined && bytes[start] !== letterN) members[name] = { start, end };
    at = skipSpace(bytes, end);
    if (bytes[at] === closeObject) return skipSpace(bytes, at + 1) === bytes.length;
    if (bytes[at] !== comma) return false;
    at = skipSpace(bytes, at + 1);
  }
}

/** The name in `start` to `end` if it is one that is read. Compared byte by byte, because most are not. */
function nameIn(bytes: Uint8Array, start: number, end: number): keyof ClientPage | undefined {
  for (const name of namesBySize[end - start] ?? []) {
    let same = 0;
    while (same < name.length && bytes[start + same] === name.charCodeAt(same)) same += 1;
    if (same === name.length) return name;
  }
  // Nobody writes keys with escapes. But if they were ignored, a page with rows would look like one without.
  if (end - start > escapedNameMax) return undefined;
  if (!bytes.subarray(start, end).includes(backslash)) return undefined;
  const key = valueOfSpan(bytes, { start: start - 1, end: end + 1 });
  return namesBySize.flat().find((name) => name === key);
}

function endOfRows(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== openArray) return skipValue(bytes, start);
  for (let at = bytes.length - behindRows.length; at > start; at -= 1) {
    if (bytes[at] === comma && endsRows(bytes, start, at) && stands(bytes, at)) return at;
  }
  return skipValue(bytes, start);
}

/** Whether rows may end there: behind a row, or empty. The list of another member before the counters ends otherwise. */
function endsRows(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[end - 1] !== closeArray) return false;
  return bytes[end - 2] === closeArray || end - 2 === start;
}

function stands(bytes: Uint8Array, at: number): boolean {
  for (let index = 1; index < behindRows.length; index += 1) {
    if (bytes[at + index] !== behindRows[index]) return false;
  }
  return true;
}

/** Where the JSON value at `at` ends; -1 when it does not. Brackets are counted, not paired. */
export function skipValue(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let index = at; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (marks[byte] !== 1) continue;
    switch (byte) {
      case quote:
        index = stringEnd(bytes, index + 1);
        if (index < 0) return -1;
        if (depth === 0) return index + 1;
        break;
      case openArray:
      case openObject:
        depth += 1;
        break;
      case closeArray:
      case closeObject:
        depth -= 1;
        if (depth === 0) return index + 1;
        if (depth < 0) return index;
        break;
      case comma:
        if (depth === 0) return index;
        break;
      default:
        break;
    }
  }
  return -1;
}

/** Index of the quote that ends the string whose text begins at `at`; -1 when there is none. */
function stringEnd(bytes: Uint8Array, at: number): number {
  for (let index = at; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) return index;
    if (byte === backslash) index += 1;
  }
  return -1;
}

/** The first byte at or behind `at` that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let index = at;
  while (isSpace(bytes[index])) index += 1;
  return index;
}

/** The span of a text's JSON, without white space and byte order mark around it (RFC 8259 §8.1). */
export function jsonSpan(bytes: Uint8Array): Span {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const start = skipSpace(bytes, marked ? 3 : 0);
  let end = bytes.length;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return { start, end };
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function textIn(bytes: Uint8Array, span: Span | undefined): string | undefined {
  if (span === undefined || span.end - span.start > textLengthMax) return undefined;
  if (isPlainString(bytes, span)) {
    return decoder.decode(bytes.subarray(span.start + 1, span.end - 1));
  }
  const value = valueOfSpan(bytes, span);
  return typeof value === "string" ? value : undefined;
}

/** Whether a span is a string of printable ASCII without escapes, which is its own text. */
function isPlainString(bytes: Uint8Array, { start, end }: Span): boolean {
  if (end - start < 2 || bytes[start] !== quote || bytes[end - 1] !== quote) return false;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e || byte === quote || byte === backslash) return false;
  }
  return true;
}

function countIn(bytes: Uint8Array, span: Span): number | undefined {
  const count = Number(textOfSpan(bytes, span));
  return Number.isSafeInteger(count) ? count : undefined;
}
