/**
 * The answer to one statement where all of it is here: found by where its messages begin and end, so that a short answer
 * is not taken apart message by message. Whatever is not exactly such an answer is left to who reads messages.
 */
import { getInt32 } from "./bytes.ts";
import { rowFits } from "./server.ts";

/** Where its parts lie in the bytes. */
export interface WholeAnswer {
  /** The body of the RowDescription, and of how many columns it tells. */
  readonly description: { readonly start: number; readonly end: number; readonly columns: number };
  readonly rows: WholeRows;
}

/** The rows of an answer and all behind them. */
export interface WholeRows {
  /** The rows, as whole messages. */
  readonly start: number;
  readonly end: number;
  readonly count: number;
  /** The text of the CommandComplete, without its terminator. */
  readonly tag: { readonly start: number; readonly end: number };
  /** Where the CommandComplete ends. */
  readonly completed: number;
  /** The letter of the ReadyForQuery. */
  readonly status: number | undefined;
}

const parseComplete = 0x31;
const bindComplete = 0x32;
const rowDescription = 0x54;
const dataRow = 0x44;
const commandComplete = 0x43;
const readyForQuery = 0x5a;
const headBytes = 5;
/** Of the two messages that a statement is answered with before its description, unless it is a simple query. */
export const preparedBytes: number = 2 * headBytes;

/**
 * Undefined unless the bytes are, with nothing between and nothing behind: the messages of a Parse and a Bind (not of a
 * simple query), a description of columns, rows of as many cells each, how it ended, and that the server is ready.
 */
export function wholeAnswer(bytes: Uint8Array, simple: boolean): WholeAnswer | undefined {
  let at = 0;
  if (!simple) {
    if (bytes[0] !== parseComplete || getInt32(bytes, 1) !== 4) return undefined;
    if (bytes[headBytes] !== bindComplete || getInt32(bytes, headBytes + 1) !== 4) return undefined;
    at = preparedBytes;
  }
  const described = endOf(bytes, at, rowDescription);
  if (described === undefined) return undefined;
  const columns = ((bytes[at + 5] ?? 0) << 8) | (bytes[at + 6] ?? 0);
  const rows = wholeRows(bytes, described, columns);
  const description = { start: at + headBytes, end: described, columns };
  return rows && { description, rows };
}

/** The same from the first row on, for an answer whose description is known. */
export function wholeRows(
  bytes: Uint8Array,
  first: number,
  columns: number,
): WholeRows | undefined {
  let count = 0;
  let last = first;
  while (bytes[last] === dataRow) {
    const end = endOf(bytes, last, dataRow);
    if (end === undefined || !rowFits(bytes, last + headBytes, end, columns)) return undefined;
    last = end;
    count += 1;
  }
  const completed = endOf(bytes, last, commandComplete);
  if (completed === undefined || zeroIn(bytes, last + headBytes) !== completed - 1)
    return undefined;
  const ended = endOf(bytes, completed, readyForQuery);
  if (ended !== bytes.length || ended - completed !== headBytes + 1) return undefined;
  return {
    start: first,
    end: last,
    count,
    tag: { start: last + headBytes, end: completed - 1 },
    completed,
    status: bytes[completed + headBytes],
  };
}

/** Where the first zero from `start` on is; a search of the runtime's takes longer than a tag. */
function zeroIn(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += 1;
  return at;
}

/** Where the message of this type ends; undefined where none is, or not all of it. */
function endOf(bytes: Uint8Array, at: number, type: number): number | undefined {
  if (bytes[at] !== type || at + headBytes > bytes.length) return undefined;
  const length = getInt32(bytes, at + 1);
  const end = at + 1 + length;
  return length >= 4 && end <= bytes.length ? end : undefined;
}
