/**
 * Writes types beside the places for parameters, so that DuckDB can name a statement's columns before
 * it has values. Only for describing: what runs is always the statement as it was sent.
 */
import { openSql, tokenText } from "@gateway/core/sql/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { engineTypeOf } from "./types.ts";

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

function castName(type: DataType | undefined): string {
  return type === undefined || type.kind === "null" ? "VARCHAR" : engineTypeOf(type);
}

function placeOf(token: string, questions: number): number | undefined {
  if (token === "?") return questions;
  const number = /^[$?](\d+)$/.exec(token)?.[1];
  return number === undefined ? undefined : Number(number) - 1;
}
