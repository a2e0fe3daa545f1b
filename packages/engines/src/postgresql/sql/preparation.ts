/** `PREPARE TRANSACTION` as it is sent: written anew, as the text of a client is never asked in the simple protocol. */
import { decodeString } from "@gateway/core/sql/lex/literal.ts";
import { atEnd, peekToken, readTokens, takeWords } from "@gateway/core/sql/session/tokenReader.ts";
import { quoteText } from "./quote.ts";

/** Undefined for a text that is anything else, or more. */
export function preparationOf(sql: string): string | undefined {
  const reader = readTokens(sql, "postgres");
  if (reader === undefined || !takeWords(reader, "PREPARE", "TRANSACTION")) return undefined;
  const token = peekToken(reader);
  if (token?.kind !== "string") return undefined;
  reader.at += 1;
  const name = atEnd(reader) ? decodeString(token.text, "postgres") : undefined;
  return name === undefined || name.includes("\0")
    ? undefined
    : `PREPARE TRANSACTION ${quoteText(name)}`;
}
