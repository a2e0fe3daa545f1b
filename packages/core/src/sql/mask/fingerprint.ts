/**
 * Brings queries that differ only in values, spacing or case to one text, and hashes it.
 *
 * Every literal and parameter becomes `?`, comments go, words fall to lower case (also names: two
 * tables that differ only by case share a digest), spacing becomes canonical, `IN` lists and equal rows
 * of `VALUES` collapse to one. So the number of digests stays near the number of queries someone wrote.
 */
import { openSql, type LexDoubt } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import {
  addInlineData,
  addToken,
  emptyPieces,
  isLongWord,
  isTooLong,
  lowerWord,
  textOf,
  type DigestPieces,
} from "./digestPieces.ts";
import { readHash } from "./hash.ts";
import { beginsInlineData, searchInlineData } from "../lex/inlineData.ts";
import { nextSignificant } from "../lex/lex.ts";
import { readingsBy } from "../reading/reading.ts";
import { tokensPerStep, type Steps } from "../reading/steps.ts";

/** A query without its values. */
export interface SqlDigest {
  /** The canonical text; undefined when the query can not be read for certain, as values may show in it, or has too many pieces. */
  readonly text: string | undefined;
  /** 32 hex digits, also when there is no text. Stable over releases, not cryptographic. */
  readonly fingerprint: string;
}

/**
 * The digest of a text. Cost: linear. Memory: about twice the text. Never throws. A text of very many pieces,
 * which nobody wrote by hand, is not read to its end; its beginning alone makes the digest.
 */
export function digestSql(sql: string, dialect: Dialect): SqlDigest {
  return digestReading(dialect)(sql);
}

/** The digests of texts, by dialect. Long ones are read by `longText.ts` as well. */
export const digestReading = readingsBy(readDigest);

function* readDigest(sql: string, dialect: Dialect): Steps<SqlDigest> {
  const cursor = openSql(sql, dialect);
  const inlineData = searchInlineData(cursor);
  const digest = emptyPieces();
  let tooLong = false;
  for (let tokens = 1; !tooLong && nextSignificant(cursor); tokens += 1) {
    addToken(digest, cursor, isLongWord(cursor) ? yield* lowerWord(cursor) : undefined);
    tooLong = isTooLong(digest);
    if (beginsInlineData(inlineData, cursor)) {
      addInlineData(digest);
      break;
    }
    if (tokens % tokensPerStep === 0) yield;
  }
  return yield* digestOf(digest, tooLong ? "tooLong" : cursor.doubt);
}

/** The digest of pieces; `reason` is why they are not the whole text or not for certain. */
export function* digestOf(
  digest: DigestPieces,
  reason: LexDoubt | "tooLong" | undefined,
): Steps<SqlDigest> {
  const text = textOf(digest);
  yield;
  // The reason in front keeps the fingerprint of an unreadable text apart from that of a readable one.
  if (reason === undefined) return { text, fingerprint: yield* readHash(text) };
  return { text: undefined, fingerprint: yield* readHash(`${reason}\n${text}`) };
}
