/**
 * The mark that shows, in an engine's own list of running statements, whose each one is.
 *
 * A slot is given again only when the engine is known not to run its query, so every statement carries
 * its tag where the engine can show it again and the client's SQL can not change it.
 */
import type { Identified } from "./query.ts";

/** What every tag begins with. A client's own value that begins so is refused. */
export const tagPrefix = "gateway/";

/** `gateway/<instance>/<lease>/<query id>`; letters, digits, `-`, `_` and `/` only. */
export function statementTag({ slot, id }: Pick<Identified, "slot" | "id">): string {
  return `${tagPrefix}${slot.holder}/${id}`;
}

/** The first tag in a text, such as a statement with a leading comment; undefined where there is none. */
export function tagIn(text: string): string | undefined {
  return /gateway\/[\w-]+\/[\w-]+\/[\w-]+/.exec(text)?.[0];
}
