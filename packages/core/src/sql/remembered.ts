/**
 * What follows from a text alone, remembered: applications send the same few statements again and again.
 *
 * It is bounded twice, by the number of texts and by their length, and knows nothing of who asks.
 */

export interface RememberedLimits {
  /** Texts kept for certain; up to twice as many are kept, and the half not asked for lately goes first. */
  readonly textsMax: number;
  /** UTF-16 units of a text; a longer one is read each time, unless it is one of the last long ones. */
  readonly lengthMax: number;
  /** Longer texts kept, the last ones asked for: the stages of one statement ask one after the other. */
  readonly longTextsMax?: number;
}

/** `read` must be pure and its answers immutable, because everybody who brings the text is given the same one. */
export function remembered<Found>(
  read: (text: string) => Found,
  { textsMax, lengthMax, longTextsMax = 0 }: RememberedLimits,
): (text: string) => Found {
  const readLong = lastOnes(read, longTextsMax);
  let recent = new Map<string, Found>();
  let older = recent;
  return (text) => {
    if (text.length > lengthMax) return readLong(text);
    const known = recent.get(text);
    if (known !== undefined) return known;
    const found = older.get(text) ?? read(text);
    if (recent.size >= textsMax) {
      older = recent;
      recent = new Map();
    }
    recent.set(text, found);
    return found;
  };
}

/** A few texts in a list: to look a long one up in a map would take a hash of all of it. */
function lastOnes<Found>(read: (text: string) => Found, textsMax: number): (text: string) => Found {
  const kept: { readonly text: string; readonly found: Found }[] = [];
  return (text) => {
    const known = kept.find((one) => one.text === text);
    if (known !== undefined) return known.found;
    const found = read(text);
    kept.push({ text, found });
    if (kept.length > textsMax) kept.shift();
    return found;
  };
}
