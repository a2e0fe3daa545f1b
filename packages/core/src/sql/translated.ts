/**
 * What every translation is held against, by our own reading of both texts: a translator may put a construct into
 * other words, but never a user's string or name, a parameter, or the kind of a statement.
 *
 * Engines differ in what ends a string. A translator that is wrong about that would turn the rest of a user's input
 * into SQL, so strings are compared as each engine reads them, and nothing of the translator is believed.
 */
import { openSql, tokenText } from "./lex/cursor.ts";
import { nextToken } from "./lex/lex.ts";
import { decodeIdentifier, decodeString } from "./lex/literal.ts";
import { splitStatements } from "./lex/split.ts";
import type { Dialect } from "./dialect.ts";
import { tokensPerStep, type Steps } from "./reading/steps.ts";
import { Pieces } from "./reading/pieces.ts";
import { classifyStatement } from "./classify/classify.ts";
import { findPlaceholders } from "./rewrite/placeholders.ts";

/** The text with a blank for each comment: one engine's comment is another's code. Undefined where it does not end, or a comment is code. */
export function* withoutComments(sql: string, dialect: Dialect): Steps<string | undefined> {
  if (!/--|\/[*/]|#/.test(sql)) return sql;
  const cursor = openSql(sql, dialect);
  const pieces = new Pieces();
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (cursor.kind === "unterminated" || cursor.kind === "versionComment") return undefined;
    pieces.push(cursor.kind === "comment" ? " " : tokenText(cursor));
  }
  return cursor.inVersionComment ? undefined : pieces.toString();
}

/** A text and in whose lexis it stands. */
export interface Written {
  readonly sql: string;
  readonly dialect: Dialect;
}

/** True where `after` is one statement of the same kind with the same parameters and every string and name of `before` that is more than plain letters. */
export function* keeps(before: Written, after: Written): Steps<boolean> {
  const slices = splitStatements(after.sql, after.dialect, 1);
  if (!slices.ok || slices.value.length !== 1) return false;
  const was = classifyStatement(before.sql, before.dialect);
  const is = classifyStatement(after.sql, after.dialect);
  if (is.doubt !== undefined || is.kind !== was.kind || is.writes !== was.writes) return false;
  const [own, made] = [parametersOf(before), parametersOf(after)];
  if (own === undefined || own !== made) return false;
  const quotedBefore = yield* quotedOf(before);
  const quotedAfter = yield* quotedOf(after);
  if (quotedBefore === undefined || quotedAfter === undefined) return false;
  return isWithin(quotedBefore, quotedAfter) && isWithin(quotedAfter, quotedBefore);
}

/** The numbers that a text takes, each once, in their order; undefined where they can not be told apart. Values come by number. */
function parametersOf({ sql, dialect }: Written): string | undefined {
  const found = findPlaceholders(sql, dialect, ["dollarNumber"]);
  if (!found.ok) return undefined;
  const numbers = new Set(found.value.placeholders.map(({ index }) => index));
  return [...numbers].toSorted((a, b) => a - b).join();
}

/** Letters, digits and signs that end no string and escape nothing anywhere. */
const plain = /^[\w .,:;%$@/+\-()[\]*&=<>!?^|~{}]*$/;

/** What strings and quoted names stand for, where that is not plain. Undefined where one can not be read, and with any comment. */
function* quotedOf({ sql, dialect }: Written): Steps<ReadonlySet<string> | undefined> {
  const cursor = openSql(sql, dialect);
  const quoted = new Set<string>();
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    const { kind } = cursor;
    if (kind === "comment" || kind === "versionComment" || kind === "unterminated")
      return undefined;
    if (kind !== "string" && kind !== "quotedIdentifier") continue;
    const text = tokenText(cursor);
    const value = kind === "string" ? decodeString(text, dialect) : decodeIdentifier(text, dialect);
    if (value === undefined && !bits.test(text)) return undefined;
    if (value !== undefined && !plain.test(value)) quoted.add(value);
  }
  return cursor.inVersionComment ? undefined : quoted;
}

const bits = /^(?:[xX]'[0-9a-fA-F]*|[bB]'[01]*)'$/;

function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const one of some) if (!all.has(one)) return false;
  return true;
}
