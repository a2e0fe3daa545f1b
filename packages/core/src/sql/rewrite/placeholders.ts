/**
 * Finds the placeholders of parameters in a query, and writes them in the form another engine takes.
 *
 * It touches nothing inside strings, names and comments, and never writes a value into the text.
 */
import { err, ok, type Result } from "../../result.ts";
import { become, openSql, tokenText, type SqlCursor, type TokenKind } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextToken } from "../lex/lex.ts";
import { longTextUnits, readingOf, type Reading } from "../reading/reading.ts";
import { inOneGo, tokensPerStep, type Steps } from "../reading/steps.ts";

/**
 * How placeholders are written: `?`, `$1` (also `?1`), `$name`, `:name` (also `:1`).
 *
 * A colon is ambiguous: `a[1:b]`, `{'k':b}`, `x::int` and Snowflake's `col:path` hold no placeholder. It
 * begins one only where a value may begin.
 */
export type PlaceholderForm = "question" | "dollarNumber" | "dollarName" | "colonName";

/** One placeholder. `index` is the parameter it takes, from 1. Offsets are in UTF-16 units. */
export interface Placeholder {
  readonly start: number;
  readonly end: number;
  readonly index: number;
}

/** The placeholders of a query in the order of the text. */
export interface Placeholders {
  readonly sql: string;
  readonly placeholders: readonly Placeholder[];
  /** Number of parameters: the highest index, even when lower ones have no placeholder. */
  readonly count: number;
  /** The name of each parameter; empty when they have none. */
  readonly names: readonly string[];
}

/** Why a query's placeholders can not be told apart. */
export type PlaceholdersError =
  /** Positional, numbered and named placeholders in one query: which value goes where depends on the engine. */
  | { readonly code: "mixedPlaceholders"; readonly at: number }
  /** `$0`, or more parameters than any protocol carries. */
  | { readonly code: "placeholderOutOfRange"; readonly at: number }
  /** The text ends inside a string or comment. */
  | { readonly code: "unterminated" };

/** The most parameters a query may have: PostgreSQL counts them in 16 bits. */
export const placeholdersMax = 65_535;

/** The forms that each dialect has itself. */
export const formsOf = {
  postgres: ["dollarNumber"],
  duckdb: ["question", "dollarNumber", "dollarName"],
  mysql: ["question"],
  trino: ["question"],
  clickhouse: [],
  generic: ["question", "dollarNumber", "colonName"],
} as const satisfies Record<Dialect, readonly PlaceholderForm[]>;

/** The placeholders of a query, looking for the given forms. Cost: linear; memory: bounded by `placeholdersMax`. */
export function findPlaceholders(
  sql: string,
  dialect: Dialect,
  forms: readonly PlaceholderForm[] = formsOf[dialect],
): Result<Placeholders, PlaceholdersError> {
  const reading = sql.length > longTextUnits && placeholdersReading(dialect, forms);
  return reading ? reading(sql) : inOneGo(readPlaceholders(sql, dialect, forms));
}

/** The results of `findPlaceholders` for long texts. */
export function placeholdersReading(
  dialect: Dialect,
  forms: readonly PlaceholderForm[] = formsOf[dialect],
): Reading<Result<Placeholders, PlaceholdersError>> {
  const key = [dialect, ...forms].join();
  const known = placeholderReadings.get(key);
  if (known !== undefined) return known;
  const made = readingOf((sql) => readPlaceholders(sql, dialect, forms));
  placeholderReadings.set(key, made);
  return made;
}

const placeholderReadings = new Map<string, Reading<Result<Placeholders, PlaceholdersError>>>();

function* readPlaceholders(
  sql: string,
  dialect: Dialect,
  forms: readonly PlaceholderForm[],
): Steps<Result<Placeholders, PlaceholdersError>> {
  const cursor = openSql(sql, dialect);
  const search: Search = {
    cursor,
    forms,
    placeholders: [],
    indexes: new Map(),
    count: 0,
    style: undefined,
  };
  const around: Surroundings = { kind: "whitespace", spaced: true, brackets: [] };
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    const error = readToken(search, around);
    if (error !== undefined) return err(error);
    follow(around, cursor);
    if (tokens % tokensPerStep === 0) yield;
  }
  if (cursor.kind === "unterminated" || cursor.inVersionComment)
    return err({ code: "unterminated" });
  return ok({
    sql,
    placeholders: search.placeholders,
    count: search.count,
    names: [...search.indexes.keys()],
  });
}

/** A query with its placeholders written anew, and which parameter each placeholder takes. */
export interface RewrittenPlaceholders {
  readonly sql: string;
  /**
   * For each parameter of the new text, the index (from 1) of the old one. `$1 $1` in the form of
   * questions has two parameters, both the first.
   */
  readonly order: readonly number[];
}

/** Writes the placeholders as `$n` or `?`. The rest of the text stays as it is. */
export function rewritePlaceholders(
  found: Placeholders,
  form: "dollarNumber" | "question",
): RewrittenPlaceholders {
  const { sql, placeholders } = found;
  let text = "";
  let from = 0;
  for (const placeholder of placeholders) {
    const written = form === "question" ? "?" : `$${placeholder.index}`;
    // `limit?` must not become the name `limit$1`, nor `?and` the placeholder `$1and`.
    const gapBefore =
      form === "dollarNumber" && isNameUnit(sql.charCodeAt(placeholder.start - 1)) ? " " : "";
    const gapAfter = isNameUnit(sql.charCodeAt(placeholder.end)) ? " " : "";
    text += sql.slice(from, placeholder.start) + gapBefore + written + gapAfter;
    from = placeholder.end;
  }
  const order =
    form === "question"
      ? placeholders.map((placeholder) => placeholder.index)
      : Array.from({ length: found.count }, (_, index) => index + 1);
  return { sql: text + sql.slice(from), order };
}

function isNameUnit(code: number): boolean {
  return code > 127 || /[A-Za-z0-9_$]/.test(String.fromCharCode(code));
}

interface Search {
  readonly cursor: SqlCursor;
  readonly forms: readonly PlaceholderForm[];
  readonly placeholders: Placeholder[];
  /** Index of each name. */
  readonly indexes: Map<string, number>;
  count: number;
  style: "positional" | "numbered" | "named" | undefined;
}

/** What surrounds the current token, as far as it says what a colon means. */
interface Surroundings {
  /** The last token that means something. */
  kind: TokenKind;
  /** White space or a comment came since. */
  spaced: boolean;
  /** The brackets that are open. */
  readonly brackets: ("group" | "subscript" | "struct")[];
}

function follow(around: Surroundings, cursor: SqlCursor): void {
  const { kind } = cursor;
  if (kind === "whitespace" || kind === "comment" || kind === "versionComment") {
    around.spaced = true;
    return;
  }
  if (kind === "open") around.brackets.push(bracketOf(around, tokenText(cursor)));
  if (kind === "close") around.brackets.pop();
  around.kind = kind;
  around.spaced = false;
}

/** `x[…]` is a subscript, in which a colon makes a slice; `[…]` alone is a list. */
function bracketOf(around: Surroundings, text: string): "group" | "subscript" | "struct" {
  if (text === "{") return "struct";
  const afterValue = ["word", "quotedIdentifier", "close", "string", "parameter"].includes(
    around.kind,
  );
  return text === "[" && afterValue && !around.spaced ? "subscript" : "group";
}

/** Whether a value may begin here, so that a colon is not part of a slice, a map or a path. */
function mayBeginValue(around: Surroundings): boolean {
  const inside = around.brackets.at(-1) ?? "group";
  if (inside === "subscript") return false;
  switch (around.kind) {
    case "whitespace":
    case "operator":
    case "comma":
    case "open":
    case "semicolon":
      return true;
    case "word":
      return around.spaced && inside === "group";
    default:
      return false;
  }
}

function readToken(search: Search, around: Surroundings): PlaceholdersError | undefined {
  const { cursor, forms } = search;
  if (cursor.kind === "parameter") return readParameter(search, tokenText(cursor));
  // Where words may begin with a dollar, a caller that asks for numbers still means `$1`.
  if (cursor.kind === "word" && forms.includes("dollarNumber")) return readNumberWord(search);
  const colon = cursor.kind === "operator" && tokenText(cursor) === ":";
  if (!colon || !forms.includes("colonName") || !mayBeginValue(around)) return undefined;
  return readColonName(search);
}

function readParameter(search: Search, text: string): PlaceholdersError | undefined {
  const { forms } = search;
  if (text === "?")
    return forms.includes("question") ? add(search, "positional", search.count + 1) : undefined;
  const rest = text.slice(1);
  if (/^[0-9]/.test(rest))
    return forms.includes("dollarNumber") ? add(search, "numbered", Number(rest)) : undefined;
  return forms.includes("dollarName") ? addNamed(search, rest) : undefined;
}

function readNumberWord(search: Search): PlaceholdersError | undefined {
  const number = /^\$(\d+)$/.exec(tokenText(search.cursor))?.[1];
  return number === undefined ? undefined : add(search, "numbered", Number(number));
}

/** `:name` with the cursor at the colon, which then becomes the whole placeholder. */
function readColonName(search: Search): PlaceholdersError | undefined {
  const { cursor } = search;
  const name = /^:([A-Za-z_][A-Za-z0-9_]*|[0-9]+)/.exec(
    cursor.sql.slice(cursor.start, cursor.start + 129),
  )?.[1];
  if (name === undefined) return undefined;
  become(cursor, "parameter", cursor.start + 1 + name.length);
  return /^[0-9]/.test(name) ? add(search, "numbered", Number(name)) : addNamed(search, name);
}

function addNamed(search: Search, name: string): PlaceholdersError | undefined {
  const index = search.indexes.get(name) ?? search.indexes.size + 1;
  const error = add(search, "named", index);
  if (error === undefined) search.indexes.set(name, index);
  return error;
}

/** Adds a placeholder where the cursor stands. */
function add(
  search: Search,
  style: "positional" | "numbered" | "named",
  index: number,
): PlaceholdersError | undefined {
  const { start, end } = search.cursor;
  if (search.style !== undefined && search.style !== style)
    return { code: "mixedPlaceholders", at: start };
  const tooMany = search.placeholders.length === placeholdersMax;
  if (index < 1 || index > placeholdersMax || tooMany)
    return { code: "placeholderOutOfRange", at: start };
  search.style = style;
  search.count = Math.max(search.count, index);
  search.placeholders.push({ start, end, index });
  return undefined;
}
