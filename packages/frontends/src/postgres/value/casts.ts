/**
 * Types that a client writes beside its parameters: `$1::int[]`, `CAST($2 AS json)`.
 *
 * PostgreSQL takes such a cast for the parameter's type, and clients send arrays and JSON by it. Engines
 * often can not tell that type. Only a cast of the parameter itself counts.
 */
import { openSql, tokenText, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { pgTypes, type PgTypeName } from "./types.ts";

/** Names of types, in upper case. A name of several words is found by its first. */
const typeNames: ReadonlyMap<string, PgTypeName> = new Map<string, PgTypeName>([
  ...(Object.keys(pgTypes) as PgTypeName[]).map((name) => [name.toUpperCase(), name] as const),
  ["INT", "int4"],
  ["INTEGER", "int4"],
  ["SMALLINT", "int2"],
  ["BIGINT", "int8"],
  ["BOOLEAN", "bool"],
  ["REAL", "float4"],
  ["DOUBLE", "float8"],
  ["FLOAT", "float8"],
  ["DECIMAL", "numeric"],
  ["CHARACTER", "varchar"],
]);

/** Words that may follow the first and belong to the name. */
const nameTails: ReadonlySet<string> = new Set(["PRECISION", "VARYING"]);
const zoneWords: readonly string[] = ["WITH", "TIME", "ZONE"];

/** The ids of cast parameters by their number; the first cast of each counts. */
export function castTypes(sql: string): ReadonlyMap<number, number> {
  const casts = new Map<number, number>();
  const cursor = openSql(sql, "postgres");
  let inCast = false;
  while (nextSignificant(cursor)) {
    if (cursor.kind !== "parameter") {
      inCast = cursor.kind === "open" && inCast ? inCast : upperWord(cursor) === "CAST";
      continue;
    }
    const number = Number(tokenText(cursor).slice(1));
    if (!nextSignificant(cursor)) break;
    const cast = inCast ? upperWord(cursor) === "AS" : tokenText(cursor) === "::";
    inCast = false;
    const oid = cast ? readType({ ...cursor }) : undefined;
    if (oid !== undefined && !casts.has(number)) casts.set(number, oid);
  }
  return casts;
}

/** The type behind the cursor, which is a copy and may run ahead. */
function readType(cursor: SqlCursor): number | undefined {
  if (!nextSignificant(cursor)) return undefined;
  const first = upperWord(cursor);
  let name = typeNames.get(first);
  if (name === undefined) return undefined;
  let more = nextSignificant(cursor);
  while (more && nameTails.has(upperWord(cursor))) more = nextSignificant(cursor);
  if (more && tokenText(cursor) === "(") more = skipBrackets(cursor);
  if (more && (name === "timestamp" || name === "time")) {
    if (upperWord(cursor) === "WITHOUT") more = skipWords(cursor, ["WITHOUT", "TIME", "ZONE"]);
    else if (upperWord(cursor) === "WITH") {
      name = name === "time" ? "timetz" : "timestamptz";
      more = skipWords(cursor, zoneWords);
    }
  }
  const isArray = more && tokenText(cursor) === "[";
  return isArray ? pgTypes[name].array : pgTypes[name].oid;
}

/** Skips `(12, 2)`. False at the end of the text. */
function skipBrackets(cursor: SqlCursor): boolean {
  while (nextSignificant(cursor)) if (cursor.kind === "close") return nextSignificant(cursor);
  return false;
}

function skipWords(cursor: SqlCursor, words: readonly string[]): boolean {
  for (const word of words) {
    if (upperWord(cursor) !== word) return true;
    if (!nextSignificant(cursor)) return false;
  }
  return true;
}
