/**
 * Reads the statements by which a client speaks about its session into values.
 *
 * The gateway keeps the session itself and replays it, so it must know what `SET`, `USE` and `PREPARE`
 * say. For what it does not understand to the last token it returns undefined, and the caller sends the
 * text to the engine or refuses it: a setting that is half understood would be kept wrongly.
 */
import { openSql, upperWord, type LexDoubt } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextSignificant } from "../lex/lex.ts";
import { decodeString } from "../lex/literal.ts";
import type { StatementWalk } from "../lex/statement.ts";
import type { Steps } from "../reading/steps.ts";
import { readSet } from "./set.ts";
import type { SessionStatement, SettingValue } from "./statement.ts";
import { readBegin, readEnd, readSavepoint } from "./transaction.ts";
import {
  atEnd,
  decodeAhead,
  keepToken,
  peekToken,
  readerOver,
  readTokens,
  takeFoldedName,
  takeOneOf,
  takePath,
  takeSettingName,
  takeSymbol,
  takeValue,
  takeValues,
  takeWords,
  type Token,
  type TokenReader,
} from "./tokenReader.ts";

type Reader = (reader: TokenReader, firstWord: string) => SessionStatement | undefined;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["SET", readSet],
  ["RESET", readReset],
  ["SHOW", readShow],
  ["USE", readUse],
  ["BEGIN", readBegin],
  ["START", readBegin],
  ["COMMIT", (reader) => readEnd(reader, "commit")],
  ["END", (reader) => readEnd(reader, "commit")],
  ["ROLLBACK", (reader) => readEnd(reader, "rollback")],
  ["ABORT", (reader) => readEnd(reader, "rollback")],
  ["SAVEPOINT", readSavepoint],
  ["RELEASE", readSavepoint],
  ["DISCARD", readDiscard],
  ["PREPARE", readPrepare],
  ["EXECUTE", readExecute],
  ["DEALLOCATE", readDeallocate],
  ["DROP", readDrop],
  ["KILL", readKill],
]);

/**
 * The session statement that a text consists of, or undefined when it is another statement, more than
 * one, or not understood. Cost: the first word for other statements, otherwise linear.
 */
export function readSessionStatement(sql: string, dialect: Dialect): SessionStatement | undefined {
  const cursor = openSql(sql, dialect);
  const reads = nextSignificant(cursor) ? readers.get(upperWord(cursor)) : undefined;
  if (reads === undefined) return undefined;
  const reader = readTokens(sql, dialect);
  return reader === undefined ? undefined : readBy(reads, reader);
}

function readBy(reads: Reader, reader: TokenReader): SessionStatement | undefined {
  const first = peekToken(reader)?.upper ?? "";
  reader.at = 1;
  return reads(reader, first);
}

/** The same for a caller that walks a statement by itself, for several reasons at once. */
export interface SessionSearch {
  readonly dialect: Dialect;
  readonly tokens: Token[];
  /** Set when the first word may begin such a statement. */
  reads: Reader | undefined;
}

/** A search before the first token. */
export function searchSession(dialect: Dialect): SessionSearch {
  return { dialect, tokens: [], reads: undefined };
}

/** Takes the token that the walk stands on. */
export function readSessionToken(
  search: SessionSearch,
  { cursor, tokenCount }: StatementWalk,
): void {
  if (tokenCount === 1) search.reads = readers.get(upperWord(cursor));
  if (search.reads !== undefined) keepToken(search.tokens, cursor);
}

/** The result at the end of the walk. `doubt` is the lexer's about this statement. */
export function* sessionFound(
  { dialect, tokens, reads }: SessionSearch,
  walk: StatementWalk,
  doubt: LexDoubt | undefined,
): Steps<SessionStatement | undefined> {
  if (reads === undefined) return undefined;
  yield* decodeAhead(tokens, dialect);
  const reader = readerOver(tokens, walk, { dialect, doubt });
  return reader === undefined ? undefined : readBy(reads, reader);
}

/** Settings under which the same text lexes differently, so that what we read is not what the engine reads. */
const lexisSettings: ReadonlySet<string> = new Set([
  "sql_mode",
  "standard_conforming_strings",
  "backslash_quote",
]);

/** Whether a statement changes how the engine reads strings and names. */
export function changesLexis(statement: SessionStatement): boolean {
  if (statement.kind !== "set") return false;
  return statement.changes.some(
    (change) => change.kind === "variable" && lexisSettings.has(change.name),
  );
}

/** Settings whose name is more than one word. */
function takeWordySetting(reader: TokenReader): string | undefined {
  if (takeWords(reader, "TIME", "ZONE")) return "timezone";
  if (takeWords(reader, "SESSION", "AUTHORIZATION")) return "session_authorization";
  if (takeWords(reader, "TRANSACTION", "ISOLATION", "LEVEL")) return "transaction_isolation";
  return undefined;
}

function readReset(reader: TokenReader): SessionStatement | undefined {
  if (takeWords(reader, "ALL")) return atEnd(reader) ? { kind: "resetAll" } : undefined;
  const wordy = takeWordySetting(reader);
  if (wordy === undefined && peekToken(reader, 1) !== undefined)
    takeOneOf(reader, ["SESSION", "GLOBAL", "LOCAL"]);
  const name = wordy ?? takeSettingName(reader);
  return name === undefined || !atEnd(reader) ? undefined : { kind: "reset", name };
}

function readShow(reader: TokenReader): SessionStatement | undefined {
  const name = takeWordySetting(reader) ?? takeSettingName(reader);
  return name === undefined || !atEnd(reader) ? undefined : { kind: "show", name };
}

const useObjects: readonly string[] = ["ROLE", "WAREHOUSE", "DATABASE", "SCHEMA", "CATALOG"];

function readUse(reader: TokenReader): SessionStatement | undefined {
  const next = peekToken(reader, 1)?.kind;
  const object =
    next === "word" || next === "quotedIdentifier" ? takeOneOf(reader, useObjects) : undefined;
  const path = takePath(reader);
  return path === undefined || !atEnd(reader)
    ? undefined
    : { kind: "use", object: object?.toLowerCase(), path };
}

function readDiscard(reader: TokenReader): SessionStatement | undefined {
  const word = takeOneOf(reader, ["ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY"]);
  if (!atEnd(reader)) return undefined;
  switch (word) {
    case "ALL":
      return { kind: "discard", what: "all" };
    case "PLANS":
      return { kind: "discard", what: "plans" };
    case "SEQUENCES":
      return { kind: "discard", what: "sequences" };
    case "TEMP":
    case "TEMPORARY":
      return { kind: "discard", what: "temp" };
    default:
      return undefined;
  }
}

/** `PREPARE p (int) AS …`, Trino's `PREPARE p FROM …`, MySQL's `PREPARE p FROM '…'`. */
function readPrepare(reader: TokenReader): SessionStatement | undefined {
  const name = takeFoldedName(reader);
  if (name === undefined) return undefined;
  const types = takeTypes(reader);
  if (types === undefined || takeOneOf(reader, ["AS", "FROM"]) === undefined) return undefined;
  const sql = reader.dialect === "mysql" ? takeText(reader) : takeRest(reader);
  return sql === undefined ? undefined : { kind: "prepare", name, types, sql };
}

function takeTypes(reader: TokenReader): readonly string[] | undefined {
  if (!takeSymbol(reader, "(")) return [];
  const values = takeValues(reader);
  if (values === undefined || !takeSymbol(reader, ")")) return undefined;
  return values.map((value) => (value.kind === "default" ? "default" : value.text));
}

/** A string literal at the end of the statement. */
function takeText(reader: TokenReader): string | undefined {
  const value = takeValue(reader);
  return value?.kind === "text" && atEnd(reader) ? value.text : undefined;
}

function takeRest(reader: TokenReader): string | undefined {
  const token = peekToken(reader);
  return token === undefined ? undefined : reader.sql.slice(token.start, reader.end);
}

function readExecute(reader: TokenReader): SessionStatement | undefined {
  if (peekToken(reader, 1)?.kind === "string" && takeWords(reader, "IMMEDIATE"))
    return readImmediate(reader);
  const name = takeFoldedName(reader);
  if (name === undefined) return undefined;
  const values = takeArguments(reader);
  return values === undefined || !atEnd(reader) ? undefined : { kind: "execute", name, values };
}

function readImmediate(reader: TokenReader): SessionStatement | undefined {
  const sql = decodeString(peekToken(reader)?.text ?? "", reader.dialect);
  reader.at += 1;
  const values = takeArguments(reader);
  if (sql === undefined || values === undefined || !atEnd(reader)) return undefined;
  return { kind: "executeImmediate", sql, values };
}

/** `(a, b)` or `USING a, b`; an empty list when neither comes. */
function takeArguments(reader: TokenReader): readonly SettingValue[] | undefined {
  if (takeWords(reader, "USING")) return takeValues(reader);
  if (!takeSymbol(reader, "(")) return [];
  if (takeSymbol(reader, ")")) return [];
  const values = takeValues(reader);
  return takeSymbol(reader, ")") ? values : undefined;
}

function readDeallocate(reader: TokenReader): SessionStatement | undefined {
  if (peekToken(reader, 1) !== undefined) takeWords(reader, "PREPARE");
  if (takeWords(reader, "ALL")) return atEnd(reader) ? { kind: "deallocateAll" } : undefined;
  const name = takeFoldedName(reader);
  return name === undefined || !atEnd(reader) ? undefined : { kind: "deallocate", name };
}

/** MySQL's `DROP PREPARE p`; any other `DROP` is not about the session. */
function readDrop(reader: TokenReader): SessionStatement | undefined {
  return takeWords(reader, "PREPARE") ? readDeallocate(reader) : undefined;
}

function readKill(reader: TokenReader): SessionStatement | undefined {
  takeOneOf(reader, ["HARD", "SOFT"]);
  const target = takeOneOf(reader, ["CONNECTION", "QUERY"]) === "QUERY" ? "query" : "connection";
  if (target === "query") takeWords(reader, "ID");
  const value = takeValue(reader);
  if (value === undefined || !atEnd(reader) || (value.kind !== "number" && value.kind !== "text"))
    return undefined;
  return { kind: "kill", target, id: value.text };
}
