/**
 * What was read of a text, kept for whoever asks next: each stage of a statement and each adapter asks for
 * its own reason, and applications send the same few statements again and again.
 *
 * A long text is read ahead in steps (`ahead`), so that nobody has to read it in one go. If it has left the
 * memory by the time somebody asks, it is read again.
 */
import { remembered } from "./remembered.ts";
import { inOneGo, type Steps } from "./steps.ts";

/** UTF-16 units beyond which a text is long. Reading a shorter one takes less than two milliseconds. */
export const longTextUnits = 64 * 1024;

export interface Reading<Found> {
  /** What the text says: remembered, read ahead, or read now in one go. */
  (text: string): Found;
  /** Reads a long text in steps. Nothing for a short one, and for one that is known. */
  ahead(text: string): Steps<void>;
  /** Whether a long text was read and is remembered. */
  knows(text: string): boolean;
  /** Stores what somebody found who walked the text for several reasons at once. */
  put(text: string, found: Found): void;
}

/** Short texts are remembered as by `remembered`. */
const shortTexts = { textsMax: 256, lengthMax: 2_048 } as const;

/** `read` must be pure and its results immutable, because everybody who brings the text gets the same one. */
export function readingOf<Found>(read: (text: string) => Steps<Found>): Reading<Found> {
  const kept = new LastTexts<Found>();
  const ofShort = remembered((text) => inOneGo(read(text)), shortTexts);
  const ask = (text: string): Found => {
    if (text.length <= shortTexts.lengthMax) return ofShort(text);
    const known = kept.get(text);
    if (known !== undefined) return known.found;
    const found = inOneGo(read(text));
    kept.put(text, found);
    return found;
  };
  return Object.assign(ask, {
    *ahead(text: string): Steps<void> {
      if (text.length <= longTextUnits || kept.get(text) !== undefined) return;
      kept.put(text, yield* read(text));
    },
    knows: (text: string) => kept.get(text) !== undefined,
    put: (text: string, found: Found) => kept.put(text, found),
  });
}

/** One reading for each key, such as a dialect; made when it is first asked for. */
export function readingsBy<Key, Found>(
  read: (text: string, key: Key) => Steps<Found>,
): (key: Key) => Reading<Found> {
  const made = new Map<Key, Reading<Found>>();
  return (key) => {
    let reading = made.get(key);
    if (reading === undefined) {
      reading = readingOf((text) => read(text, key));
      made.set(key, reading);
    }
    return reading;
  };
}

const textsMax = 32;
const unitsMax = 16 * 1024 * 1024;

/**
 * So many always stay, however long they are: a text, and the statement in it without the white space and semicolon
 * around. Were there room for one alone, whoever asks for the other would read it in one go.
 */
const newestMin = 2;

/** Memory for texts too long to keep many of: bounded by their number and by their total length, but for the newest. */
export class LastTexts<Found> {
  readonly #kept = new Map<string, { readonly found: Found }>();
  #units = 0;

  get(text: string): { readonly found: Found } | undefined {
    return this.#kept.get(text);
  }

  put(text: string, found: Found): void {
    // One that comes again is the newest.
    if (!this.#kept.delete(text)) this.#units += text.length;
    this.#kept.set(text, { found });
    for (const oldest of this.#kept.keys()) {
      const fits = this.#kept.size <= textsMax && this.#units <= unitsMax;
      if (fits || this.#kept.size <= newestMin) return;
      this.#kept.delete(oldest);
      this.#units -= oldest.length;
    }
  }
}
