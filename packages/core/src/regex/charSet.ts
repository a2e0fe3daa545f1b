/**
 * Sets of Unicode code points as sorted ranges, with the few operations a pattern needs.
 *
 * Case is folded one code point to one code point ("simple" folding): `ß` never equals `ss`.
 */

/** Sorted, disjoint, non-adjacent ranges, flat: `[low, high, low, high, …]`, both ends included. */
export type CharSet = readonly number[];

/** The largest code point. */
export const codePointMax = 0x10ffff;

/** `\d`: ASCII digits, as in RE2. */
export const digits: CharSet = [0x30, 0x39];

/** `\w`: ASCII letters, digits and the underscore, as in RE2. */
export const wordChars: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/** `\s`: tab, line feed, vertical tab, form feed, carriage return, space. */
export const spaces: CharSet = [0x09, 0x0d, 0x20, 0x20];

/** `.` without `(?s)`: everything but the line feed. */
export const notNewline: CharSet = [0, 0x09, 0x0b, codePointMax];

/** `.` under `(?s)`. */
export const anyChar: CharSet = [0, codePointMax];

/** The classes that may stand as `[:name:]` inside brackets, ASCII as in RE2. */
export const posixClasses: ReadonlyMap<string, CharSet> = new Map<string, CharSet>([
  ["alnum", [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ["alpha", [0x41, 0x5a, 0x61, 0x7a]],
  ["ascii", [0, 0x7f]],
  ["blank", [0x09, 0x09, 0x20, 0x20]],
  ["cntrl", [0, 0x1f, 0x7f, 0x7f]],
  ["digit", digits],
  ["graph", [0x21, 0x7e]],
  ["lower", [0x61, 0x7a]],
  ["print", [0x20, 0x7e]],
  ["punct", [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ["space", spaces],
  ["upper", [0x41, 0x5a]],
  ["word", wordChars],
  ["xdigit", [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
]);

/** The set that holds every code point of the given ranges, which may overlap and be unsorted. */
export function unionOf(ranges: readonly number[]): CharSet {
  const pairs: [number, number][] = [];
  for (let index = 0; index + 1 < ranges.length; index += 2) {
    pairs.push([ranges[index] ?? 0, ranges[index + 1] ?? 0]);
  }
  pairs.sort((a, b) => a[0] - b[0]);

  const merged: number[] = [];
  for (const [low, high] of pairs) {
    const last = merged.at(-1);
    if (last !== undefined && low <= last + 1) {
      merged[merged.length - 1] = Math.max(last, high);
      continue;
    }
    merged.push(low, high);
  }
  return merged;
}

/** Every code point that is not in the set. */
export function negate(set: CharSet): CharSet {
  const rest: number[] = [];
  let next = 0;
  for (let index = 0; index + 1 < set.length; index += 2) {
    const low = set[index] ?? 0;
    if (low > next) rest.push(next, low - 1);
    next = (set[index + 1] ?? 0) + 1;
  }
  if (next <= codePointMax) rest.push(next, codePointMax);
  return rest;
}

/** The set with every code point that differs from a member only by case. */
export function foldCase(set: CharSet): CharSet {
  const added: number[] = [];
  for (let index = 0; index + 1 < set.length; index += 2) {
    addVariants(set[index] ?? 0, set[index + 1] ?? 0, added);
  }
  return added.length === 0 ? set : unionOf([...set, ...added]);
}

function addVariants(low: number, high: number, into: number[]): void {
  const orbits = caseOrbits();
  // A literal is looked up; a range walks the cased letters, which are far fewer than code points.
  if (low === high) {
    for (const variant of orbits.get(low) ?? []) into.push(variant, variant);
    return;
  }
  for (const [codePoint, variants] of orbits) {
    if (codePoint < low || codePoint > high) continue;
    for (const variant of variants) into.push(variant, variant);
  }
}

/** Blocks of Unicode that hold letters with case. Walking only these keeps the first use cheap. */
const casedBlocks: readonly (readonly [number, number])[] = [
  [0x0041, 0x0587],
  [0x10a0, 0x10ff],
  [0x13a0, 0x13ff],
  [0x1c80, 0x1cbf],
  [0x1d00, 0x1fff],
  [0x2100, 0x218f],
  [0x24b0, 0x24ef],
  [0x2c00, 0x2dff],
  [0xa640, 0xa7ff],
  [0xab30, 0xabbf],
  [0xff21, 0xff5a],
  [0x10400, 0x105bf],
  [0x10c80, 0x10cff],
  [0x118a0, 0x118df],
  [0x16e40, 0x16e7f],
  [0x1e900, 0x1e943],
];

/** U+0131, the dotless i: it equals `i` only under Turkish rules, which are nobody's default. */
const dotlessI = 0x131;

let orbitsMade: ReadonlyMap<number, readonly number[]> | undefined;

/** For each cased code point, all code points that equal it without regard to case (itself included). */
function caseOrbits(): ReadonlyMap<number, readonly number[]> {
  if (orbitsMade !== undefined) return orbitsMade;

  const byFolded = new Map<number, number[]>();
  for (const [first, last] of casedBlocks) {
    for (let codePoint = first; codePoint <= last; codePoint += 1) {
      if (codePoint === dotlessI) continue;
      const folded = foldedOf(codePoint);
      const orbit = byFolded.get(folded);
      if (orbit === undefined) byFolded.set(folded, [codePoint]);
      else orbit.push(codePoint);
    }
  }

  const orbits = new Map<number, readonly number[]>();
  for (const orbit of byFolded.values()) {
    if (orbit.length < 2) continue;
    for (const codePoint of orbit) orbits.set(codePoint, orbit);
  }
  orbitsMade = orbits;
  return orbits;
}

/** Lower case of upper case, each step only when it stays one code point. */
function foldedOf(codePoint: number): number {
  const upper = singleOf(String.fromCodePoint(codePoint).toUpperCase()) ?? codePoint;
  return singleOf(String.fromCodePoint(upper).toLowerCase()) ?? upper;
}

function singleOf(text: string): number | undefined {
  const codePoint = text.codePointAt(0);
  if (codePoint === undefined) return undefined;
  return String.fromCodePoint(codePoint).length === text.length ? codePoint : undefined;
}
