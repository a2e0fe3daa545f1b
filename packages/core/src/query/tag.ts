/**
 * The mark that shows, in an engine's own list of running statements, whose each one is.
 *
 * A slot is given again only when the engine is known not to run its query, so every statement carries
 * its tag where the engine can show it again and the client's SQL can not change it.
 */
import type { Identified } from "./query.ts";

/** What every tag begins with. A client's own value that begins so is refused. */
export const tagPrefix = "gateway/";

/** What stands between who holds the slot and the id. One character of ASCII: who writes a tag as bytes counts on it. */
export const tagJoint = "/";

/** What stands before the holder where the tag is a comment before its statement, and what behind the id. */
export const commentStart = `/* ${tagPrefix}`;
export const commentEnd = " */ ";

/** `gateway/<instance>/<lease>/<query id>`; letters, digits, `-`, `_` and `/` only. */
export function statementTag({ slot, id }: Pick<Identified, "slot" | "id">): string {
  return `${tagPrefix}${slot.holder}${tagJoint}${id}`;
}

/** The same as a comment, which ends in a blank. */
export function tagComment({ slot, id }: Pick<Identified, "slot" | "id">): string {
  return `${commentStart}${slot.holder}${tagJoint}${id}${commentEnd}`;
}

/** The first tag in a text, such as a statement with a leading comment; undefined where there is none. */
export function tagIn(text: string): string | undefined {
  return /gateway\/[\w-]+\/[\w-]+\/[\w-]+/.exec(text)?.[0];
}
