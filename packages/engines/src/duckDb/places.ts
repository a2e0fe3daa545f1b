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
  const cursor = openSql(sql, "duckdb");
  let text = "";
  let questions = 0;
  while (nextToken(cursor)) {
    const token = tokenText(cursor);
    if (cursor.kind !== "parameter") {
      text += token;
      continue;
    }
    const index = placeOf(token, questions);
    if (token === "?") questions += 1;
    const unknown = index !== undefined && index < known.length && known[index] === undefined;
    const type = index === undefined ? undefined : stated[index]?.type;
    text += unknown ? `CAST(${token} AS ${castName(type)})` : token;
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
