/**
 * User variables in a statement that an engine answers. They are kept here as long as that is enough. A server of MySQL's
 * gets them with the first statement that needs them there, and from then on they are the server's; no connection of
 * another engine has them, so such a statement would read NULL, or its value would be lost: it is refused.
 */
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { ClientSession, Setting } from "../session/clientSession.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { sessionWords } from "../read/sessionWords.ts";
import { collect } from "./collect.ts";
import type { Responder } from "./responder.ts";

const tagsVariable = "@gateway_tags";

/** The refusal of a text that reads a variable of the session, or sets one. */
export function variablesRefusal(
  { settings }: Pick<ClientSession, "settings">,
  source: string,
): ErrorReply | undefined {
  if (!source.includes("@")) return undefined;
  const hasOwn = hasVariables(settings);
  const { variables, moreVariables, sets } = sessionWords(source, hasOwn);
  const reads = hasOwn && (moreVariables || [...variables].some((name) => settings.has(name)));
  if (!sets && !reads) return undefined;
  return ownErrors.notSupported("a user variable of the session in this statement");
}

/** Whether the session has variables that a statement could read. */
export function hasVariables(settings: ClientSession["settings"]): boolean {
  if (settings.size === 0) return false;
  return [...settings.keys()].some((name) => name.startsWith("@") && name !== tagsVariable);
}

/** True for a statement that the server answers because it names variables that stand there. */
export function namesServerVariables(
  { home }: Pick<Responder, "home">,
  source: string,
  { kind }: StatementClass,
): boolean {
  if (home.kept === undefined || !source.includes("@")) return false;
  const { variables } = sessionWords(source, true);
  if (variables.size === 0 || variables.has(tagsVariable)) return false;
  return kind !== "set" || setsThemOnly(source);
}

/** True for a SET of nothing but user variables. */
export function setsThemOnly(source: string): boolean {
  const found = readStatement(source, "mysql").session;
  return found?.kind === "set" && found.changes.every(({ kind }) => kind === "userVariable");
}

/** Sets on the server what the session has of them, where the statement names any. Undefined when nothing is to be done. */
export function bringVariables(
  responder: Responder,
  source: string,
): Promise<ErrorReply | undefined> | undefined {
  if (!source.includes("@")) return undefined;
  const { settings } = responder.client;
  const own = [...settings].filter(([name]) => isVariable(name));
  if (own.length === 0 || responder.variablesOn === responder.home) return undefined;
  const { variables, moreVariables } = sessionWords(source, true);
  if (variables.size === 0 && !moreVariables) return undefined;
  return brought(responder, own);
}

async function brought(
  responder: Responder,
  own: readonly (readonly [string, Setting])[],
): Promise<ErrorReply | undefined> {
  const { home } = responder;
  const { warnings } = responder.client;
  const texts = own.map(([name, value]) => `${quoted(name)} = ${literalOf(value)}`);
  const failed = await responder.runQuietly(`SET ${texts.join(", ")}`);
  if (failed !== undefined) return errorReply(failed);
  responder.variablesOn = home;
  responder.client = { ...responder.client, warnings };
  return undefined;
}

/** Before a SET of other variables that names user variables: what the server says that they are now. */
export async function refreshVariables(responder: Responder, source: string): Promise<void> {
  const { home } = responder;
  if (home.kept === undefined || responder.variablesOn !== home || !source.includes("@")) return;
  const names = [...sessionWords(source, true).variables].filter((name) => name !== tagsVariable);
  if (names.length === 0) return;
  const { warnings } = responder.client;
  const sql = `SELECT ${names.map(quoted).join(", ")} LIMIT 1`;
  const rows = await collect(responder, { sql, parameters: [] });
  const [row] = rows.ok ? rows.value : [];
  const settings = new Map(responder.client.settings);
  for (const [at, name] of names.entries()) settings.set(name, settingOf(row?.[at] ?? null));
  responder.client = { ...responder.client, settings, warnings };
}

function settingOf(text: string | null): Setting {
  return text !== null && /^-?\d{1,18}$/.test(text) ? BigInt(text) : text;
}

function isVariable(name: string): boolean {
  return name.startsWith("@") && name !== tagsVariable;
}

function quoted(name: string): string {
  return `@"${name.slice(1).replaceAll('"', '""')}"`;
}

/** As the standard writes it: how the text goes on is another's decision. */
function literalOf(value: Setting): string {
  if (value === null) return "NULL";
  return typeof value === "bigint" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
