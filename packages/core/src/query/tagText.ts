/**
 * Tags as clients write them and as engines are shown them. Who may set them and where is the frontends' and
 * `run/step/askedTags.ts`.
 */
import { commentEnd, commentStart, statementTag, tagJoint, tagPrefix } from "./tag.ts";
import type { Identified } from "./query.ts";

type Tags = ReadonlyMap<string, string>;

/** Of one text; every record gets a copy of them. */
const tagsMax = 50;
const partMax = 256;

/** The tags of `team:data,job:nightly`. A piece without a colon has an empty value; those that are too long, too many, or look like the gateway's own are left out. */
export function tagsIn(text: string): Tags {
  const tags = new Map<string, string>();
  for (const piece of text.split(",", tagsMax)) {
    const colon = piece.indexOf(":");
    const name = (colon < 0 ? piece : piece.slice(0, colon)).trim();
    const value = colon < 0 ? "" : piece.slice(colon + 1).trim();
    const fits = name !== "" && name.length <= partMax && value.length <= partMax;
    if (fits && !name.startsWith(tagPrefix) && !value.startsWith(tagPrefix)) tags.set(name, value);
  }
  return tags;
}

/** Characters beside our tag: an engine's list of statements shows a thousand of them all. */
const shownMax = 500;

/** `team=data,job=nightly`: letters, digits, `-`, `_` and `.`, all else as percent signs and hex digits, so that nothing a client wrote ends a comment. Empty without tags. */
export function shownTags(tags: Tags): string {
  let shown = "";
  for (const [name, value] of tags) {
    const part = value === "" ? encoded(name) : `${encoded(name)}=${encoded(value)}`;
    if (shown.length + part.length >= shownMax) break;
    shown += shown === "" ? part : `,${part}`;
  }
  return shown;
}

/** The statement's own tag, then the client's. */
export function taggedText(query: Pick<Identified, "slot" | "id" | "session">): string {
  const shown = shownTags(query.session.tags);
  return shown === "" ? statementTag(query) : `${statementTag(query)} ${shown}`;
}

/** The same as comments before a statement, each ending in a blank. Engines are asked for the first one as a whole. */
export function statementComment(query: Pick<Identified, "slot" | "id" | "session">): string {
  return commentParts(query).join("");
}

/** The same in parts, for who writes them one behind the other. */
export function commentParts({
  slot,
  id,
  session,
}: Pick<Identified, "slot" | "id" | "session">): readonly string[] {
  const shown = session.tags.size === 0 ? "" : shownTags(session.tags);
  const end = shown === "" ? commentEnd : `${commentEnd}/* ${shown} */ `;
  return [commentStart, slot.holder, tagJoint, id, end];
}

function encoded(text: string): string {
  const whole = text.replace(/\p{Cs}/gu, "\ufffd");
  return encodeURIComponent(whole).replace(
    /[!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
