/**
 * The query that reads what an UPDATE or a MERGE reads: all columns of the rows that it changes, and whatever it makes
 * their new values of.
 *
 * Undefined where the words do not decide it: never a query that reads less.
 */
import { outerTokens, type OuterToken } from "../../scanning.ts";

/** `UPDATE a.b SET c = x, d = y WHERE z`: Trino takes no other name for the table, and no FROM. */
export function updatedQuery(sql: string): string | undefined {
  const tokens = outerTokens(sql, "trino");
  if (tokens[0]?.text !== "UPDATE") return undefined;
  const set = behindName(tokens, 1);
  if (set === undefined || tokens[set]?.text !== "SET") return undefined;
  const where = tokens.findIndex(({ text }, at) => at > set && text === "WHERE");
  const assigned = tokens.slice(set + 1, where === -1 ? tokens.length : where);
  const values = valuesOf(sql, assigned);
  if (values === undefined) return undefined;
  const [table, rest] = [
    between(sql, tokens[1], tokens[set - 1]),
    where === -1 ? "" : ` ${sql.slice(tokens[where]?.start)}`,
  ];
  return `SELECT *, ${values.join(", ")} FROM ${table}${rest}`;
}

/** `MERGE INTO a.b AS c USING source ON condition WHEN …`. Trino itself joins the source with what it finds in the table. */
export function mergedQuery(sql: string): string | undefined {
  const tokens = outerTokens(sql, "trino");
  if (tokens[0]?.text !== "MERGE" || tokens[1]?.text !== "INTO") return undefined;
  const using = tokens.findIndex(({ text }) => text === "USING");
  const when = tokens.findIndex(({ text }) => text === "WHEN");
  // The source may be a join that has conditions of its own, which stand before the last one.
  const on = tokens.findLastIndex(({ text }, at) => at < when && text === "ON");
  if (using < 3 || on < using + 2) return undefined;
  const read = tokens.slice(using + 1, when);
  // A CASE has a WHEN too, and a list of sources would be joined otherwise.
  if (read.some((token) => token.text === "CASE" || textOf(sql, token) === ",")) return undefined;
  const actions = sql.slice(tokens[when]?.start);
  if (/\?|\b(?:SELECT|TABLE)\b/i.test(actions)) return undefined;
  const table = between(sql, tokens[2], tokens[using - 1]);
  const source = between(sql, tokens[using + 1], tokens[on - 1]);
  return `SELECT * FROM ${source} LEFT JOIN ${table} ${between(sql, tokens[on], tokens[when - 1])}`;
}

/** Where the first token behind a name of several parts is. */
function behindName(tokens: readonly OuterToken[], first: number): number | undefined {
  if (!isName(tokens[first])) return undefined;
  let at = first + 1;
  while (tokens[at]?.text === "." && isName(tokens[at + 1])) at += 2;
  return at;
}

function isName(token: OuterToken | undefined): boolean {
  return token?.kind === "word" || token?.kind === "quotedIdentifier";
}

/** The right sides of `c = x, d = y`. The commas of an ARRAY[x, y] are none between two of them. */
function valuesOf(sql: string, assigned: readonly OuterToken[]): readonly string[] | undefined {
  const parts: OuterToken[][] = [[]];
  let depth = 0;
  for (const token of assigned) {
    const text = textOf(sql, token);
    if (text === "[") depth += 1;
    if (text === "]") depth -= 1;
    if (text === "," && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  const values = parts.map(([column, is, ...value]) =>
    isName(column) && is !== undefined && textOf(sql, is) === "=" && value.length > 0
      ? between(sql, value[0], value.at(-1))
      : undefined,
  );
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** A bracket is as long as what is in it. */
function textOf(sql: string, { text, start, end }: OuterToken): string {
  return text === "" ? sql.slice(start, end) : text;
}

function between(sql: string, first: OuterToken | undefined, last: OuterToken | undefined): string {
  if (first === undefined || last === undefined) return "";
  return sql.slice(first.start, last.text === "(" ? last.closed + 1 : last.end);
}
