/**
 * What a statement reads of tables, as far as its words say, and the query that Trino is asked for a plan of.
 *
 * Never a statement that writes: to plan one Trino begins the write, and some connectors have made the table by then.
 */
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { holds, outerTokens, readsNoTable } from "../../scanning.ts";
import { mergedQuery, updatedQuery } from "./changes.ts";

/** `unknown`: it may read tables, and there is no query that reads the same. */
export type Scanning = { readonly kind: "nothing" } | { readonly kind: "unknown" } | Planned;

/** A query that reads what the statement reads, or more of the same tables. */
export interface Planned {
  readonly kind: "planned";
  readonly sql: string;
  /** Units of the statement before the ones that the query has behind its own first ones. */
  readonly start: number;
  /** Units of the query that are not the statement's. */
  readonly own: number;
}

/** What changes names, rights and words, and no rows. A materialized view is made empty. */
const verbs = ["CREATE", "DROP", "TRUNCATE", "COMMENT", "GRANT", "REVOKE", "DENY"];

const isUnknown: Scanning = { kind: "unknown" };
const isNothing: Scanning = { kind: "nothing" };

/** Of one statement. A long text is unknown, one that may be read in two ways, and one that its words do not decide. */
export function scanningOf(sql: string): Scanning {
  // Under EXPLAIN it is another text, which would be read in one go.
  if (sql.length > longTextUnits) return isUnknown;
  const { kind, tag, firstWord, doubt } = classifyStatement(sql, "trino");
  if (doubt !== undefined) return isUnknown;
  if (kind === "select") return { kind: "planned", sql, start: 0, own: 0 };
  if (kind === "insert") return cut(sql, insertedFrom(sql));
  if (kind === "delete") return deleted(sql);
  if (kind === "update") return written(updatedQuery(sql));
  if (kind === "merge") return written(mergedQuery(sql));
  if (readsNoTable.has(kind)) return isNothing;
  if (kind === "explain") return holds(sql, "trino", ["ANALYZE"]) ? isUnknown : isNothing;
  if (tag === "CREATE TABLE" && holds(sql, "trino", ["AS"], 0)) return cut(sql, createdFrom(sql));
  if (firstWord === "ALTER") return holds(sql, "trino", ["EXECUTE"]) ? isUnknown : isNothing;
  return verbs.includes(firstWord) ? isNothing : isUnknown;
}

interface Part {
  readonly start: number;
  readonly end: number;
}

/** Values of places that are cut off would go to others. */
function cut(sql: string, part: Part | undefined): Scanning {
  if (part === undefined) return isUnknown;
  const { start, end } = part;
  if (`${sql.slice(0, start)}${sql.slice(end)}`.includes("?")) return isUnknown;
  return { kind: "planned", sql: sql.slice(start, end), start, own: 0 };
}

/** Its text stands nowhere in the statement as it is here. */
function written(sql: string | undefined): Scanning {
  return sql === undefined ? isUnknown : { kind: "planned", sql, start: 0, own: sql.length };
}

const allOf = "SELECT *";

/** All columns of the rows that it deletes: no more of them are read. */
function deleted(sql: string): Scanning {
  const [first, second] = outerTokens(sql, "trino");
  if (first?.text !== "DELETE" || second?.text !== "FROM") return isUnknown;
  const rest = sql.slice(first.end);
  return { kind: "planned", sql: allOf + rest, start: first.end, own: allOf.length };
}

const queryWords = new Set(["SELECT", "WITH", "VALUES", "TABLE", "("]);

/** The query of an `INSERT INTO a.b (c, d) query`. */
function insertedFrom(sql: string): Part | undefined {
  const tokens = outerTokens(sql, "trino");
  if (tokens[0]?.text !== "INSERT" || tokens[1]?.text !== "INTO") return undefined;
  let at = 3;
  while (tokens[at]?.text === ".") at += 2;
  const brackets = tokens[at];
  // Names of columns, and not the query itself in brackets.
  if (brackets?.text === "(" && !queryWords.has(brackets.inside)) at += 1;
  const query = tokens[at];
  return query !== undefined && queryWords.has(query.text)
    ? { start: query.start, end: sql.length }
    : undefined;
}

/** The query of a `CREATE TABLE … AS query WITH DATA`. */
function createdFrom(sql: string): Part | undefined {
  const tokens = outerTokens(sql, "trino");
  const at = tokens.findIndex(({ text }) => text === "AS") + 1;
  const query = tokens[at];
  if (query === undefined || !queryWords.has(query.text)) return undefined;
  const last = tokens.slice(-3).map(({ text }) => text);
  const hasNo = last.join(" ") === "WITH NO DATA";
  const behind =
    hasNo || last.slice(1).join(" ") === "WITH DATA" ? tokens.at(hasNo ? -3 : -2) : undefined;
  return { start: query.start, end: behind?.start ?? sql.length };
}
