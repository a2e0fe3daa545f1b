/** ROW_COUNT() and FOUND_ROWS() beside other expressions. Alone they are answered by the session, which counts; the engine's connection has served others. */
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { ownErrors } from "../errors.ts";
import { sessionWords } from "../read/sessionWords.ts";

/** The refusal of a text for the engine that would be told the count of another statement. */
export function rowCountRefusal(source: string): ErrorReply | undefined {
  if (!sessionWords(source, false).counts) return undefined;
  return ownErrors.notSupported("ROW_COUNT() or FOUND_ROWS() beside others");
}
