/**
 * User variables in a statement that an engine answers. The session keeps them here and no connection there has
 * them, so such a statement would read NULL, or its value would be lost: it is refused.
 */
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { ownErrors } from "../errors.ts";
import { sessionWords } from "../read/sessionWords.ts";

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
  return [...settings.keys()].some((name) => name.startsWith("@") && name !== "@gateway_tags");
}
