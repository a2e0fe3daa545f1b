/**
 * Takes names and literals of MySQL from a statement's tokens, as values. Each moves only when it
 * finds what it wants. The rest of reading is in the core's token reader.
 */
import { decodeString } from "@gateway/core/sql/lex/literal.ts";
import {
  peekToken,
  takeNamePart,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import type { Setting } from "../session/clientSession.ts";

/** A name without its quotes. */
export function takeName(reader: TokenReader): string | undefined {
  return takeNamePart(reader)?.text;
}

/** The value of a string literal. */
export function takeString(reader: TokenReader): string | undefined {
  const token = peekToken(reader);
  const value = token?.kind === "string" ? decodeString(token.text, "mysql") : undefined;
  if (value !== undefined) reader.at += 1;
  return value;
}

/** A string, an integer or decimal with its sign, TRUE, FALSE or NULL. */
export function takeLiteral(reader: TokenReader): Setting | undefined {
  if (takeWords(reader, "NULL")) return null;
  if (takeWords(reader, "TRUE")) return 1n;
  if (takeWords(reader, "FALSE")) return 0n;
  const start = reader.at;
  const sign = takeSymbol(reader, "-") ? "-" : "";
  const token = peekToken(reader);
  if (token?.kind === "number") {
    reader.at += 1;
    return numberOf(sign + token.text);
  }
  reader.at = start;
  return takeString(reader);
}

/** A whole number exactly, any other as its text. */
export function numberOf(text: string): Setting {
  return /^[+-]?\d+$/.test(text) ? BigInt(text) : text;
}

/** What stands next, for a message. */
export function nextText(reader: TokenReader): string {
  return peekToken(reader)?.text ?? "";
}
