/**
 * `SELECT` of nothing but variables, literals and functions about the connection: what drivers ask
 * first. Anything with a table, an operator or another function is the engine's.
 */
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { ClientSession, Setting } from "../clientSession.ts";
import { ownErrors } from "../errors.ts";
import { serverVersion } from "../version.ts";
import { integerColumn, textColumn, type LocalAnswer } from "./answer.ts";
import { tokensOf, TokenWalk } from "./tokens.ts";
import { variableValue, type VariableContext } from "./variables.ts";

/** A cheap look before anything is cut into tokens: most statements are no candidates. */
const candidate =
  /@|\b(?:database|schema|version|connection_id|(?:current_|session_|system_)?user|current_role|last_insert_id|found_rows|row_count)\b/i;
/** No list of variables is longer. */
const candidateLengthMax = 16 * 1024;

interface Item {
  readonly name: string;
  readonly value: Setting;
  /** A literal alone does not make a statement ours. */
  readonly literal: boolean;
}

type ItemStep = Item | "notOurs" | Extract<LocalAnswer, { kind: "error" }>;

/** The answer, an error for an unknown variable, or undefined when the engine has to answer. */
export function answerSelect(sql: string, context: VariableContext): LocalAnswer | undefined {
  if (sql.length > candidateLengthMax || !candidate.test(sql)) return undefined;
  const tokens = tokensOf(sql);
  if (tokens === undefined) return undefined;
  const walk = new TokenWalk(tokens);
  if (!walk.takeWords("SELECT")) return undefined;

  const items: Item[] = [];
  do {
    const item = takeItem(walk, sql, context);
    if (item === "notOurs") return undefined;
    if ("kind" in item) return item;
    items.push(item);
  } while (walk.takeSign(","));

  walk.takeWords("FROM", "DUAL");
  const rows = takeLimit(walk);
  if (rows === undefined || !walk.done || items.every(({ literal }) => literal)) return undefined;
  return {
    kind: "rows",
    columns: items.map(columnOf),
    rows: Array.from({ length: rows }, () => items.map((item): Value => item.value)),
  };
}

function columnOf({ name, value }: Item): Column {
  return typeof value === "bigint" ? integerColumn(name) : textColumn(name);
}

function takeItem(walk: TokenWalk, sql: string, context: VariableContext): ItemStep {
  const first = walk.next;
  const value = takeValue(walk, context);
  if (value === undefined) return "notOurs";
  if (value !== null && typeof value === "object") return value;
  const last = walk.tokens[walk.at - 1] ?? first;
  const name = takeAlias(walk) ?? sql.slice(first.start, last.end);
  const literal = first.kind === "string" || first.kind === "number" || first.word === "NULL";
  return { name, value, literal };
}

function takeAlias(walk: TokenWalk): string | undefined {
  const named = walk.takeWords("AS");
  const { kind, word } = walk.next;
  if (!named && (word === "FROM" || word === "LIMIT")) return undefined;
  return kind === "string" ? walk.takeString() : walk.takeName();
}

function takeValue(
  walk: TokenWalk,
  context: VariableContext,
): Setting | undefined | Extract<LocalAnswer, { kind: "error" }> {
  const { kind, text } = walk.next;
  if (kind === "variable") {
    walk.at += 1;
    const value = readVariable(text, context);
    return value === undefined
      ? { kind: "error", reply: ownErrors.unknownVariable(text.replace(/^@@/, "")) }
      : value;
  }
  if (kind === "word") {
    const called = takeFunction(walk, context);
    if (called !== undefined) return called;
  }
  return walk.takeLiteral();
}

/** `@@x`, `@@session.x`, `@@global.x`, `@x`; undefined for a system variable that does not exist. */
export function readVariable(text: string, context: VariableContext): Setting | undefined {
  if (!text.startsWith("@@")) return context.client.settings.get(text.toLowerCase()) ?? null;
  const name = text.slice(2).toLowerCase().replace(/^(?:session|local|global|persist)\./, "");
  return variableValue(name, context);
}

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
  LAST_INSERT_ID: () => 0n,
  ROW_COUNT: ({ rowCount }) => BigInt(rowCount),
  SCHEMA: database,
  SESSION_USER: loginUser,
  SYSTEM_USER: loginUser,
  USER: loginUser,
  VERSION: () => serverVersion,
};

function takeFunction(walk: TokenWalk, { client }: VariableContext): Setting | undefined {
  const name = walk.next.word;
  const call = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (call === undefined) return undefined;
  const start = walk.at;
  walk.at += 1;
  if (walk.takeSign("(") ? walk.takeSign(")") : name === "CURRENT_USER") return call(client);
  walk.at = start;
  return undefined;
}

/** Rows that a LIMIT leaves of one row; undefined when it is not a limit. */
function takeLimit(walk: TokenWalk): 0 | 1 | undefined {
  if (!walk.takeWords("LIMIT")) return 1;
  const first = walk.takeLiteral();
  if (typeof first !== "bigint") return undefined;
  const isOffset = walk.takeSign(",");
  const second = isOffset || walk.takeWords("OFFSET") ? walk.takeLiteral() : 0n;
  if (typeof second !== "bigint") return undefined;
  const [count, offset] = isOffset ? [second, first] : [first, second];
  return count > 0n && offset === 0n ? 1 : 0;
}
