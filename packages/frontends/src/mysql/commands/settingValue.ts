/**
 * The value that a SET assigns: literals, bare words (`ON`, `utf8mb4`), variables, and CONCAT of
 * them, which Connector/J uses to extend `@@sql_mode`. Any other expression has no value here.
 */
import type { SettingValue } from "@gateway/core/sql/session/statement.ts";
import {
  atEnd,
  peekToken,
  readTokens,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import type { Setting } from "../session/clientSession.ts";
import { readVariable } from "./select.ts";
import { nextText, numberOf, takeLiteral, takeName } from "./take.ts";
import type { VariableContext } from "./variables.ts";

/** DEFAULT as a value. */
export const byDefault = Symbol("DEFAULT");
export type Assigned = Setting | typeof byDefault;

/** Undefined for an expression that is none of ours, or a variable that does not exist. */
export function assignedValue(value: SettingValue, context: VariableContext): Assigned | undefined {
  switch (value.kind) {
    case "default":
      return byDefault;
    case "text":
      return value.text;
    case "number":
      return numberOf(value.text);
    case "word":
      return wordValue(value.text);
    case "raw": {
      const reader = readTokens(value.text, "mysql");
      if (reader === undefined) return undefined;
      const found = takeExpression(reader, context);
      return atEnd(reader) ? found : undefined;
    }
  }
}

function wordValue(word: string): Setting {
  switch (word.toUpperCase()) {
    case "NULL":
      return null;
    case "TRUE":
      return 1n;
    case "FALSE":
      return 0n;
    default:
      return word;
  }
}

function takeExpression(reader: TokenReader, context: VariableContext): Setting | undefined {
  if (peekToken(reader)?.kind === "variable") {
    const text = nextText(reader);
    reader.at += 1;
    return readVariable(text, context);
  }
  if (takeWords(reader, "CONCAT")) return takeConcat(reader, context);
  const literal = takeLiteral(reader);
  return literal === undefined ? takeName(reader) : literal;
}

function takeConcat(reader: TokenReader, context: VariableContext): Setting | undefined {
  if (!takeSymbol(reader, "(")) return undefined;
  let joined: string | null = "";
  do {
    const part = takeExpression(reader, context);
    if (part === undefined) return undefined;
    joined = joined === null || part === null ? null : joined + String(part);
  } while (takeSymbol(reader, ","));
  return takeSymbol(reader, ")") ? joined : undefined;
}

/** What a switch is set to; undefined for what is none of its words. */
export function switchValue(value: Setting): 0n | 1n | undefined {
  switch (String(value).toUpperCase()) {
    case "1":
    case "ON":
    case "TRUE":
    case "YES":
      return 1n;
    case "0":
    case "OFF":
    case "FALSE":
    case "NO":
      return 0n;
    default:
      return undefined;
  }
}
