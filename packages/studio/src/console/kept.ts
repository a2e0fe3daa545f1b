/** What the console remembers in this tab: the texts that were run, newest first. Gone with the tab, as SQL is personal. */

const key = "studio.texts";
const textsMax = 30;
const charsMax = 20_000;

export function keptTexts(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter((text): text is string => typeof text === "string")
      : [];
  } catch {
    return [];
  }
}

/** The list with the text first. */
export function keep(text: string): readonly string[] {
  const texts = [text, ...keptTexts().filter((each) => each !== text)].slice(0, textsMax);
  const kept = texts.filter((each) => each.length <= charsMax);
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing still shows them until the page is left.
  }
  return kept;
}
