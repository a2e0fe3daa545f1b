/** Tags as clients of this wire write them: `team:sales,app:report`. */

/** Further tags are dropped, because every record gets a copy. */
const tagsMax = 50;
const tagLengthMax = 256;

/** The tags of a text. A piece without a colon is a tag with an empty value; of one name the last wins. */
export function parseTags(text: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const piece of text.split(",")) {
    const colon = piece.indexOf(":");
    const name = (colon < 0 ? piece : piece.slice(0, colon)).trim();
    const value = colon < 0 ? "" : piece.slice(colon + 1).trim();
    if (name === "" || name.length > tagLengthMax || value.length > tagLengthMax) continue;
    if (tags.size === tagsMax && !tags.has(name)) break;
    tags.set(name, value);
  }
  return tags;
}
