/** Makes the table of a set of several bytes: characters by the bytes that say them. */
import type { Source, Span } from "./source.ts";

/**
 * Characters of two bytes, and of two behind a prefix, as UTF-16 by `first << 8 | second`; zero for none. Those behind a
 * prefix stand without the second one's high bit where others have their places with it.
 */
export type Pairs = Uint16Array<ArrayBuffer>;

/** Bytes before two of `Pairs`, whose second has this high bit there. */
export interface Prefix {
  readonly bytes: readonly number[];
  readonly high: 0x80 | 0;
}

/** A set that can be read. */
export interface Table {
  readonly pairs: Pairs;
  /** Second bytes of two begin here. */
  readonly trailMin: number;
  /** All of them are as long and begin with the same byte. The first is the one that is written. */
  readonly prefixes: readonly Prefix[];
  /** What a backslash is written as; undefined for its own byte. */
  readonly backslash?: number | undefined;
  /** Bytes that are katakana by themselves. */
  readonly katakana: boolean;
  /** First bytes whose characters are also elsewhere, which is where they are written to. */
  readonly unwritten: Span | undefined;
  /** Characters of the first plane in four bytes, where the set has all of Unicode. */
  readonly quadruples: Uint16Array | undefined;
}

export function tableOf(source: Source): Table {
  const pairs = pairsOf(source);
  return {
    pairs,
    trailMin: source.syllables === true ? syllablesTrailMin : source.trailMin,
    prefixes: source.triples === undefined ? [] : [{ bytes: [thirdPrefix], high: 0 }],
    backslash: source.backslash,
    katakana: source.katakana === true,
    unwritten: source.unwritten,
    quadruples: source.quadruples === true ? quadruplesOf(pairs) : undefined,
  };
}

const trailMax = 0xfe;
const noCharacter = 0xfffd;
const thirdPrefix = 0x8f;

export function pairsOf(source: Source): Pairs {
  const pairs = new Uint16Array(0x1_0000);
  const decoder = new TextDecoder(source.label, { ignoreBOM: true });
  const read = (bytes: readonly number[]) =>
    unitOf(decoder.decode(Uint8Array.from(bytes)), source.own === "decoder");
  for (const [from, to] of source.leads)
    for (let lead = from; lead <= to; lead += 1)
      for (let trail = source.trailMin; trail <= trailMax; trail += 1)
        pairs[(lead << 8) | trail] = read([lead, trail]);
  correct(pairs, source);
  if (source.own === "rows") putRows(pairs, 0xe000, 0x80);
  if (source.syllables === true) putSyllables(pairs);
  if (source.triples !== undefined) {
    for (let second = 0xa1; second <= trailMax; second += 1)
      for (let third = 0xa1; third <= trailMax; third += 1)
        pairs[(second << 8) | (third & 0x7f)] = read([thirdPrefix, second, third]);
    correct(pairs, source.triples);
    if (source.own === "rows") putRows(pairs, 0xe3ac, 0);
  }
  return pairs;
}

/** Zero where it is none, or one that users make up. */
function unitOf(text: string, own: boolean): number {
  const unit = text.charCodeAt(0);
  if (text.length !== 1 || unit === noCharacter) return 0;
  return !own && isPrivate(unit) ? 0 : unit;
}

function isPrivate(unit: number): boolean {
  return unit >= 0xe000 && unit <= 0xf8ff;
}

function correct(pairs: Pairs, { without = [], otherwise = [] }: Partial<Source>): void {
  for (const [from, to] of without) pairs.fill(0, from, to + 1);
  for (const [code, characters] of otherwise)
    for (let at = 0; at < characters.length; at += 1) {
      const unit = characters.charCodeAt(at);
      pairs[code + at] = unit === noCharacter ? 0 : unit;
    }
}

/** Characters that users make up have ten rows of EUC, in the order of Unicode. */
function putRows(pairs: Pairs, first: number, high: 0x80 | 0): void {
  let unit = first;
  for (let row = 0xf5; row <= trailMax; row += 1)
    for (let cell = 0x21; cell <= 0x7e; cell += 1) {
      pairs[(row << 8) | cell | high] = unit;
      unit += 1;
    }
}

const syllables: Span = [0xac00, 0xd7a3];
const syllablesTrailMin = 0x41;

/** Those that the standard's own places lack, in the order of Unicode. */
function putSyllables(pairs: Pairs): void {
  const known = new Set(pairs);
  let [unit] = syllables;
  for (let lead = 0x81; lead <= 0xc6; lead += 1)
    for (let trail = syllablesTrailMin; trail <= (lead > 0xa0 ? 0xa0 : trailMax); trail += 1) {
      // Only behind letters.
      if (trail === 0x5b || trail === 0x7b) trail += 6;
      while (known.has(unit)) unit += 1;
      if (unit > syllables[1]) return;
      pairs[(lead << 8) | trail] = unit;
      unit += 1;
    }
}

/** The standard gave ḿ, which had four bytes, two of them, and its place to one of those that users make up. */
export const exchanged = { before: 0x1e3f, now: 0xe7c7 } as const;

/** Characters of the first plane that a set says in four bytes, in their order there. */
function quadruplesOf(pairs: Pairs): Uint16Array<ArrayBuffer> {
  const known = new Set(pairs);
  const units: number[] = [];
  for (let unit = 0x80; unit < 0x1_0000; unit += 1) {
    const half = unit >= 0xd800 && unit <= 0xdfff;
    if (unit === exchanged.before) units.push(exchanged.now);
    else if (!half && !known.has(unit) && unit !== exchanged.now) units.push(unit);
  }
  return Uint16Array.from(units);
}
