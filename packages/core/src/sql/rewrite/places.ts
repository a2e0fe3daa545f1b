/**
 * Finds the places for parameters in a query, and writes them in the form another engine takes.
 *
 * Only the places: what is inside strings, names and comments is never touched, and no value is ever
 * written into the text.
 */
import { err, ok, type Result } from "../../result.ts";
import { become, openSql, tokenText, type SqlCursor, type TokenKind } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextToken } from "../lex/lex.ts";
import { longTextUnits, readingOf, type Reading } from "../reading/reading.ts";
import { inOneGo, tokensPerStep, type Steps } from "../reading/steps.ts";

/**
 * How places are written: `?`, `$1` (also `?1`), `$name`, `:name` (also `:1`).
 *
 * A colon is ambiguous: `a[1:b]`, `{'k':b}`, `x::int` and Snowflake's `col:path` are no places. One is
 * taken for a place only where a value may begin.
 */
export type PlaceForm = "question" | "dollarNumber" | "dollarName" | "colonName";

/** One place. `index` is the parameter it takes, from 1. Offsets are in UTF-16 units. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly index: number;
}

/** The places of a query in the order of the text. */
export interface Places {
  readonly sql: string;
  readonly places: readonly Place[];
  /** Number of parameters: the highest index, even when lower ones have no place. */
  readonly count: number;
  /** The name of each parameter; empty when they have none. */
  readonly names: readonly string[];
}

/** Why a query's places can not be told. */
export type PlacesError =
  /** Positional, numbered and named places in one query: which value goes where depends on the engine. */
  | { readonly code: "mixedPlaces"; readonly at: number }
  /** `$0`, or more parameters than any protocol carries. */
  | { readonly code: "placeOutOfRange"; readonly at: number }
  /** The text ends inside a string or comment. */
  | { readonly code: "unterminated" };

/** The most parameters a query may have: PostgreSQL counts them in 16 bits. */
export const placesMax = 65_535;

/** The forms each dialect has by itself. */
export const formsOf = {
  postgres: ["dollarNumber"],
  duckdb: ["question", "dollarNumber", "dollarName"],
  mysql: ["question"],
  trino: ["question"],
  clickhouse: [],
  generic: ["question", "dollarNumber", "colonName"],
} as const satisfies Record<Dialect, readonly PlaceForm[]>;

/** The places of a query, looking for the given forms. Cost: linear; memory: bounded by `placesMax`. */
export function findPlaces(
  sql: string,
  dialect: Dialect,
  forms: readonly PlaceForm[] = formsOf[dialect],
): Result<Places, PlacesError> {
  const reading = sql.length > longTextUnits && placesReading(dialect, forms);
  return reading ? reading(sql) : inOneGo(readPlaces(sql, dialect, forms));
}

/** What `findPlaces` answers for long texts. */
export function placesReading(
  dialect: Dialect,
  forms: readonly PlaceForm[] = formsOf[dialect],
): Reading<Result<Places, PlacesError>> {
  const key = [dialect, ...forms].join();
  const known = placesReadings.get(key);
  if (known !== undefined) return known;
  const made = readingOf((sql) => readPlaces(sql, dialect, forms));
  placesReadings.set(key, made);
  return made;
}

const placesReadings = new Map<string, Reading<Result<Places, PlacesError>>>();

function* readPlaces(
  sql: string,
  dialect: Dialect,
  forms: readonly PlaceForm[],
): Steps<Result<Places, PlacesError>> {
  const cursor = openSql(sql, dialect);
  const search: Search = {
    cursor,
    forms,
    places: [],
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
  return ok({ sql, places: search.places, count: search.count, names: [...search.indexes.keys()] });
}

/** A query with its places written anew, and which parameter each place takes. */
export interface RewrittenPlaces {
  readonly sql: string;
  /**
   * For each parameter of the new text, the index (from 1) of the old one. `$1 $1` in the form of
   * questions has two parameters, both the first.
   */
  readonly order: readonly number[];
}

/** Writes the places as `$n` or `?`. The rest of the text stays as it is. */
export function rewritePlaces(found: Places, form: "dollarNumber" | "question"): RewrittenPlaces {
  const { sql, places } = found;
  let text = "";
  let from = 0;
  for (const place of places) {
    const written = form === "question" ? "?" : `$${place.index}`;
    // `limit?` must not become the name `limit$1`, nor `?and` the place `$1and`.
    const gapBefore =
      form === "dollarNumber" && isNameUnit(sql.charCodeAt(place.start - 1)) ? " " : "";
    const gapAfter = isNameUnit(sql.charCodeAt(place.end)) ? " " : "";
    text += sql.slice(from, place.start) + gapBefore + written + gapAfter;
    from = place.end;
  }
  const order =
    form === "question"
      ? places.map((place) => place.index)
      : Array.from({ length: found.count }, (_, index) => index + 1);
  return { sql: text + sql.slice(from), order };
}

function isNameUnit(code: number): boolean {
  return code > 127 || /[A-Za-z0-9_$]/.test(String.fromCharCode(code));
}

interface Search {
  readonly cursor: SqlCursor;
  readonly forms: readonly PlaceForm[];
  readonly places: Place[];
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

function readToken(search: Search, around: Surroundings): PlacesError | undefined {
  const { cursor, forms } = search;
  if (cursor.kind === "parameter") return readParameter(search, tokenText(cursor));
  // Where a dollar begins words, a caller that asks for numbers means them all the same.
  if (cursor.kind === "word" && forms.includes("dollarNumber")) return readNumberWord(search);
  const colon = cursor.kind === "operator" && tokenText(cursor) === ":";
  if (!colon || !forms.includes("colonName") || !mayBeginValue(around)) return undefined;
  return readColonName(search);
}

function readParameter(search: Search, text: string): PlacesError | undefined {
  const { forms } = search;
  if (text === "?")
    return forms.includes("question") ? add(search, "positional", search.count + 1) : undefined;
  const rest = text.slice(1);
  if (/^[0-9]/.test(rest))
    return forms.includes("dollarNumber") ? add(search, "numbered", Number(rest)) : undefined;
  return forms.includes("dollarName") ? addNamed(search, rest) : undefined;
}

function readNumberWord(search: Search): PlacesError | undefined {
  const number = /^\$(\d+)$/.exec(tokenText(search.cursor))?.[1];
  return number === undefined ? undefined : add(search, "numbered", Number(number));
}

/** `:name` with the cursor at the colon, which then becomes the whole place. */
function readColonName(search: Search): PlacesError | undefined {
  const { cursor } = search;
  const name = /^:([A-Za-z_][A-Za-z0-9_]*|[0-9]+)/.exec(
    cursor.sql.slice(cursor.start, cursor.start + 129),
  )?.[1];
  if (name === undefined) return undefined;
  become(cursor, "parameter", cursor.start + 1 + name.length);
  return /^[0-9]/.test(name) ? add(search, "numbered", Number(name)) : addNamed(search, name);
}

function addNamed(search: Search, name: string): PlacesError | undefined {
  const index = search.indexes.get(name) ?? search.indexes.size + 1;
  const error = add(search, "named", index);
  if (error === undefined) search.indexes.set(name, index);
  return error;
}

/** Adds a place where the cursor stands. */
function add(
  search: Search,
  style: "positional" | "numbered" | "named",
  index: number,
): PlacesError | undefined {
  const { start, end } = search.cursor;
  if (search.style !== undefined && search.style !== style)
    return { code: "mixedPlaces", at: start };
  const tooMany = search.places.length === placesMax;
  if (index < 1 || index > placesMax || tooMany) return { code: "placeOutOfRange", at: start };
  search.style = style;
  search.count = Math.max(search.count, index);
  search.places.push({ start, end, index });
  return undefined;
}
