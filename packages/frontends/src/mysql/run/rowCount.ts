/** ROW_COUNT() beside other expressions. Alone it is answered by the session, which counts; the engine's connection has served others. */
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { ownErrors } from "../errors.ts";

/** A cheap look before the text is read. */
const mentioned = /\brow_count\b/i;

/** The refusal of a text for the engine that would be told the count of another statement. */
export function rowCountRefusal(source: string): ErrorReply | undefined {
  if (!mentioned.test(source)) return undefined;
  const cursor = openSql(source, "mysql");
  let named = false;
  while (nextSignificant(cursor)) {
    if (named && cursor.kind === "open") return ownErrors.notSupported("ROW_COUNT() beside others");
    named = cursor.kind === "word" && upperWord(cursor) === "ROW_COUNT";
  }
  return undefined;
}
