/**
 * Says what a statement is, from its words alone.
 *
 * It is not a parser. Where words can not decide (a function that writes, a name that is also a
 * keyword) it errs towards `writes` and towards a doubt, never towards harmless. A policy refuses what
 * is `unknown` or doubtful; routing, command tags and session state may use every answer.
 */
import { openSql, type LexDoubt, type SqlCursor } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { readHeadWords, type HeadWords } from "./headWords.ts";
import { nextSignificant } from "../lex/lex.ts";
import { readingsBy } from "../reading/reading.ts";
import { nextInStatement, walkStatement, type StatementWalk } from "../lex/statement.ts";
import type { Steps } from "../reading/steps.ts";
import { kindOfFirstWord, writingKinds, type StatementKind } from "./statementKind.ts";
import { tagOf } from "./tag.ts";

/** Why the engine may do something else than the class says. */
export type StatementDoubt =
  | LexDoubt
  /** More than one statement; the class is that of the first. */
  | "severalStatements"
  /** A semicolon was taken for part of a routine's body. */
  | "compoundBody";

/** What is known of a statement. */
export interface StatementClass {
  readonly kind: StatementKind;
  /** The first word in upper case, past brackets; empty when the text does not begin with a word. */
  readonly firstWord: string;
  /** The statement's name in upper case, such as `CREATE TABLE` or `COPY TO`. */
  readonly tag: string;
  /**
   * Something may change: the kind writes or runs what the text does not show, a `WITH` has a part that writes,
   * there is an `INTO`, or `EXPLAIN ANALYZE` runs one of these. False is no promise: functions may write.
   */
  readonly writes: boolean;
  readonly doubt: StatementDoubt | undefined;
}

/** Classifies the first statement of a text. Walks the text once, or not at all if it came recently; never throws. */
export function classifyStatement(sql: string, dialect: Dialect): StatementClass {
  return classReading(dialect)(sql);
}

/** The class of each text's first statement, by dialect. `longText.ts` reads the long ones. */
export const classReading = readingsBy(classify);

/** The same in steps, and not remembered. */
export function* classify(sql: string, dialect: Dialect): Steps<StatementClass> {
  const cursor = openSql(sql, dialect);
  const walk = firstWalk(cursor);
  const head = readHeadWords(walk, dialect);
  yield;
  const doubt = doubtAfter(cursor, walk);
  return classOf(head, walk, { dialect, doubt });
}

/** The class of a statement whose words have been read. */
export function classOf(
  head: HeadWords,
  walk: StatementWalk,
  { dialect, doubt }: { readonly dialect: Dialect; readonly doubt: StatementDoubt | undefined },
): StatementClass {
  if (walk.tokenCount === 0) return { kind: "empty", firstWord: "", tag: "", writes: false, doubt };

  const kind = kindOf(head, dialect);
  const words = kind === "explain" || kind === "describe" ? [head.first] : head.words;
  return {
    kind,
    firstWord: head.first,
    tag: kind === "select" && head.into ? "SELECT INTO" : tagOf(kind, words),
    writes: writesOf(kind, head, dialect),
    doubt,
  };
}

/** Stands on the first token of the first statement that is not empty. */
function firstWalk(cursor: SqlCursor): StatementWalk {
  for (;;) {
    const walk = walkStatement(cursor);
    if (nextInStatement(walk) || !walk.atSemicolon) return walk;
  }
}

function doubtAfter(cursor: SqlCursor, walk: StatementWalk): StatementDoubt | undefined {
  let several = false;
  while (!several && nextSignificant(cursor)) several = cursor.kind !== "semicolon";
  if (cursor.doubt !== undefined) return cursor.doubt;
  if (several) return "severalStatements";
  return walk.compound ? "compoundBody" : undefined;
}

function kindOf(head: HeadWords, dialect: Dialect): StatementKind {
  const first = kindOfFirstWord(head.first, dialect);
  if (first === "explain") return explainKind(head, dialect);
  if (first === "describe") return first;
  return refine(kindOfFirstWord(head.main, dialect), head.words);
}

/** In MySQL `EXPLAIN t` describes a table. */
function explainKind(head: HeadWords, dialect: Dialect): StatementKind {
  return dialect === "mysql" && head.main === "" && !head.analyze ? "describe" : "explain";
}

/** Statements whose second word changes what they are. */
function refine(kind: StatementKind, words: readonly string[]): StatementKind {
  const [first, second, third] = words;
  switch (kind) {
    case "begin":
      return first === "START" && second !== "TRANSACTION" ? "unknown" : kind;
    case "commit":
      return second === "PREPARED" ? "unknown" : kind;
    case "rollback":
      if (second === "PREPARED") return "unknown";
      return second === "TO" || third === "TO" ? "savepoint" : kind;
    case "prepare":
      return second === "TRANSACTION" && third === undefined ? "commit" : kind;
    case "ddl":
      if (first === "DROP" && second === "PREPARE") return "deallocate";
      return first === "LOAD" && (second === "DATA" || second === "XML") ? "copy" : kind;
    case "copy":
      return first === "IMPORT" && second === "FOREIGN" ? "ddl" : kind;
    case "set":
      // MariaDB's SET STATEMENT … FOR runs any statement.
      return second === "STATEMENT" && words.includes("FOR") ? "unknown" : kind;
    default:
      return kind;
  }
}

function writesOf(kind: StatementKind, head: HeadWords, dialect: Dialect): boolean {
  if (kind === "explain" || kind === "describe") {
    return head.analyze && writesOf(kindOfFirstWord(head.main, dialect), head, dialect);
  }
  if (kind === "unknown" || kind === "execute" || writingKinds.has(kind)) return true;
  return head.innerWrite || (kind === "select" && head.into);
}
