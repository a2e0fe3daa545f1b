/**
 * Collects, in one walk, the words of a statement that decide what it is.
 *
 * Looks through leading brackets, a `WITH` and an `EXPLAIN` to the verb behind them, and notes the few
 * shapes by which a statement that begins harmlessly changes something. Judging them is `classify.ts`.
 */
import { isWord, upperWord, type SqlCursor, type TokenKind } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextInStatement, type StatementWalk } from "../lex/statement.ts";
import { kindOfFirstWord } from "./statementKind.ts";

/** Stands among the words for a quoted name, which is never a keyword. */
export const quotedName = '""';

/** What one walk over a statement found. All words are in upper case. */
export interface HeadWords {
  /** The first word; empty when the statement does not begin with one. */
  first: string;
  /** The verb behind `WITH` or `EXPLAIN`; otherwise the first word. Empty when none was found. */
  main: string;
  /** The words from `main` on that stand outside brackets and not after a dot, at most `headWordsMax`. */
  words: string[];
  /** `INTO` stood somewhere. */
  into: boolean;
  /** A bracket opened on a writing verb, as the part of a `WITH` that writes does. */
  innerWrite: boolean;
  /** `ANALYZE` stood between `EXPLAIN` and the verb. */
  analyze: boolean;
}

/** How far a tag has to look: `CREATE OR REPLACE ALGORITHM = MERGE DEFINER = x SQL SECURITY INVOKER VIEW`. */
const headWordsMax = 16;

/** Verbs that make rows change. */
const writingVerbs: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** Verbs that may follow the parts of a `WITH`. */
const verbsAfterWith: ReadonlySet<string> = new Set([
  ...writingVerbs,
  "SELECT",
  "VALUES",
  "TABLE",
  "FROM",
  "REPLACE",
]);

/** What the walk remembers between tokens. */
export interface HeadProgress {
  readonly found: HeadWords;
  readonly dialect: Dialect;
  /** Whether the walk still looks for the verb behind an `EXPLAIN` or a `WITH`, or in brackets behind a `WITH`. */
  seeking: "first" | "explained" | "afterWith" | "grouped" | "nothing";
  /** A part of a `WITH` had a SEARCH or CYCLE, behind which no bracket closes before the verb. */
  searches: boolean;
  depth: number;
  lastKind: TokenKind;
  lastWord: string;
  /** The token before was a writing verb directly after an opening bracket. */
  openedOnVerb: boolean;
}

/** Walks to the statement's end. The walk stands on its first token, which it has already met. */
export function readHeadWords(walk: StatementWalk, dialect: Dialect): HeadWords {
  const progress = beginHeadWords(dialect);
  if (walk.tokenCount === 0) return progress.found;
  do {
    readHeadToken(progress, walk);
  } while (nextInStatement(walk));
  return progress.found;
}

/** The state before the first token, for a caller that walks by itself. */
export function beginHeadWords(dialect: Dialect): HeadProgress {
  const found: HeadWords = {
    first: "",
    main: "",
    words: [],
    into: false,
    innerWrite: false,
    analyze: false,
  };
  return {
    found,
    dialect,
    seeking: "first",
    searches: false,
    depth: 0,
    lastKind: "whitespace",
    lastWord: "",
    openedOnVerb: false,
  };
}

/** Takes the token that the walk stands on. */
export function readHeadToken(progress: HeadProgress, walk: StatementWalk): void {
  const { kind } = walk.cursor;
  const named = kind === "word" || kind === "quotedIdentifier";
  if (progress.openedOnVerb && named) progress.found.innerWrite = true;
  progress.openedOnVerb = false;

  const word = kind === "word" ? wordOf(progress, walk.cursor) : "";
  if (kind === "word") readWord(progress, word);
  else if (progress.seeking === "first" || progress.seeking === "grouped")
    skipBeforeFirst(progress, kind);
  else if (kind === "quotedIdentifier") keepWord(progress, quotedName);
  else if (kind === "open" && opensMain(progress)) progress.seeking = "grouped";
  else if (kind === "open") progress.depth += 1;
  else if (kind === "close" && progress.depth > 0) progress.depth -= 1;

  progress.lastKind = kind;
  progress.lastWord = word;
}

/** The word in upper case, or nothing where no word matters: past the head of a long statement. */
function wordOf(progress: HeadProgress, cursor: SqlCursor): string {
  const matters =
    progress.seeking !== "nothing" ||
    progress.lastKind === "open" ||
    inHead(progress) ||
    isWord(cursor, "INTO");
  return matters ? upperWord(cursor) : "";
}

/** Brackets before the first word only group. Anything else there means that no word begins the statement. */
function skipBeforeFirst(progress: HeadProgress, kind: TokenKind): void {
  if (kind !== "open") progress.seeking = "nothing";
}

function readWord(progress: HeadProgress, word: string): void {
  const { found } = progress;
  if (progress.seeking === "first") {
    found.first = word;
    begin(progress, word);
    return;
  }
  if (progress.lastKind === "dot") return;
  if (word === "INTO") found.into = true;
  progress.openedOnVerb = progress.lastKind === "open" && writingVerbs.has(word);

  if (progress.seeking === "grouped") begin(progress, word);
  else if (progress.seeking === "explained") seekExplained(progress, word);
  else if (progress.seeking === "afterWith") seekAfterWith(progress, word);
  else keepWord(progress, word);
}

/** The statement, or the one behind `EXPLAIN`, begins with this word. */
function begin(progress: HeadProgress, word: string): void {
  if (word === "WITH") {
    progress.seeking = "afterWith";
    return;
  }
  const explains = word === "EXPLAIN" || word === "DESCRIBE" || word === "DESC";
  if (explains && progress.found.first === word) {
    progress.seeking = "explained";
    return;
  }
  progress.seeking = "nothing";
  progress.found.main = word;
  progress.found.words.push(word);
}

/** Options stand before the verb, bare or in brackets. */
function seekExplained(progress: HeadProgress, word: string): void {
  if (word === "ANALYZE" || word === "ANALYSE") {
    progress.found.analyze = true;
    return;
  }
  if (progress.depth > 0) return;
  if (word === "WITH" || kindOfFirstWord(word, progress.dialect) !== "unknown")
    begin(progress, word);
}

/**
 * The verb follows the closing bracket of the last part, so a part named `insert` is not taken for a verb.
 * ClickHouse and Trino have parts without brackets; there the verbs are reserved words.
 */
function seekAfterWith(progress: HeadProgress, word: string): void {
  if (progress.depth > 0) return;
  if (progress.lastKind === "close" && (word === "SEARCH" || word === "CYCLE")) {
    progress.searches = true;
  }
  if (!verbsAfterWith.has(word)) return;
  const bare = progress.dialect === "clickhouse" || progress.dialect === "trino";
  const betweenParts = progress.lastKind === "comma" || beforeNames.has(progress.lastWord);
  const afterWords = (bare || progress.searches) && !betweenParts;
  if (progress.lastKind === "close" || afterWords) begin(progress, word);
}

/** Words of a `WITH` behind which a name comes, also one that is a verb elsewhere; those of SEARCH and CYCLE last. */
const beforeNames: ReadonlySet<string> = new Set([
  "WITH",
  "RECURSIVE",
  "AS",
  "BY",
  "SET",
  "USING",
  "TO",
  "DEFAULT",
  "CYCLE",
]);

/** `WITH a AS (…) (SELECT …)`. ClickHouse writes a part as `quantile(0.5)(x) AS a`. */
function opensMain({ seeking, depth, lastKind, dialect }: HeadProgress): boolean {
  const follows = seeking === "afterWith" && depth === 0 && lastKind === "close";
  return follows && dialect !== "clickhouse";
}

function keepWord(progress: HeadProgress, word: string): void {
  if (inHead(progress)) progress.found.words.push(word);
}

/** Whether a word at this point is one of those that are kept. */
function inHead({ found, depth, seeking, lastKind }: HeadProgress): boolean {
  const { length } = found.words;
  if (depth > 0 || seeking !== "nothing" || lastKind === "dot") return false;
  return length > 0 && length < headWordsMax;
}
