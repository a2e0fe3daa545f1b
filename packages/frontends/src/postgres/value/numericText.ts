/** PostgreSQL's binary numeric from the text that PostgreSQL itself wrote: digits of any number, and no exponent. */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { putInt16 } from "@gateway/wire/postgres/bytes.ts";

const groupDigits = 4;
/** Count of groups, weight, sign, scale. */
const headBytes = 8;
const zero = 0x30;
const point = 0x2e;
const minus = 0x2d;
const negativeSign = 0x4000;

/** What is no number, by its first letter behind a sign; as the server sends it. */
const specials = {
  nan: { letter: 0x4e, sign: 0xc000, scale: 0 },
  infinity: { letter: 0x49, sign: 0xd000, scale: 0x20 },
  negativeInfinity: { letter: 0x49, sign: 0xf000, scale: 0x20 },
} as const;

/** Writes texts of a vector as numeric. Throws at a text that is none. */
export function numericTextWriter({ values, offset, offsets }: Vector): CellWriter {
  const start = (row: number): number => offsets?.[offset + row] ?? 0;
  return {
    // Each group of four digits takes two bytes; whole and fraction may each begin one more.
    bound: (row) => headBytes + ((start(row + 1) - start(row)) >> 1) + groupDigits,
    write: (out, at, row) => putNumeric(out, at, values.subarray(start(row), start(row + 1))),
  };
}

function putNumeric(out: Uint8Array, at: number, text: Uint8Array): number {
  const negative = text[0] === minus;
  const first = negative ? 1 : 0;
  if (text[first] === specials.nan.letter) return putSpecial(out, at, specials.nan);
  if (text[first] === specials.infinity.letter) {
    return putSpecial(out, at, negative ? specials.negativeInfinity : specials.infinity);
  }
  const found = text.indexOf(point);
  const end = found < 0 ? text.length : found;
  const scale = found < 0 ? 0 : text.length - found - 1;
  const wholeGroups = Math.ceil((end - first) / groupDigits);
  const groups = wholeGroups + Math.ceil(scale / groupDigits);
  let place = at + headBytes;
  let weight = 0;
  /** Behind the last group that is not zero. */
  let filled = place;
  for (let group = 0; group < groups; group += 1) {
    const value =
      group < wholeGroups
        ? groupAt(text, end - (wholeGroups - group) * groupDigits, first, end)
        : groupAt(text, end + 1 + (group - wholeGroups) * groupDigits, end + 1, text.length);
    if (value === 0 && filled === at + headBytes) continue;
    if (filled === at + headBytes) weight = wholeGroups - 1 - group;
    place = putInt16(out, place, value);
    if (value !== 0) filled = place;
  }
  const count = (filled - at - headBytes) / 2;
  const sign = negative && count > 0 ? negativeSign : 0;
  putHead(out, at, { count, weight, sign, scale });
  return filled;
}

/** Four digits from `from` on, of which those outside of `first` to `end` are zero. */
function groupAt(text: Uint8Array, from: number, first: number, end: number): number {
  let value = 0;
  for (let index = from; index < from + groupDigits; index += 1) {
    const digit = index < first || index >= end ? 0 : (text[index] ?? 0) - zero;
    if (digit < 0 || digit > 9) throw new Error("a text that is no numeric");
    value = value * 10 + digit;
  }
  return value;
}

interface Head {
  readonly count: number;
  readonly weight: number;
  readonly sign: number;
  readonly scale: number;
}

function putHead(out: Uint8Array, at: number, { count, weight, sign, scale }: Head): number {
  return putInt16(out, putInt16(out, putInt16(out, putInt16(out, at, count), weight), sign), scale);
}

function putSpecial(
  out: Uint8Array,
  at: number,
  { sign, scale }: Pick<Head, "sign" | "scale">,
): number {
  return putHead(out, at, { count: 0, weight: 0, sign, scale });
}
