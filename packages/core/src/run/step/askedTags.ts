/**
 * Tags that stand beside a statement, whatever its protocol: in the header `X-Gateway-Tags` of HTTP (and Flight's
 * metadata), and, where the operator allows it, in a comment before the statement. They go before the session's.
 */
import type { Query } from "../../query/query.ts";
import { tagsIn } from "../../query/tagText.ts";
import { openSql, tokenText } from "../../sql/lex/cursor.ts";
import { nextToken } from "../../sql/lex/lex.ts";
import { tagsOfComment } from "../../sql/lex/tagComment.ts";

/** In lower case, as sessions keep headers. */
export const tagHeader = "x-gateway-tags";

/** Agents write their statements, often from what strangers wrote; where these go is their operator's to say. */
const agents: ReadonlySet<string> = new Set(["mcp"]);

/** The query with those tags; the same one where there are none. `comments`: whether comments are read. */
export function withAskedTags(query: Query, comments: boolean): Query {
  const { session } = query;
  const header = session.headers.get(tagHeader);
  const comment = comments && !agents.has(session.frontend) ? tagComment(query) : undefined;
  if (header === undefined && comment === undefined) return query;
  const tags = new Map([...session.tags, ...tagsIn(header ?? ""), ...tagsIn(comment ?? "")]);
  return { ...query, session: { ...session, tags } };
}

/** The tags' text in the first comment before the statement that has some. */
function tagComment({ sql, session }: Query): string | undefined {
  const cursor = openSql(sql, session.dialect);
  while (nextToken(cursor)) {
    if (cursor.kind === "whitespace") continue;
    if (cursor.kind !== "comment") return undefined;
    const found = tagsOfComment(tokenText(cursor));
    if (found !== undefined) return found;
  }
  return undefined;
}
