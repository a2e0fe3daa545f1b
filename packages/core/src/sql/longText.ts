/**
 * Reads a long text in steps, once for all who ask later: where its statements are, what each is, and its
 * digest. Between two steps others get their turn.
 *
 * Afterwards `splitStatements`, `classifyStatement` and `digestSql` answer for it from what was read.
 */
import { classesAhead, classOf } from "./classify.ts";
import { openSql, type SqlCursor } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { addInlineData, addToken, emptyPieces, isTooLong } from "./digestPieces.ts";
import { digestOf, digestsAhead } from "./fingerprint.ts";
import { beginHeadWords, readHeadToken } from "./headWords.ts";
import { beginsInlineData, searchInlineData } from "./inlineData.ts";
import { longTextUnits } from "./readAhead.ts";
import { slicesAhead } from "./split.ts";
import { nextInStatement, walkStatement, type StatementSlice } from "./statement.ts";

/** Tokens of one step: about a millisecond. */
const tokensPerStep = 4096;

interface Progress {
  readonly cursor: SqlCursor;
  readonly dialect: Dialect;
  readonly tokensMax: number;
  readonly slices: StatementSlice[];
  tokens: number;
}

/** Yields between two steps. False for a text of more tokens, of which nothing is kept. Comments and white space are no tokens. */
export function* readLongText(
  sql: string,
  dialect: Dialect,
  tokensMax: number,
): Generator<undefined, boolean, void> {
  const cursor = openSql(sql, dialect);
  const progress: Progress = { cursor, dialect, tokensMax, slices: [], tokens: 0 };
  let more = true;
  while (more) {
    more = yield* readStatement(progress);
    if (progress.tokens > tokensMax) return false;
  }
  slicesAhead.put(sql, dialect, progress.slices);
  return true;
}

/** False behind the last statement. */
function* readStatement(progress: Progress): Generator<undefined, boolean, void> {
  const { cursor, dialect } = progress;
  const walk = walkStatement(cursor);
  const head = beginHeadWords(dialect);
  const digest = emptyPieces();
  const inlineData = searchInlineData(cursor);
  let digested: "all" | "tooLong" | undefined;
  // A version comment that reaches over a semicolon reads differently where it is cut.
  const whole = !cursor.inVersionComment;
  cursor.doubt = undefined;
  while (nextInStatement(walk)) {
    progress.tokens += 1;
    if (progress.tokens > progress.tokensMax) return false;
    readHeadToken(head, walk);
    if (digested === undefined) {
      addToken(digest, cursor);
      if (isTooLong(digest)) digested = "tooLong";
      if (beginsInlineData(inlineData, cursor)) {
        addInlineData(digest);
        digested ??= "all";
      }
    }
    if (progress.tokens % tokensPerStep === 0) yield;
  }
  // Semicolons count as well: a million of them are as many empty statements.
  progress.tokens += 1;
  if (progress.tokens % tokensPerStep === 0) yield;
  if (walk.tokenCount === 0) return walk.atSemicolon;
  const { start, end } = walk;
  progress.slices.push({ start, end });
  const known = whole && !cursor.inVersionComment && end - start > longTextUnits;
  if (!known) return walk.atSemicolon;
  const sql = cursor.sql.slice(start, end);
  const doubt = cursor.doubt ?? (walk.compound ? "compoundBody" : undefined);
  classesAhead.put(sql, dialect, classOf(head.found, walk, { dialect, doubt }));
  yield;
  digestsAhead.put(
    sql,
    dialect,
    digestOf(digest, digested === "tooLong" ? digested : cursor.doubt),
  );
  yield;
  return walk.atSemicolon;
}
