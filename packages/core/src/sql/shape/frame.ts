/**
 * What is known of one pair of brackets while a statement is read (blocks.ts), and the words that move it on.
 */
import type { TokenKind } from "../lex/cursor.ts";

/** A table that a block reads. */
export interface TableRead {
  /** Parts of the name in lower case. */
  readonly path: readonly string[];
  /** What the block calls it, in lower case. */
  alias: string;
  /** Columns of the block's WHERE, `column` or `qualifier.column` in lower case, that each of its branches names. */
  columns: ReadonlySet<string>;
}

/** One token, with the name it stands for where it is one. */
export interface ShapeToken {
  readonly kind: TokenKind;
  /** A word in upper case, a sign as it is; empty for a quoted name, a string, and whatever is long. */
  readonly word: string;
  /** What a word or a quoted name means, in lower case; for a string what it says. */
  readonly name: string;
}

/** What stands in the brackets, or outside of all. */
export interface Frame {
  /** `group`: brackets in a FROM that hold joins. `expression`: anything that is no query. */
  kind: "query" | "group" | "expression" | "unknown";
  clause: Clause;
  awaits: Awaited;
  reads: TableRead[];
  /** The last of them may still get an alias. */
  unnamed: boolean;
  /** Columns of the WHERE's branch so far, and what all branches before have in common. */
  branch: Set<string>;
  common: Set<string> | undefined;
  /** Parts of a WITH that can be named from here on. */
  parts: Set<string>;
  /** The name of a WITH's part before its AS, until its brackets close. */
  part: string;
  words: readonly [before: string, last: string];
}

/**
 * What the next name is: `table` of a FROM, where brackets may hold joins; `source` behind a USING, where they hold
 * columns; `whole`, a table that no WHERE asks about; `copied`, the same if a TO follows.
 */
export type Awaited = "nothing" | "table" | "source" | "whole" | "copied";

type Clause = "head" | "with" | "select" | "from" | "on" | "where" | "filter" | "after";

/** Words that end a table's name and are not its alias. */
export const notAlias: ReadonlySet<string> = new Set(
  (
    "WHERE PREWHERE JOIN ON USING LEFT RIGHT INNER OUTER FULL CROSS NATURAL GROUP ORDER HAVING LIMIT OFFSET FETCH " +
    "UNION INTERSECT EXCEPT MINUS WINDOW QUALIFY FOR TABLESAMPLE FINAL SAMPLE ARRAY GLOBAL ANY ALL ASOF SEMI ANTI " +
    "POSITIONAL LATERAL SET RETURNING PIVOT UNPIVOT MATCH_RECOGNIZE FORMAT SETTINGS INTO LOCK STRAIGHT_JOIN " +
    "PARTITION USE IGNORE FORCE AT SELECT FROM VALUES TO WHEN"
  ).split(" "),
);

export const setOperators: ReadonlySet<string> = new Set(["UNION", "INTERSECT", "EXCEPT", "MINUS"]);
/** Words that begin a query in brackets. */
const queryWords: ReadonlySet<string> = new Set([
  "SELECT",
  "WITH",
  "FROM",
  "TABLE",
  "PIVOT",
  "UNPIVOT",
  "SUMMARIZE",
  "UPDATE",
  "DELETE",
  "INSERT",
  "MERGE",
]);
/** Words behind which a table comes at the start of a block, and the words before which it starts. */
const tableVerbs: ReadonlySet<string> = new Set(["TABLE", "PIVOT", "UNPIVOT", "SUMMARIZE"]);
const beforeBlocks: ReadonlySet<string> = new Set([
  "",
  ")",
  "AS",
  "EXPLAIN",
  "ANALYZE",
  "VERBOSE",
  "ALL",
  "DISTINCT",
  ...setOperators,
]);
/** An UPDATE behind these is no statement. */
const beforeOtherUpdates: ReadonlySet<string> = new Set(["KEY", "DO", "FOR", "THEN", "ON"]);
/** Words of conditions that are no columns. */
export const conditionWords: ReadonlySet<string> = new Set(
  "AND NOT NULL IS LIKE ILIKE BETWEEN TRUE FALSE CASE WHEN THEN ELSE END EXISTS ANY ALL ESCAPE DISTINCT FROM".split(
    " ",
  ),
);
/** Words between such a verb, or FROM, and the name. */
export const beforeNames: ReadonlySet<string> = new Set([
  "ONLY",
  "LATERAL",
  "LOW_PRIORITY",
  "HIGH_PRIORITY",
  "IGNORE",
  "QUICK",
  "TABLE",
]);
/** Clauses behind the WHERE in which an OR is nothing to it. */
export const filters: ReadonlySet<string> = new Set([
  "HAVING",
  "QUALIFY",
  "WINDOW",
  "RETURNING",
  "ORDER",
  "GROUP",
]);
export const afterWords: ReadonlySet<string> = new Set([
  "LIMIT",
  "OFFSET",
  "FETCH",
  "FOR",
  "FORMAT",
  "SETTINGS",
  "LOCK",
]);

export function begin(frame: Frame, { word }: ShapeToken): void {
  const joins = frame.clause === "from";
  if (queryWords.has(word)) {
    frame.kind = "query";
    frame.clause = "head";
    return;
  }
  frame.kind = joins ? "group" : "expression";
  if (joins) frame.awaits = "table";
  else frame.clause = "head";
}

/** Whether the word is a verb behind which a table comes, or begins a WITH. */
export function startsStatement(frame: Frame, word: string): boolean {
  const [, last] = frame.words;
  if (word === "WITH") return enter(frame, "with");
  if (word === "CLONE") return enter(frame, "head", "whole");
  if (word === "COPY") return enter(frame, "head", "copied");
  const isVerb = tableVerbs.has(word) && beforeBlocks.has(last);
  const isUpdate = word === "UPDATE" && !beforeOtherUpdates.has(last);
  return (isVerb || isUpdate) && enter(frame, "from", "table");
}

export function enter(frame: Frame, clause: Clause, awaits: Awaited = "nothing"): true {
  frame.clause = clause;
  frame.awaits = awaits;
  frame.unnamed = false;
  return true;
}

export function inWith(frame: Frame, { kind, word, name }: ShapeToken): void {
  const [, last] = frame.words;
  const starts = last === "WITH" || last === "RECURSIVE" || last === ",";
  if (starts && kind !== "string" && word !== "RECURSIVE") frame.part = name;
}

export function inFrom(frame: Frame, { kind, word, name }: ShapeToken): void {
  if (kind === "comma" || word === "JOIN" || word === "STRAIGHT_JOIN") {
    enter(frame, "from", "table");
    return;
  }
  if (word === "ON" || word === "USING") {
    enter(frame, "on");
    return;
  }
  const [last] = frame.reads.slice(-1);
  if (!frame.unnamed || last === undefined || word === "AS" || name === "") return;
  frame.unnamed = false;
  if (kind !== "word" || !notAlias.has(word)) last.alias = name;
}

export const noColumns: ReadonlySet<string> = new Set();

export function frameOf(kind: Frame["kind"]): Frame {
  return {
    kind,
    clause: "head",
    awaits: "nothing",
    reads: [],
    unnamed: false,
    branch: new Set(),
    common: undefined,
    parts: new Set(),
    part: "",
    words: ["", ""],
  };
}

/** What each branch of the condition names. */
export function guaranteed({ branch, common }: Frame): Set<string> {
  if (common === undefined) return branch;
  return new Set([...branch].filter((column) => common.has(column)));
}

export function forget(frame: Frame): void {
  frame.branch = new Set();
  frame.common = new Set();
}

/** `||` is another OR for MySQL's family, whatever dialect its client's text is read in. */
export function isOr({ kind, word }: ShapeToken): boolean {
  if (kind === "word") return word === "OR" || word === "XOR";
  return kind === "operator" && word === "||";
}

/** `IS [NOT] DISTINCT FROM` compares. */
export function isComparison({ words: [before, last] }: Frame): boolean {
  return last === "DISTINCT" && (before === "IS" || before === "NOT");
}
