/**
 * How the server's list of what runs tells whose a prepared statement is: its text is the same for all executions.
 *
 * On a connection that one session has until it leaves, the text names the lease, which is the session's own. On one that
 * sessions share, `application_name` names the lease and the query, and the text the gateway. A client's SQL can change
 * the name and not the text, so a list in which such a text runs under no such name is known not to be complete.
 */
import { commentEnd, commentStart, tagJoint, tagPrefix } from "@gateway/core/query/tag.ts";
import { shownTags } from "@gateway/core/query/tagText.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { quoteText } from "./quote.ts";

type Tagged = Pick<Identified, "slot" | "id" | "session">;

/** PostgreSQL cuts a longer one short. */
const nameMax = 63;
/** In the place of a query's id. */
const anyQuery = "prepared";

/** Comments before the text of a prepared statement, and the name that tells its query where there is one. */
export interface PreparedTag {
  readonly prefix: string;
  readonly name: string | undefined;
}

/** Undefined where the name does not hold the lease: the statement is sent as one that is not prepared. */
export function preparedTag(query: Tagged, shared: boolean): PreparedTag | undefined {
  const { holder } = query.slot;
  const shown = shownTags(query.session.tags);
  const own = shown === "" ? "" : `/* ${shown} */ `;
  if (!shared)
    return {
      prefix: `${commentStart}${holder}${tagJoint}${anyQuery}${commentEnd}${own}`,
      name: undefined,
    };
  const slash = holder.indexOf("/");
  const lease = holder.slice(slash + 1);
  const whole = `${lease}/${query.id}`;
  const name = whole.length <= nameMax ? whole : lease;
  const prefix = `${markOf(holder.slice(0, slash))} ${own}`;
  return slash < 0 || name.length > nameMax ? undefined : { prefix, name };
}

/** A client's SQL changed the name that told whose statement runs. */
export const hidden = Symbol("hidden");

/** The tag of a prepared statement in the list; undefined for every other text. */
export function tagOfPrepared(text: string, name: string): string | typeof hidden | undefined {
  const instance = /^\/\* gateway\/prepared\/([\w-]+) \*\//.exec(text)?.[1];
  if (instance === undefined) return undefined;
  if (!/^[\w-]+(?:\/[\w-]+)?$/.test(name)) return hidden;
  return `${tagPrefix}${instance}/${name.includes("/") ? name : `${name}/${anyQuery}`}`;
}

/** A condition over the list that holds for what runs under the tag as a prepared statement. */
export function runsPrepared(tag: string): string {
  const [instance = "", lease = "", id = ""] = tag.slice(tagPrefix.length).split("/");
  const names = [lease, `${lease}/${id}`].map(quoteText).join(", ");
  return `(pg_catalog.strpos(query, ${quoteText(markOf(instance))}) = 1 AND application_name IN (${names}))`;
}

function markOf(instance: string): string {
  return `${commentStart}prepared/${instance} */`;
}
