/**
 * Writes types beside the places for parameters, so that DuckDB can name a statement's columns before
 * it has values. Only for describing: what runs is always the statement as it was sent.
 */
import { asciiLower, openSql, tokenText, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant, nextToken } from "@gateway/core/sql/lex/lex.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { engineTypeOf } from "../types.ts";

/**
 * The text with a cast at every place whose type DuckDB could not tell: to the type the client stated,
 * or to text, which is what an untyped value is.
 */
export function withKnownTypes(
  sql: string,
  known: readonly (DataType | undefined)[],
  stated: readonly Pick<Parameter, "type">[],
): string {
  return withPlaces(sql, (place, index) => {
    const unknown = index < known.length && known[index] === undefined;
    return unknown ? `CAST(${place} AS ${castName(stated[index]?.type)})` : place;
  });
}

/** The text with every place for a parameter written anew. `index` counts parameters from 0. */
export function withPlaces(sql: string, write: (place: string, index: number) => string): string {
  const cursor = openSql(sql, "duckdb");
  let text = "";
  let questions = 0;
  while (nextToken(cursor)) {
    const token = tokenText(cursor);
    const index = cursor.kind === "parameter" ? placeOf(token, questions) : undefined;
    if (token === "?" && index !== undefined) questions += 1;
    text += index === undefined ? token : write(token, index);
  }
  return text;
}

/** A parameter that is the whole first argument of a function. */
export interface FirstArgument {
  /** In lower case. */
  readonly name: string;
  /** What the second argument begins with is no parameter. */
  readonly constant: boolean;
}

/** The functions whose first argument is a parameter and nothing else, by the parameter's index. */
export function firstArguments(sql: string): ReadonlyMap<number, FirstArgument> {
  const tokens: { kind: TokenKind; text: string; index: number | undefined }[] = [];
  const cursor = openSql(sql, "duckdb");
  let questions = 0;
  while (nextSignificant(cursor)) {
    const text = tokenText(cursor);
    const index = cursor.kind === "parameter" ? placeOf(text, questions) : undefined;
    if (text === "?" && index !== undefined) questions += 1;
    tokens.push({ kind: cursor.kind, text, index });
  }
  const found = new Map<number, FirstArgument>();
  for (const [at, { kind, text }] of tokens.entries()) {
    const index = tokens[at + 2]?.index;
    const after = tokens[at + 3]?.kind;
    if (kind !== "word" || tokens[at + 1]?.kind !== "open" || index === undefined) continue;
    if (after !== "comma" && after !== "close") continue;
    const constant = after === "comma" && tokens[at + 4]?.index === undefined;
    found.set(index, { name: asciiLower(text), constant });
  }
  return found;
}

function castName(type: DataType | undefined): string {
  return type === undefined || type.kind === "null" ? "VARCHAR" : engineTypeOf(type);
}

function placeOf(token: string, questions: number): number | undefined {
  if (token === "?") return questions;
  const number = /^[$?](\d+)$/.exec(token)?.[1];
  return number === undefined ? undefined : Number(number) - 1;
}
