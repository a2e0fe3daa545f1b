/**
 * What follows from a text alone, remembered: applications send the same few statements again and again.
 *
 * It is bounded twice, by the number of texts and by their length, and knows nothing of who asks.
 */

export interface RememberedLimits {
  /** Texts that are surely kept. Up to twice as many are; the half that was not used lately goes first. */
  readonly textsMax: number;
  /** UTF-16 units of a text; a longer one is read each time (`reading.ts` keeps long ones too). */
  readonly lengthMax: number;
}

/** `read` must be pure and its results immutable, because everybody who brings the text gets the same one. */
export function remembered<Found>(
  read: (text: string) => Found,
  { textsMax, lengthMax }: RememberedLimits,
): (text: string) => Found {
  let recent = new Map<string, Found>();
  let older = recent;
  // Of a text that comes at once again, which is the same object where its frontend read it as one.
  let lastText: string | undefined;
  let last: Found | undefined;
  return (text) => {
    if (text === lastText && last !== undefined) return last;
    if (text.length > lengthMax) return read(text);
    let found = recent.get(text);
    if (found === undefined) {
      found = older.get(text) ?? read(text);
      if (recent.size >= textsMax) {
        older = recent;
        recent = new Map();
      }
      recent.set(text, found);
    }
    lastText = text;
    last = found;
    return found;
  };
}
