/** From what was found for a pair of dialects to the words that were tested for it. */

/**
 * A word is tested where a statement with it gave the same rows and none gave other ones or was refused by its fault:
 * the words that it names, or else those that no statement with equal rows has. `unseen`: differences that no word
 * tells, because they lie in the values.
 */
export function wordsOfPair(judged) {
  const passed = new Set(
    judged.filter(({ state }) => state === "same").flatMap(({ features }) => features),
  );
  const denied = new Set();
  const unseen = [];
  for (const { name, state, features, only } of judged) {
    if (state !== "differs" && state !== "refused") continue;
    const faulty =
      only === undefined
        ? features.filter((word) => !passed.has(word))
        : features.filter((word) => only.includes(word));
    for (const word of faulty) denied.add(word);
    // A text that is not even read is refused in any case, and so is one that the engine does not take.
    if (faulty.length === 0 && features.length > 0 && state === "differs") unseen.push(name);
  }
  return { tested: [...passed].filter((word) => !denied.has(word)).toSorted(byText), unseen };
}

/** In the order of their characters, whatever the machine's language. */
export function byText(a, b) {
  return a < b ? -1 : Number(a > b);
}
