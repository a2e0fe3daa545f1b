/**
 * Reads a long text in steps, once for all who ask later: where its statements are, what each is and
 * says of its session, its digest and its hash. Between two steps others get their turn.
 *
 * Afterwards `splitStatements`, `readStatement`, `classifyStatement` and `digestSql` answer for it from
 * what was read.
 */
import { classOf, classReading } from "./classify/classify.ts";
import { openSql, type SqlCursor } from "./lex/cursor.ts";
import type { Dialect } from "./dialect.ts";
import { addInlineData, addToken, emptyPieces, isTooLong } from "./mask/digestPieces.ts";
import { digestOf, digestReading } from "./mask/fingerprint.ts";
import { hashReading } from "./mask/hash.ts";
import { beginHeadWords, readHeadToken } from "./classify/headWords.ts";
import { beginsInlineData, searchInlineData } from "./lex/inlineData.ts";
import { longTextUnits } from "./reading/reading.ts";
import { slicesReading, statementCountMax } from "./lex/split.ts";
import { stepInStatement, walkStatement, type StatementSlice } from "./lex/statement.ts";
import { tokensPerStep, type Steps } from "./reading/steps.ts";
import { readSessionToken, searchSession, sessionFound } from "./session/session.ts";
import { statementOf, statementReading } from "./statement.ts";

interface Progress {
  readonly cursor: SqlCursor;
  readonly dialect: Dialect;
  readonly tokensMax: number;
  readonly slices: StatementSlice[];
  /** Tokens that mean something. */
  tokens: number;
  /** All tokens. */
  read: number;
}

/** Yields between two steps. False for a text of more tokens, of which nothing is kept. Comments and white space are no tokens. */
export function* readLongText(sql: string, dialect: Dialect, tokensMax: number): Steps<boolean> {
  const cursor = openSql(sql, dialect);
  const progress: Progress = { cursor, dialect, tokensMax, slices: [], tokens: 0, read: 0 };
  let more = true;
  while (more) {
    more = yield* readStatement(progress);
    if (progress.tokens > tokensMax) return false;
  }
  slicesReading(dialect).put(sql, progress.slices);
  return true;
}

/** False behind the last statement. */
function* readStatement(progress: Progress): Steps<boolean> {
  const { cursor, dialect } = progress;
  const walk = walkStatement(cursor);
  const head = beginHeadWords(dialect);
  const session = searchSession(dialect);
  const digest = emptyPieces();
  const inlineData = searchInlineData(cursor);
  let digested: "all" | "tooLong" | undefined;
  // A version comment that reaches over a semicolon reads differently where it is cut.
  const whole = !cursor.inVersionComment;
  cursor.doubt = undefined;
  for (let met = stepInStatement(walk); met !== "end"; met = stepInStatement(walk)) {
    progress.read += 1;
    if (progress.read % tokensPerStep === 0) yield;
    if (met === "space") continue;
    progress.tokens += 1;
    if (progress.tokens > progress.tokensMax) return false;
    readHeadToken(head, walk);
    readSessionToken(session, walk);
    if (digested !== undefined) continue;
    addToken(digest, cursor);
    if (isTooLong(digest)) digested = "tooLong";
    if (beginsInlineData(inlineData, cursor)) {
      addInlineData(digest);
      digested ??= "all";
    }
  }
  // Semicolons count as well: a million of them are as many empty statements.
  progress.tokens += 1;
  progress.read += 1;
  if (progress.read % tokensPerStep === 0) yield;
  if (walk.tokenCount === 0) return walk.atSemicolon;
  const { start, end } = walk;
  if (progress.slices.length <= statementCountMax) progress.slices.push({ start, end });
  const known = whole && !cursor.inVersionComment && end - start > longTextUnits;
  if (!known) return walk.atSemicolon;
  const sql = cursor.sql.slice(start, end);
  const doubt = cursor.doubt ?? (walk.compound ? "compoundBody" : undefined);
  yield* hashReading.ahead(sql);
  const found = classOf(head.found, walk, { dialect, doubt });
  const statement = statementOf(sql, found, sessionFound(session, walk, cursor.doubt));
  statementReading(dialect).put(sql, statement);
  classReading(dialect).put(sql, found);
  yield;
  const reason = digested === "tooLong" ? digested : cursor.doubt;
  digestReading(dialect).put(sql, digestOf(digest, reason));
  yield;
  return walk.atSemicolon;
}
