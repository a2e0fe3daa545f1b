/** ROW_COUNT() and FOUND_ROWS() beside other expressions. Alone they are answered by the session, which counts; the engine's connection has served others. */
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { ownErrors } from "../errors.ts";
import { sessionWords } from "./sessionWords.ts";

/** The refusal of a text for the engine that would be told the count of another statement. */
export function rowCountRefusal(source: string): ErrorReply | undefined {
  if (!sessionWords(source, false).counts) return undefined;
  return ownErrors.notSupported("ROW_COUNT() or FOUND_ROWS() beside others");
}

/**
 * Whether FOUND_ROWS() is of this statement's rows. Servers count those of a query, and of a SHOW that they answer
 * by one; what they write row by row leaves the count of the query before.
 */
export function tellsFoundRows(source: string): boolean {
  return !written.test(source);
}

const maintained = "analyze|check|checksum|optimize|repair";
const explained =
  "explain|(?:desc|describe)\\s+(?:select|with|insert|update|delete|replace|analyze)";
const shown =
  "show\\s+(?:create|warnings|errors|(?:full\\s+)?processlist|privileges|grants|engine)";
const written = new RegExp(`^\\s*(?:${maintained}|${explained}|${shown})\\b`, "i");
