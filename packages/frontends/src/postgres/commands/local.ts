/**
 * Finds the statements about the server or the session, which the frontend answers itself: SET, RESET, SHOW,
 * DISCARD, DEALLOCATE, and SELECTs of nothing but server functions.
 *
 * It only reads; `localAnswer.ts` does what they say. In doubt a statement is the engine's.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  SessionStatement,
  SettingChange,
  SettingValue,
} from "@gateway/core/sql/session/statement.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { isQuestion, readArrayTypes, readSelect, type Question } from "./localSelect.ts";
import { quotedEntry } from "../session/searchPath.ts";
import { isolationNames, settings } from "../session/settings.ts";

export type LocalStatement =
  /** `value` undefined is DEFAULT. `local`: until the end of the transaction. */
  | {
      readonly kind: "set";
      readonly changes: readonly NamedValue[];
      readonly local: boolean;
    }
  | { readonly kind: "reset"; readonly name: string }
  | { readonly kind: "resetAll" }
  | { readonly kind: "show"; readonly name: string }
  | { readonly kind: "showAll" }
  /** `name` undefined: all of them. */
  | { readonly kind: "deallocate"; readonly name: string | undefined }
  | { readonly kind: "discardAll" }
  /** A statement that is taken and does nothing here. */
  | { readonly kind: "nothing"; readonly tag: string }
  | { readonly kind: "ask"; readonly questions: readonly Question[] }
  | { readonly kind: "arrayTypes" }
  | { readonly kind: "refuse"; readonly error: GatewayError };

/** A setting by its lower-case name, and its new value. */
export interface NamedValue {
  readonly name: string;
  readonly value: string | undefined;
}

/**
 * What the statement asks of the frontend; undefined, and cheap, when it is the engine's. `words` are its first
 * two in upper case.
 */
export function readLocal(
  sql: string,
  [first = "", second = ""]: readonly string[],
): LocalStatement | undefined {
  switch (first) {
    case "SET":
    case "RESET":
    case "SHOW":
    case "DISCARD":
    case "DEALLOCATE":
    case "PREPARE":
    case "EXECUTE":
      return localOf(readStatement(sql, "postgres").session);
    case "SELECT":
      return readQuestions(sql, second);
    case "UNLISTEN":
      return { kind: "nothing", tag: "UNLISTEN" };
    case "LISTEN":
    case "NOTIFY":
      return refuse("LISTEN and NOTIFY are not supported");
    default:
      return undefined;
  }
}

function refuse(message: string): LocalStatement {
  return { kind: "refuse", error: gatewayError("query.unsupported", { message }) };
}

function localOf(statement: SessionStatement | undefined): LocalStatement | undefined {
  switch (statement?.kind) {
    case "set":
      return setOf(statement.changes);
    case "reset":
      if (isIdentity(statement.name)) return { kind: "nothing", tag: "RESET" };
      return isOurs(statement.name) ? statement : undefined;
    case "resetAll":
      return statement;
    case "show":
      if (statement.name === "all") return { kind: "showAll" };
      return isOurs(statement.name) ? statement : undefined;
    case "discard":
      // Here plans, sequences and temporary tables end with their statement.
      return statement.what === "all"
        ? { kind: "discardAll" }
        : { kind: "nothing", tag: `DISCARD ${statement.what.toUpperCase()}` };
    case "deallocate":
      return statement;
    case "deallocateAll":
      return { kind: "deallocate", name: undefined };
    case "prepare":
      return refuse("PREPARE as a statement is not supported; use the protocol's own");
    case "execute":
    case "executeImmediate":
      return refuse("EXECUTE as a statement is not supported; use the protocol's own");
    default:
      return undefined;
  }
}

/** A name with a dot is the client's own. Any other name that PostgreSQL does not have is the engine's. */
export function isOurs(name: string): boolean {
  return settings.has(name) || name.includes(".");
}

function isIdentity(name: string): boolean {
  return name === "role" || name === "session_authorization";
}

/** A SET of PostgreSQL has one change; a list is another dialect's. */
function setOf(changes: readonly SettingChange[]): LocalStatement | undefined {
  const [change, second] = changes;
  if (change === undefined || second !== undefined) return undefined;
  switch (change.kind) {
    case "variable":
      return variableOf(change);
    case "names":
      return oneOf("client_encoding", [change.charset], false);
    case "timeZone":
      return zoneOf(change);
    case "transaction":
      return transactionOf(change);
    case "role":
      return ownIdentity(change.role);
    case "authorization":
      return ownIdentity(change.user);
    case "userVariable":
      return undefined;
  }
}

function variableOf({
  name,
  scope,
  values,
}: Extract<SettingChange, { kind: "variable" }>): LocalStatement | undefined {
  if (name === "role") return ownIdentity(values[0]);
  // `SET SCHEMA 'x'` is another way to write the search path.
  const known = name === "schema" ? "search_path" : name;
  const meant = scope === "unsaid" || scope === "session" || scope === "local";
  return meant && isOurs(known) ? oneOf(known, values, scope === "local") : undefined;
}

function zoneOf({
  value,
  scope,
}: Extract<SettingChange, { kind: "timeZone" }>): LocalStatement | undefined {
  const own = value.kind === "word" && value.text.toUpperCase() === "LOCAL";
  return oneOf("timezone", own ? [{ kind: "default" }] : [value], scope === "local");
}

function oneOf(
  name: string,
  values: readonly SettingValue[],
  local: boolean,
): LocalStatement | undefined {
  const texts = values.map((value) => textOf(name, value));
  if (texts.includes(undefined)) {
    const isDefault = values.length === 1 && values[0]?.kind === "default";
    return isDefault ? { kind: "set", changes: [{ name, value: undefined }], local } : undefined;
  }
  return { kind: "set", changes: [{ name, value: texts.join(", ") }], local };
}

/** Undefined for DEFAULT and for expressions, which are not computed here. */
function textOf(name: string, value: SettingValue): string | undefined {
  switch (value.kind) {
    case "text":
      // A text is one name, also with a comma in it.
      return name === "search_path" ? quotedEntry(value.text) : value.text;
    case "number":
      return value.text;
    case "word":
      return name === "search_path" ? quotedEntry(value.text) : value.text;
    case "default":
    case "raw":
      return undefined;
  }
}

function transactionOf({
  scope,
  modes,
}: Extract<SettingChange, { kind: "transaction" }>): LocalStatement | undefined {
  if (scope === "global") return undefined;
  const prefix = scope === "session" ? "default_transaction_" : "transaction_";
  const changes: NamedValue[] = [];
  if (modes.isolation !== undefined) {
    changes.push({ name: `${prefix}isolation`, value: isolationNames[modes.isolation] });
  }
  if (modes.readOnly !== undefined) {
    changes.push({ name: `${prefix}read_only`, value: modes.readOnly ? "on" : "off" });
  }
  if (modes.deferrable !== undefined) {
    changes.push({ name: `${prefix}deferrable`, value: modes.deferrable ? "on" : "off" });
  }
  return { kind: "set", changes, local: scope === "next" };
}

/** `SET ROLE NONE` and the like change nothing. A client may not choose another identity. */
function ownIdentity(value: SettingValue | undefined): LocalStatement {
  const own =
    value?.kind === "default" || (value?.kind === "word" && value.text.toUpperCase() === "NONE");
  if (own) return { kind: "nothing", tag: "SET" };
  return refuse("the identity of a session is decided by the gateway and can not be changed");
}

/** Most SELECTs are the engine's, and their second word shows it. */
function readQuestions(sql: string, second: string): LocalStatement | undefined {
  if (second === "B") return readArrayTypes(sql) ? { kind: "arrayTypes" } : undefined;
  if (second !== "PG_CATALOG" && !isQuestion(second.toLowerCase())) return undefined;
  const questions = readSelect(sql);
  return questions === undefined ? undefined : { kind: "ask", questions };
}
