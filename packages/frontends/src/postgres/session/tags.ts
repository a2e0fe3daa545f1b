/** Tags as a client writes them into `gateway.tags`: `team:red,job:nightly`. */

/** The most tags of one session, and the longest key or value. */
const tagsMax = 64;
const partMax = 256;

/** One for all sessions without tags. */
export const noTags: ReadonlyMap<string, string> = new Map();

/** The tags; a word without a colon is a key with an empty value. Undefined when they are too many or too long. */
export function parseTags(text: string): ReadonlyMap<string, string> | undefined {
  if (text === "") return noTags;
  const tags = new Map<string, string>();
  for (const part of text.split(",", tagsMax + 1)) {
    const colon = part.indexOf(":");
    const key = (colon < 0 ? part : part.slice(0, colon)).trim();
    const value = colon < 0 ? "" : part.slice(colon + 1).trim();
    if (key.length > partMax || value.length > partMax) return undefined;
    if (key !== "") tags.set(key, value);
  }
  return tags.size > tagsMax ? undefined : tags;
}
