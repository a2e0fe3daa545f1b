/**
 * Reads the statements of SQL cursors: DECLARE, FETCH, MOVE and CLOSE.
 *
 * Cursors go forward only, because an engine's result is read once. A statement that goes back is refused as
 * PostgreSQL refuses it for a NO SCROLL cursor.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import {
  atEnd,
  looksAtWord,
  peekToken,
  readTokens,
  takeFoldedName,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";

export interface Declaration {
  readonly name: string;
  /** Rows come in binary without being asked for it. */
  readonly binary: boolean;
  readonly sql: string;
  /** UTF-16 units of the statement before the query. */
  readonly start: number;
}

export type CursorStatement =
  | {
      readonly kind: "fetch";
      readonly name: string;
      /** Rows; Infinity for all that are left. */
      readonly count: number;
      /** False for MOVE: the rows are passed over. */
      readonly shown: boolean;
    }
  /** `name` undefined: all of them. */
  | { readonly kind: "close"; readonly name: string | undefined };

/** Reads a DECLARE, or answers why it is refused. Undefined when it is something else. */
export function readDeclare(statement: string): Result<Declaration, GatewayError> | undefined {
  const cursor = openSql(statement, "postgres");
  // Only the head is read: the query behind it may be long.
  while (nextSignificant(cursor) && upperWord(cursor) !== "FOR");
  if (upperWord(cursor) !== "FOR") return undefined;
  const reader = readTokens(statement.slice(0, cursor.start), "postgres");
  if (!nextSignificant(cursor)) return undefined;
  const { start } = cursor;
  if (reader === undefined || !takeWords(reader, "DECLARE")) return undefined;
  const name = takeFoldedName(reader);
  const options = readDeclareOptions(reader);
  if (name === undefined || options === undefined) return undefined;
  if (options.refused !== undefined) {
    return err(gatewayError("query.unsupported", { message: options.refused }));
  }
  return ok({ name, binary: options.binary, sql: statement.slice(start), start });
}

interface DeclareOptions {
  readonly binary: boolean;
  readonly refused: string | undefined;
}

function readDeclareOptions(reader: TokenReader): DeclareOptions | undefined {
  let binary = false;
  let refused: string | undefined;
  while (!takeWords(reader, "CURSOR")) {
    if (takeWords(reader, "BINARY")) binary = true;
    else if (takeWords(reader, "SCROLL")) refused = "SCROLL cursors are not supported";
    else if (!takeWords(reader, "NO", "SCROLL") && takeOneOf(reader, sensitivity) === undefined) {
      return undefined;
    }
  }
  if (takeWords(reader, "WITH", "HOLD")) refused = "cursors WITH HOLD are not supported";
  else takeWords(reader, "WITHOUT", "HOLD");
  return atEnd(reader) ? { binary, refused } : undefined;
}

const sensitivity: readonly string[] = ["ASENSITIVE", "INSENSITIVE"];

/** Reads a FETCH, MOVE or CLOSE, or answers why it is refused. Undefined when it is something else. */
export function readCursor(statement: string): Result<CursorStatement, GatewayError> | undefined {
  const reader = readTokens(statement, "postgres");
  if (reader === undefined) return undefined;
  if (takeWords(reader, "CLOSE")) {
    if (takeWords(reader, "ALL")) {
      return atEnd(reader) ? ok({ kind: "close", name: undefined }) : undefined;
    }
    const name = takeFoldedName(reader);
    return name !== undefined && atEnd(reader) ? ok({ kind: "close", name }) : undefined;
  }
  const word = takeOneOf(reader, ["FETCH", "MOVE"]);
  if (word === undefined) return undefined;
  const count = readDirection(reader);
  takeOneOf(reader, ["FROM", "IN"]);
  const name = takeFoldedName(reader);
  if (count === undefined || name === undefined || !atEnd(reader)) return undefined;
  if (count === "backward" || count < 0) return err(forwardOnly());
  return ok({ kind: "fetch", name, count, shown: word === "FETCH" });
}

/** How many rows to go forward; one where nothing is said. */
function readDirection(reader: TokenReader): number | "backward" | undefined {
  // A cursor may have the name of a direction: `FETCH next` fetches one row of the cursor "next".
  if (peekToken(reader, 1) === undefined) return 1;
  if (takeWords(reader, "NEXT")) return 1;
  if (takeWords(reader, "ALL")) return Number.POSITIVE_INFINITY;
  if (takeWords(reader, "FORWARD")) {
    if (takeWords(reader, "ALL")) return Number.POSITIVE_INFINITY;
    return takesCount(reader) ? takeCount(reader) : 1;
  }
  if (takeWords(reader, "RELATIVE")) {
    const rows = takeCount(reader);
    return rows === 1 || rows === undefined ? rows : "backward";
  }
  if (takeOneOf(reader, backwards) !== undefined) {
    if (takesCount(reader)) takeCount(reader);
    else takeWords(reader, "ALL");
    return "backward";
  }
  if (takesCount(reader)) return takeCount(reader);
  return looksAtWord(reader, ["FROM", "IN"]) ? 1 : undefined;
}

/** `FIRST`, `LAST` and `ABSOLUTE` may also go forward, but by a count that nobody knows beforehand. */
const backwards: readonly string[] = ["PRIOR", "BACKWARD", "FIRST", "LAST", "ABSOLUTE"];

function takesCount(reader: TokenReader): boolean {
  const token = peekToken(reader);
  return token?.kind === "number" || token?.text === "-" || token?.text === "+";
}

function takeCount(reader: TokenReader): number | undefined {
  const sign = takeSymbol(reader, "-") ? -1 : 1;
  if (sign === 1) takeSymbol(reader, "+");
  const token = peekToken(reader);
  if (token?.kind !== "number" || !/^\d{1,10}$/.test(token.text)) return undefined;
  reader.at += 1;
  return sign * Number(token.text);
}

/** PostgreSQL's answer for a cursor that was declared NO SCROLL. */
export function forwardOnly(): GatewayError {
  return gatewayError("query.invalid", {
    sqlState: "55000",
    message: "cursor can only scan forward",
    hint: "An engine's result is read once, from its first row to its last.",
  });
}
