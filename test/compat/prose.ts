/** Text of tests and programs inside of a page. */

/** Titles that hold a whole statement are cut. */
const proseMax = 160;

/** A title as it stands: nothing in it is markup, and none is longer than a few lines. */
export function prose(text: string): string {
  const cut = text.length > proseMax ? `${text.slice(0, proseMax)}…` : text;
  return cut.replace(/[\\`*<]/g, "\\$&");
}
