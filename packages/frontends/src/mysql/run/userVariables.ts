/**
 * User variables in a statement that an engine answers. The session keeps them here and no connection there has
 * them, so such a statement would read NULL, or its value would be lost: it is refused.
 */
import { openSql, tokenText, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { ownErrors } from "../errors.ts";

/** The refusal of a text that reads a variable of the session, or sets one. */
export function variablesRefusal(
  { settings }: Pick<ClientSession, "settings">,
  source: string,
): ErrorReply | undefined {
  if (!source.includes("@") || !(writes.test(source) || hasOwn(settings))) return undefined;
  const cursor = openSql(source, "mysql");
  let behindInto = false;
  while (nextSignificant(cursor)) {
    const isUsers = cursor.kind === "variable" && !tokenText(cursor).startsWith("@@");
    const isWritten = behindInto || assigns.test(source.slice(cursor.end));
    if (isUsers && (isWritten || settings.has(tokenText(cursor).toLowerCase()))) {
      return ownErrors.notSupported("a user variable of the session in this statement");
    }
    behindInto = cursor.kind === "word" && upperWord(cursor) === "INTO";
  }
  return undefined;
}

/** A cheap look: most texts with an `@` in them hold a mail address. */
const writes = /\binto\s+@|:=/i;
/** What stands behind a variable that the statement sets. */
const assigns = /^(?:\s|\/\*[^*]*\*\/)*:=/;

function hasOwn(settings: ClientSession["settings"]): boolean {
  if (settings.size === 0) return false;
  return [...settings.keys()].some((name) => name.startsWith("@") && name !== "@gateway_tags");
}
