/**
 * Reads a long text in steps, once for all who ask later: where its statements are, what each one is and asks
 * of its session, the digest and the hash. Between two steps others get their turn.
 *
 * Afterwards `splitStatements`, `readStatement`, `classifyStatement` and `digestSql` answer from memory.
 */
import { classOf, classReading, type StatementClass } from "./classify/classify.ts";
import { openSqlInSteps, type SqlCursor } from "./lex/cursor.ts";
import type { Dialect } from "./dialect.ts";
import {
  addInlineData,
  addToken,
  emptyPieces,
  isLongWord,
  isTooLong,
  lowerWord,
  type DigestPieces,
} from "./mask/digestPieces.ts";
import { digestOf, digestReading, type SqlDigest } from "./mask/fingerprint.ts";
import { hashReading } from "./mask/hash.ts";
import { beginHeadWords, readHeadToken, type HeadProgress } from "./classify/headWords.ts";
import { beginsInlineData, searchInlineData, type InlineDataSearch } from "./lex/inlineData.ts";
import { longTextUnits } from "./reading/reading.ts";
import { slicesReading, statementCountMax } from "./lex/split.ts";
import {
  stepInStatement,
  walkStatement,
  type StatementSlice,
  type StatementWalk,
} from "./lex/statement.ts";
import { tokensPerStep, type Steps } from "./reading/steps.ts";
import {
  readSessionToken,
  searchSession,
  sessionFound,
  type SessionSearch,
} from "./session/session.ts";
import type { SessionStatement } from "./session/statement.ts";
import { statementOf, statementReading } from "./statement.ts";

/** Somebody who asks something else of the same tokens. */
export interface TokenReader {
  /** Takes the token on which the cursor stands, white space and comments as well. */
  token(cursor: SqlCursor): void;
  /** Behind the last token of the text. Not called for a text of too many. */
  end(): void;
}

const nobody: TokenReader = { token: () => {}, end: () => {} };

interface Progress {
  readonly along: TokenReader;
  readonly cursor: SqlCursor;
  readonly dialect: Dialect;
  readonly tokensMax: number;
  readonly slices: StatementSlice[];
  /** Tokens that mean something. */
  tokens: number;
  /** All tokens. */
  read: number;
  /** The only statement so far; whatever surrounds it means nothing. */
  only: Read | undefined;
}

/** What was read of one statement. */
interface Read {
  readonly found: StatementClass;
  readonly session: SessionStatement | undefined;
  readonly digest: SqlDigest;
}

/**
 * Yields between two steps. False for a text of more tokens, of which nothing is kept. Comments and white space
 * are no tokens. `along` reads in the same walk, if there is one: a text that is known is not walked again.
 */
export function* readLongText(
  sql: string,
  dialect: Dialect,
  tokensMax: number,
  along?: TokenReader,
): Steps<boolean> {
  // No limit applies to a text that was described before, or whose client's dialect is the engine's.
  if (tokensMax === Number.POSITIVE_INFINITY && isKnown(sql, dialect)) return true;
  const progress: Progress = {
    along: along ?? nobody,
    cursor: openSqlInSteps(sql, dialect),
    dialect,
    tokensMax,
    slices: [],
    tokens: 0,
    read: 0,
    only: undefined,
  };
  let more = true;
  while (more) {
    more = yield* readNext(progress);
    if (progress.tokens > tokensMax) return false;
  }
  along?.end();
  const { slices, only } = progress;
  if (slices.length === 1 && only !== undefined) yield* keep(sql, dialect, only);
  slicesReading(dialect).put(sql, slices);
  return true;
}

/** Whether everything that the walk would find is in memory. */
function isKnown(sql: string, dialect: Dialect): boolean {
  return (
    hashReading.knows(sql) &&
    [slicesReading, statementReading, classReading, digestReading].every((readings) =>
      readings(dialect).knows(sql),
    )
  );
}

/** False behind the last statement. */
function* readNext(progress: Progress): Steps<boolean> {
  const { along, cursor, dialect, slices } = progress;
  const walk = walkStatement(cursor);
  const head = beginHeadWords(dialect);
  const search = searchSession(dialect);
  const digest: DigestSearch = {
    pieces: emptyPieces(),
    inlineData: searchInlineData(cursor),
    ended: undefined,
  };
  // A version comment that spans a semicolon reads differently once it is cut.
  const whole = !cursor.inVersionComment;
  cursor.doubt = undefined;
  for (let met = stepInStatement(walk); met !== "end"; met = stepInStatement(walk)) {
    if (met === "part") {
      yield;
      continue;
    }
    progress.read += 1;
    if (progress.read % tokensPerStep === 0) yield;
    along.token(cursor);
    if (met === "space") continue;
    progress.tokens += 1;
    if (progress.tokens > progress.tokensMax) return false;
    readHeadToken(head, walk);
    readSessionToken(search, walk);
    const lower = isLongWord(cursor) ? yield* lowerWord(cursor) : undefined;
    digestToken(digest, cursor, lower);
  }
  if (walk.atSemicolon) along.token(cursor);
  // Semicolons count as well: a million of them are as many empty statements.
  progress.tokens += 1;
  progress.read += 1;
  if (progress.read % tokensPerStep === 0) yield;
  const { start, end, tokenCount, atSemicolon } = walk;
  if (tokenCount === 0) {
    if (cursor.doubt !== undefined) progress.only = undefined;
    return atSemicolon;
  }
  const isFirst = slices.length === 0 && progress.tokens === tokenCount + 1;
  progress.only = undefined;
  if (slices.length <= statementCountMax) slices.push({ start, end });
  const isLong = end - start > longTextUnits;
  if (!whole || cursor.inVersionComment || !(isFirst || isLong)) return atSemicolon;
  const read = yield* readOf(progress, { walk, head, search, digest });
  yield;
  if (isFirst) progress.only = read;
  if (isLong) yield* keep(cursor.sql.slice(start, end), dialect, read);
  return atSemicolon;
}

/** The digest on its way. */
interface DigestSearch {
  readonly pieces: DigestPieces;
  readonly inlineData: InlineDataSearch;
  /** Set where no further token belongs to it. */
  ended: "all" | "tooLong" | undefined;
}

function digestToken(digest: DigestSearch, cursor: SqlCursor, lower?: string): void {
  const { pieces, inlineData } = digest;
  if (digest.ended !== undefined) return;
  addToken(pieces, cursor, lower);
  if (isTooLong(pieces)) digest.ended = "tooLong";
  if (beginsInlineData(inlineData, cursor)) {
    addInlineData(pieces);
    digest.ended ??= "all";
  }
}

/** What the walk over one statement collected. */
interface Collected {
  readonly walk: StatementWalk;
  readonly head: HeadProgress;
  readonly search: SessionSearch;
  readonly digest: DigestSearch;
}

function* readOf(
  { cursor, dialect }: Progress,
  { walk, head, search, digest }: Collected,
): Steps<Read> {
  const doubt = cursor.doubt ?? (walk.compound ? "compoundBody" : undefined);
  return {
    found: classOf(head.found, walk, { dialect, doubt }),
    session: yield* sessionFound(search, walk, cursor.doubt),
    digest: yield* digestOf(digest.pieces, digest.ended === "tooLong" ? "tooLong" : cursor.doubt),
  };
}

/** A text of one statement: with white space and semicolons around it, or without. */
function* keep(sql: string, dialect: Dialect, { found, session, digest }: Read): Steps<void> {
  yield* hashReading.ahead(sql);
  statementReading(dialect).put(sql, statementOf(sql, found, session));
  classReading(dialect).put(sql, found);
  digestReading(dialect).put(sql, digest);
  slicesReading(dialect).put(sql, [{ start: 0, end: sql.length }]);
  yield;
}
