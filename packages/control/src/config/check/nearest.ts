/** Guesses which known word a mistyped one stands for. */

/** The known word that `word` is a slip of: contained in it, containing it, or few edits away. Undefined when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  // A long word may hold more slips; a short one must keep at least half of its letters.
  const distanceMax = Math.min(Math.max(2, Math.floor(word.length / 3)), word.length / 2);
  return best !== undefined && best.distance <= distanceMax ? best.word : undefined;
}

/** Words shorter than this are contained in others by accident. */
const containedLettersMin = 4;
/** A longer word is no slip, and comparing it would cost time. */
const lettersMax = 64;

function distanceOf(a: string, b: string): number {
  if (a.length > lettersMax || b.length > lettersMax) return Number.POSITIVE_INFINITY;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  const contained = short.length >= containedLettersMin && long.includes(short);
  // Behind a true slip, because `port` may be contained where `ports` was meant.
  return contained ? Math.min(1.5, editDistance(a, b)) : editDistance(a, b);
}

/** Insertions, deletions, changes and swaps of neighbours that lead from one word to the other. */
function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (beforePrevious[j - 2] ?? 0) + 1 : change;
      row.push(Math.min(change, swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
