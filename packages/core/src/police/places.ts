/**
 * Proves what the parser says of a text with readers that share nothing with it: each name stands where it says, as
 * one token of that name, and the tables are those that our own reader finds.
 */
import type { TableReference, UnderstoodSql } from "../port/sql/sqlReading.ts";
import { openSql, tokenText } from "../sql/lex/cursor.ts";
import { nextToken } from "../sql/lex/lex.ts";
import { decodeIdentifier } from "../sql/lex/literal.ts";
import type { Dialect } from "../sql/dialect.ts";
import { tablesReading } from "../sql/shape/predicates.ts";
import { lower } from "./names.ts";

/** Whether both readings of the text agree. */
export function agrees(sql: string, dialect: Dialect, { tables }: UnderstoodSql): boolean {
  const reads = tablesReading(dialect)(sql);
  if (reads === undefined) return false;
  const found = reads.map(({ path }) => keyOf(path)).toSorted();
  const said = tables.filter(isRead).map((table) => keyOf(namesOf(table)));
  // Our reader knows words: what a statement writes to may or may not be among its tables.
  const extra = tables.filter((table) => !isRead(table)).map((table) => keyOf(namesOf(table)));
  return sameNames(found, said, extra) && standAsSaid(sql, dialect, tables);
}

function isRead({ written }: TableReference): boolean {
  return !written;
}

/** Every name of `said` is in `found`, and what is left of it is in `extra`. */
function sameNames(
  found: readonly string[],
  said: readonly string[],
  extra: readonly string[],
): boolean {
  const left = [...found];
  for (const name of said) {
    const at = left.indexOf(name);
    if (at < 0) return false;
    left.splice(at, 1);
  }
  return left.every((name) => extra.includes(name)) && left.length <= extra.length;
}

export function namesOf({ path }: Pick<TableReference, "path">): readonly string[] {
  return path.map(({ name }) => lower(name));
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path.map(lower));
}

/** Clauses about files, which the parser leaves out of what it tells of some dialects. */
const fileWords: ReadonlySet<string> = new Set(["OUTFILE", "DUMPFILE", "INFILE"]);

/** Each part of a name is one word or quoted name, in the order of the text, with nothing but dots and blanks between the parts. */
function standAsSaid(sql: string, dialect: Dialect, tables: readonly TableReference[]): boolean {
  const tokens = new Map<number, { readonly end: number; readonly name: string | undefined }>();
  const cursor = openSql(sql, dialect);
  while (nextToken(cursor)) {
    const { kind, start, end } = cursor;
    if (kind === "word") {
      const name = tokenText(cursor);
      if (fileWords.has(name.toUpperCase())) return false;
      tokens.set(start, { end, name });
    }
    if (kind === "quotedIdentifier") {
      tokens.set(start, { end, name: decodeIdentifier(tokenText(cursor), dialect) });
    }
  }
  let before = -1;
  for (const { path } of tables.toSorted((one, other) => startOf(one) - startOf(other))) {
    let last: number | undefined;
    for (const { name, start, end } of path) {
      const token = tokens.get(start);
      if (token?.end !== end || token.name !== name || start < before) return false;
      if (last !== undefined && !/^\s*\.\s*$/.test(sql.slice(last, start))) return false;
      last = end;
      before = end;
    }
    if (last === undefined) return false;
  }
  return true;
}

export function startOf({ path }: Pick<TableReference, "path">): number {
  return path[0]?.start ?? -1;
}

export function endOf({ path }: Pick<TableReference, "path">): number {
  return path[path.length - 1]?.end ?? -1;
}
