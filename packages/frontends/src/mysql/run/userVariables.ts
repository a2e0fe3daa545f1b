/**
 * User variables in a statement that an engine answers. The session keeps them here and no connection there has
 * them, so such a statement would read NULL, or its value would be lost: it is refused.
 */
import { openSql, tokenText, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
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
  let last: Last = "";
  while (nextSignificant(cursor)) {
    const name = nameAt(cursor, last);
    const isRead = name !== undefined && settings.has(name.toLowerCase());
    const isSet =
      name === undefined
        ? last === "variable" && tokenText(cursor).startsWith(":=")
        : last === "into" || last === "into @";
    if (isRead || isSet) {
      return ownErrors.notSupported("a user variable of the session in this statement");
    }
    last = name === undefined ? lastOf(cursor, last) : "variable";
  }
  return undefined;
}

/** What the token before was, as far as it matters. */
type Last = "" | "into" | "@" | "into @" | "variable";

function lastOf(cursor: SqlCursor, last: Last): Last {
  if (cursor.kind === "operator" && tokenText(cursor) === "@")
    return last === "into" ? "into @" : "@";
  return cursor.kind === "word" && upperWord(cursor) === "INTO" ? "into" : "";
}

/** The name of the user variable that ends here: `@x`, or a name in quotes behind its `@`. */
function nameAt(cursor: SqlCursor, last: Last): string | undefined {
  const text = tokenText(cursor);
  if (cursor.kind === "variable") return text.startsWith("@@") ? undefined : text;
  if (!last.endsWith("@")) return undefined;
  const isQuoted = cursor.kind === "quotedIdentifier" || cursor.kind === "string";
  return isQuoted ? `@${text.slice(1, -1)}` : undefined;
}

/** A cheap look: most texts with an `@` in them hold a mail address. */
const writes = /\binto\s+@|:=/i;
function hasOwn(settings: ClientSession["settings"]): boolean {
  if (settings.size === 0) return false;
  return [...settings.keys()].some((name) => name.startsWith("@") && name !== "@gateway_tags");
}
