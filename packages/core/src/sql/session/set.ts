/**
 * Reads `SET` in the forms of all dialects. Used by `session.ts` only.
 *
 * One grammar serves them: a list of changes, each with an optional scope. After a comma, something
 * that looks like the start of a change is one; otherwise it is a further value, as in
 * `SET search_path = a, b`.
 */
import { asciiLower } from "../lex/cursor.ts";
import { readModes } from "./transaction.ts";
import type { SessionStatement, SettingChange, SettingScope, SettingValue } from "./statement.ts";
import {
  atEnd,
  peekToken,
  takeNamePart,
  takeOneOf,
  takePath,
  takeSettingName,
  takeSymbol,
  takeValue,
  takeValues,
  takeWords,
  type TokenReader,
} from "./tokenReader.ts";

/** After `SET`. Undefined when any part is not understood. */
export function readSet(reader: TokenReader): SessionStatement | undefined {
  const changes: SettingChange[] = [];
  let scope: SettingScope = "unsaid";
  do {
    // MySQL: a written scope holds for the plain names after it.
    scope = takeScope(reader) ?? scope;
    const change = readChange(reader, scope);
    if (change === undefined) return undefined;
    changes.push(change);
  } while (takeSymbol(reader, ","));
  return atEnd(reader) ? { kind: "set", changes } : undefined;
}

const scopes: ReadonlyMap<string, SettingScope> = new Map<string, SettingScope>([
  ["SESSION", "session"],
  ["LOCAL", "local"],
  ["GLOBAL", "global"],
  ["PERSIST", "persist"],
  ["PERSIST_ONLY", "persistOnly"],
]);

/** A scope before a name. `SET local = 1` sets a setting of that name. */
function takeScope(reader: TokenReader): SettingScope | undefined {
  if (looksAtAssignment(reader, 1)) return undefined;
  const word = takeOneOf(reader, [...scopes.keys()]);
  const scope = word === undefined ? undefined : scopes.get(word);
  return scope === "local" && reader.dialect === "mysql" ? "session" : scope;
}

/** Whether `=`, `:=` or `TO` comes next. */
function looksAtAssignment(reader: TokenReader, ahead: number): boolean {
  const token = peekToken(reader, ahead);
  return (
    token?.text === "=" ||
    token?.text === ":=" ||
    (token?.upper === "TO" && reader.dialect !== "mysql")
  );
}

function takeAssignment(reader: TokenReader): boolean {
  if (!looksAtAssignment(reader, 0)) return false;
  reader.at += 1;
  return true;
}

function readChange(reader: TokenReader, scope: SettingScope): SettingChange | undefined {
  if (peekToken(reader)?.kind === "variable") return readAtVariable(reader);
  if (takeSymbol(reader, "@")) return readUserVariable(reader, userVariableName(reader));
  if (takeSymbol(reader, "@@")) return readVariable(reader, "bare");
  if (!looksAtAssignment(reader, 1)) {
    const special = readSpecial(reader, scope);
    if (special !== undefined) return special;
  }
  return readVariable(reader, scope);
}

/** The forms that are words instead of a name and a value. Undefined, with nothing taken, when none fits. */
function readSpecial(reader: TokenReader, scope: SettingScope): SettingChange | undefined {
  const start = reader.at;
  const change = readSpecialForm(reader, scope);
  if (change === undefined) reader.at = start;
  return change;
}

function readSpecialForm(reader: TokenReader, scope: SettingScope): SettingChange | undefined {
  if (
    takeWords(reader, "NAMES") ||
    takeWords(reader, "CHARSET") ||
    takeWords(reader, "CHARACTER", "SET")
  ) {
    return readNames(reader);
  }
  if (takeWords(reader, "TIME", "ZONE")) {
    const value = takeValue(reader);
    return value === undefined ? undefined : { kind: "timeZone", scope, value };
  }
  if (takeWords(reader, "CHARACTERISTICS", "AS", "TRANSACTION"))
    return readTransaction(reader, "session");
  if (takeWords(reader, "TRANSACTION")) return readTransaction(reader, scope);
  if (takeWords(reader, "ROLE")) return readRole(reader);
  if (scope === "session" && takeWords(reader, "AUTHORIZATION")) {
    const user = takeValue(reader);
    return user === undefined ? undefined : { kind: "authorization", user };
  }
  if (takeWords(reader, "VARIABLE")) return readUserVariable(reader, takeSettingName(reader));
  const name = takeOneOf(reader, ["SCHEMA", "CATALOG", "PATH"]);
  if (name === undefined || reader.dialect === "mysql") return undefined;
  const values = takeValues(reader);
  return values === undefined
    ? undefined
    : { kind: "variable", scope, name: asciiLower(name), values };
}

/** One token, so that `COLLATE` and what follows is left. */
function takeOneValue(reader: TokenReader): SettingValue | undefined {
  const { tokens, at } = reader;
  const one: TokenReader = { ...reader, tokens: tokens.slice(0, at + 1) };
  const value = takeValue(one);
  reader.at = one.at;
  return value;
}

function readNames(reader: TokenReader): SettingChange | undefined {
  const charset = takeOneValue(reader);
  if (charset === undefined) return undefined;
  if (!takeWords(reader, "COLLATE")) return { kind: "names", charset, collation: undefined };
  const collation = takeOneValue(reader);
  return collation === undefined ? undefined : { kind: "names", charset, collation };
}

/** PostgreSQL's `SET LOCAL TRANSACTION`, and no scope at all, mean the current or next transaction. */
function readTransaction(reader: TokenReader, scope: SettingScope): SettingChange | undefined {
  if (atEnd(reader)) return undefined;
  const modes = readModes(reader, reader.dialect === "mysql");
  if (modes === undefined) return undefined;
  return {
    kind: "transaction",
    scope: scope === "session" || scope === "global" ? scope : "next",
    modes,
  };
}

function readRole(reader: TokenReader): SettingChange | undefined {
  const role = takeOneValue(reader);
  if (role === undefined) return undefined;
  if (!takeWords(reader, "IN")) return { kind: "role", role, catalog: undefined };
  const catalog = takeNamePart(reader);
  return catalog === undefined ? undefined : { kind: "role", role, catalog: catalog.text };
}

/** Names whose assignment is not a setting: MySQL's `SET PASSWORD = 'x'` changes the account. */
const notSettings: ReadonlySet<string> = new Set(["password"]);

function readVariable(reader: TokenReader, scope: SettingScope): SettingChange | undefined {
  const name = takeSettingName(reader);
  if (name === undefined || notSettings.has(name) || !takeAssignment(reader)) return undefined;
  return readVariableValues(reader, scope, name);
}

function readVariableValues(
  reader: TokenReader,
  scope: SettingScope,
  name: string,
): SettingChange | undefined {
  const first = takeValue(reader);
  if (first === undefined) return undefined;
  const values = [first];
  while (hasFurtherValue(reader)) {
    reader.at += 1;
    const value = takeValue(reader);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return { kind: "variable", scope, name, values };
}

/** Whether a comma and another value of the same setting come next. */
function hasFurtherValue(reader: TokenReader): boolean {
  if (reader.dialect === "mysql" || reader.dialect === "clickhouse") return false;
  return peekToken(reader)?.kind === "comma" && !beginsChange(reader);
}

/** Whether a name and an assignment follow the comma. */
function beginsChange(reader: TokenReader): boolean {
  const ahead: TokenReader = { ...reader, at: reader.at + 1 };
  if (peekToken(ahead)?.kind === "variable") return true;
  takeScope(ahead);
  return takePath(ahead) !== undefined && looksAtAssignment(ahead, 0);
}

/** `@name`, `@@name` and `@@session.name` are one token each; a quoted last part is another. */
function readAtVariable(reader: TokenReader): SettingChange | undefined {
  const text = asciiLower(peekToken(reader)?.text ?? "");
  reader.at += 1;
  if (!text.startsWith("@@")) return readUserVariable(reader, text.slice(1));

  const dot = text.indexOf(".");
  const scope = dot < 0 ? undefined : scopes.get(text.slice(2, dot).toUpperCase());
  const written = scope === undefined ? text.slice(2) : text.slice(dot + 1);
  const quoted = written === "" || written.endsWith(".") ? takeSettingName(reader) : "";
  if (quoted === undefined || !takeAssignment(reader)) return undefined;
  return readVariableValues(
    reader,
    scope === "local" ? "session" : (scope ?? "bare"),
    written + quoted,
  );
}

/** The quoted name after a lone `@`. */
function userVariableName(reader: TokenReader): string | undefined {
  if (peekToken(reader)?.kind === "quotedIdentifier") return takeSettingName(reader);
  const value = takeOneValue(reader);
  return value?.kind === "text" ? asciiLower(value.text) : undefined;
}

function readUserVariable(
  reader: TokenReader,
  name: string | undefined,
): SettingChange | undefined {
  if (name === undefined || !takeAssignment(reader)) return undefined;
  const value = takeValue(reader);
  return value === undefined ? undefined : { kind: "userVariable", name, value };
}
