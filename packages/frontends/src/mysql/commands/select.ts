/**
 * `SELECT` of nothing but variables, literals and functions about the connection: what drivers ask
 * first. Anything with a table, an operator or another function is the engine's.
 */
import {
  atEnd,
  looksAtWord,
  peekToken,
  readTokens,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { lastInsertId, type ClientSession, type Setting } from "../session/clientSession.ts";
import { ownErrors } from "../errors.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { askingFor, isKept, packetLimit, packetLimitOf } from "./engineVariables.ts";
import { serverVersion } from "./server.ts";
import { integerColumn, textColumn, type LocalAnswer } from "./answer.ts";
import { nextText, takeLiteral, takeName, takeString } from "./take.ts";
import { variableValue, type VariableContext } from "./variables.ts";

/** A cheap test before the text is cut into tokens: most statements fail it. */
const candidate =
  /@|\b(?:database|schema|version|connection_id|(?:current_|session_|system_)?user|current_role|last_insert_id|found_rows|row_count)\b/i;
/** No list of variables is longer. */
const candidateLengthMax = 16 * 1024;

/** False for a SELECT that only an engine answers, whatever the session is. */
export function mayBeOurs(sql: string): boolean {
  return sql.length <= candidateLengthMax && candidate.test(sql);
}

interface Item {
  readonly name: string;
  readonly value: Setting;
  /** A statement of literals alone is the engine's. */
  readonly literal: boolean;
  /** Never negative, whatever it is now. */
  readonly counts: boolean;
  /** An expression that the engine answers; undefined where the value is known here. */
  readonly asked: string | undefined;
}

/** What the engine has to say. */
interface Asked {
  readonly asked: string;
}

const signedMax = 9_223_372_036_854_775_807n;

type ItemStep = Item | "notOurs" | Extract<LocalAnswer, { kind: "error" }>;

/** The answer, an error for an unknown variable, or undefined when the engine has to answer. */
export function answerSelect(sql: string, context: VariableContext): LocalAnswer | undefined {
  if (!mayBeOurs(sql)) return undefined;
  const reader = readTokens(sql, "mysql");
  if (reader === undefined || !takeWords(reader, "SELECT")) return undefined;

  const items: Item[] = [];
  do {
    const item = takeItem(reader, sql, context);
    if (item === "notOurs") return undefined;
    if ("kind" in item) return item;
    items.push(item);
  } while (takeSymbol(reader, ","));

  takeWords(reader, "FROM", "DUAL");
  const rows = takeLimit(reader);
  if (rows === undefined || !atEnd(reader) || items.every(({ literal }) => literal))
    return undefined;
  const asked = items.flatMap((item) => item.asked ?? []);
  if (asked.length > 0) {
    // All of it is the engine's: it answers in its own words.
    const isEngines = items.every((item) => item.literal || item.asked !== undefined);
    if (isEngines && !asked.some(isPacketLimit)) return undefined;
    const known = error(ownErrors.syntax(sql));
    return askingFor(asked, (told) => answerSelect(sql, { ...context, told }) ?? known);
  }
  return {
    kind: "rows",
    columns: items.map(columnOf),
    rows: Array.from({ length: rows }, () => items.map((item): Value => item.value)),
  };
}

function columnOf({ name, value, counts }: Item): Column {
  if (typeof value !== "bigint") return textColumn(name);
  const column = integerColumn(name, counts || value > signedMax);
  return counts ? { ...column, nullable: false } : column;
}

/** Functions and variables of which MySQL says that they are never negative. */
const countsOnly =
  /^(?:@@(?:session\.|local\.)?(?:warning_count|error_count)|last_insert_id|connection_id)$/i;

function takeItem(reader: TokenReader, sql: string, context: VariableContext): ItemStep {
  const first = peekToken(reader);
  const taken = takeValue(reader, context);
  if (taken === undefined || first === undefined) return "notOurs";
  if (taken !== null && typeof taken === "object" && "kind" in taken) return taken;
  const isAsked = taken !== null && typeof taken === "object";
  const [value, asked] = isAsked ? [null, taken.asked] : [taken, undefined];
  const last = peekToken(reader, -1) ?? first;
  const name = takeAlias(reader) ?? sql.slice(first.start, last.end);
  const literal = first.kind !== "variable" && (first.kind !== "word" || last === first);
  const counts = countsOnly.test(first.text);
  return { name, value, counts, asked, literal: literal && first.upper !== "CURRENT_USER" };
}

function takeAlias(reader: TokenReader): string | undefined {
  const named = takeWords(reader, "AS");
  if (!named && looksAtWord(reader, ["FROM", "LIMIT"])) return undefined;
  return takeString(reader) ?? takeName(reader);
}

function takeValue(
  reader: TokenReader,
  context: VariableContext,
): Setting | undefined | Asked | Extract<LocalAnswer, { kind: "error" }> {
  if (peekToken(reader)?.kind === "variable") {
    const text = nextText(reader);
    reader.at += 1;
    const asked = askedVariable(text, context);
    if (asked !== undefined) return asked;
    const value = readVariable(text, context);
    return value === undefined ? error(ownErrors.unknownVariable(text.replace(/^@@/, ""))) : value;
  }
  const start = reader.at;
  const name = peekToken(reader)?.upper ?? "";
  const called = takeFunction(reader, context);
  if (called === undefined) return takeLiteral(reader);
  if (!engineFunctions.has(name) || !context.ownWords()) return called;
  const text = reader.at === start + 1 ? name : `${name}()`;
  const told = context.told?.get(text);
  return told === undefined ? { asked: text } : told;
}

/** A variable that the engine has to be asked for first. */
export function askedVariable(text: string, context: VariableContext): Asked | undefined {
  if (!text.startsWith("@@") || context.told?.has(text) === true) return undefined;
  const name = variableName(text);
  // The session's access is set on the server's connection, as its isolation is.
  const isServers = (accessNames.has(name) || name === packetLimit) && context.relays();
  const own = isKept(name) && !isServers && !/^@@(?:global|persist)\./i.test(text);
  return own || !context.ownWords() ? undefined : { asked: text };
}

const accessNames: ReadonlySet<string> = new Set(["transaction_read_only", "tx_read_only"]);

function variableName(text: string): string {
  return text
    .slice(2)
    .toLowerCase()
    .replace(/^(?:session|local|global|persist)\./, "");
}

function error(reply: ErrorReply): Extract<LocalAnswer, { kind: "error" }> {
  return { kind: "error", reply };
}

/** `@@x`, `@@session.x`, `@@global.x`, `@x`; undefined for a system variable that does not exist. */
export function readVariable(text: string, context: VariableContext): Setting | undefined {
  if (!text.startsWith("@@")) return context.client.settings.get(text.toLowerCase()) ?? null;
  const told = context.told?.get(text);
  if (told === undefined) return variableValue(variableName(text), context);
  return isPacketLimit(text) ? packetLimitOf(told, context) : told;
}

/** True for the session's limit of a packet, which both the server and the listener have: the lesser one counts. */
function isPacketLimit(text: string): boolean {
  return variableName(text) === packetLimit && !/^@@(?:global|persist)\./i.test(text);
}

/** Functions about the server, which the engine answers where it speaks MySQL. */
const engineFunctions: ReadonlySet<string> = new Set(["CURRENT_ROLE", "VERSION"]);

type Function = (client: ClientSession) => Setting;

const loginUser: Function = ({ session }) => `${session.identity.user}@${session.clientAddress}`;
const currentUser: Function = ({ session }) => `${session.identity.user}@%`;
const database: Function = ({ session }) => session.schema ?? null;

const functions: Readonly<Record<string, Function>> = {
  CONNECTION_ID: ({ connectionId }) => BigInt(connectionId),
  CURRENT_ROLE: () => "NONE",
  CURRENT_USER: currentUser,
  DATABASE: database,
  FOUND_ROWS: ({ foundRows }) => BigInt(foundRows),
  LAST_INSERT_ID: lastInsertId,
  ROW_COUNT: ({ rowCount }) => BigInt(rowCount),
  SCHEMA: database,
  SESSION_USER: loginUser,
  SYSTEM_USER: loginUser,
  USER: loginUser,
  VERSION: () => serverVersion,
};

function takeFunction(reader: TokenReader, { client }: VariableContext): Setting | undefined {
  const name = peekToken(reader)?.upper ?? "";
  const call = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (call === undefined) return undefined;
  const start = reader.at;
  reader.at += 1;
  if (takeSymbol(reader, "(") ? takeSymbol(reader, ")") : name === "CURRENT_USER")
    return call(client);
  reader.at = start;
  return undefined;
}

/** What a function about the connection answers; undefined for any other. `name` is in upper case. */
export function functionValue(name: string, { client }: VariableContext): Setting | undefined {
  return Object.hasOwn(functions, name) ? functions[name]?.(client) : undefined;
}

/** Rows that a LIMIT leaves of one row; undefined when it is not a limit. */
function takeLimit(reader: TokenReader): 0 | 1 | undefined {
  if (!takeWords(reader, "LIMIT")) return 1;
  const first = takeLiteral(reader);
  if (typeof first !== "bigint") return undefined;
  const isOffset = takeSymbol(reader, ",");
  const second = isOffset || takeWords(reader, "OFFSET") ? takeLiteral(reader) : 0n;
  if (typeof second !== "bigint") return undefined;
  const [count, offset] = isOffset ? [second, first] : [first, second];
  return count > 0n && offset === 0n ? 1 : 0;
}
