/**
 * PostgreSQL's binary numeric: groups of four decimal digits with a weight, a sign and a scale.
 *
 * Written from 16- or 8-byte integers of a vector, read from a parameter. Exact in both directions.
 */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { putInt16 } from "@gateway/wire/postgres/bytes.ts";

const groupDigits = 4;
const groupBase = 10_000;
/** Groups of a 128-bit integer that was shifted by up to three digits. */
const groupsMax = 12;
const headBytes = 8;
const negativeSign = 0x4000;
/** Three groups at a time: a 128-bit integer takes four divisions, and every part is an exact number. */
const chunk = 10n ** 12n;
const chunkGroups = 3;

/** How the vector holds the integers. */
export interface IntegerLayout {
  readonly bits: 8 | 16 | 32 | 64 | 128;
  readonly signed: boolean;
}

/** Writes unscaled integers as numeric with `scale` digits behind the point. Layouts of 64 and 128 bits. */
export function numericWriter(vector: Vector, scale: number, layout: IntegerLayout): CellWriter {
  const { values, offset } = vector;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const width = layout.bits / 8;
  // Digits behind the point fill whole groups: a scale of 2 shifts by two more.
  const shift = (groupDigits - (scale % groupDigits)) % groupDigits;
  const fractionGroups = (scale + shift) / groupDigits;
  const factor = 10 ** shift;
  const safe = Number.MAX_SAFE_INTEGER / factor;
  const groups = new Uint16Array(groupsMax);
  return {
    bound: () => headBytes + groupsMax * 2,
    write: (out, at, row) => {
      const place = (offset + row) * width;
      const small = smallAt(view, place, layout);
      const exact = Math.abs(small) <= safe;
      const wide = exact ? 0n : wideAt(view, place, layout);
      const negative = exact ? small < 0 : wide < 0n;
      const count = exact
        ? splitNumber(groups, Math.abs(small) * factor)
        : splitBigInt(groups, (negative ? -wide : wide) * BigInt(factor));
      return put(out, at, { groups, count, negative, fractionGroups, scale });
    },
  };
}

/** The integer as a number where that is exact; otherwise a number that is too large. */
function smallAt(view: DataView, place: number, { bits, signed }: IntegerLayout): number {
  const low = view.getUint32(place, true);
  const high = signed ? view.getInt32(place + 4, true) : view.getUint32(place + 4, true);
  if (bits === 64) return high * 2 ** 32 + low;
  const rest = view.getInt32(place + 8, true) | view.getInt32(place + 12, true);
  const ones = view.getInt32(place + 8, true) & view.getInt32(place + 12, true);
  if (rest === 0) return view.getUint32(place + 4, true) * 2 ** 32 + low;
  if (signed && ones === -1 && view.getInt32(place + 4, true) < 0) {
    return view.getInt32(place + 4, true) * 2 ** 32 + low;
  }
  return Number.POSITIVE_INFINITY;
}

function wideAt(view: DataView, place: number, { bits, signed }: IntegerLayout): bigint {
  if (bits === 64) {
    return signed ? view.getBigInt64(place, true) : view.getBigUint64(place, true);
  }
  const high = signed ? view.getBigInt64(place + 8, true) : view.getBigUint64(place + 8, true);
  return (high << 64n) | view.getBigUint64(place, true);
}

/** Least significant group first; answers how many there are. */
function splitNumber(groups: Uint16Array, magnitude: number): number {
  let count = 0;
  for (let rest = magnitude; rest > 0; rest = Math.floor(rest / groupBase)) {
    groups[count] = rest % groupBase;
    count += 1;
  }
  return count;
}

function splitBigInt(groups: Uint16Array, magnitude: bigint): number {
  let count = 0;
  for (let rest = magnitude; rest > 0n; rest /= chunk) {
    let part = Number(rest % chunk);
    for (let index = 0; index < chunkGroups; index += 1) {
      groups[count + index] = part % groupBase;
      part = Math.floor(part / groupBase);
    }
    count += chunkGroups;
  }
  while (count > 0 && groups[count - 1] === 0) count -= 1;
  return count;
}

interface Split {
  readonly groups: Uint16Array;
  readonly count: number;
  readonly negative: boolean;
  readonly fractionGroups: number;
  readonly scale: number;
}

function put(out: Uint8Array, at: number, split: Split): number {
  const { groups, count, fractionGroups } = split;
  let last = 0;
  while (last < count && groups[last] === 0) last += 1;
  let place = putInt16(out, at, count - last);
  place = putInt16(out, place, count === 0 ? 0 : count - 1 - fractionGroups);
  place = putInt16(out, place, split.negative ? negativeSign : 0);
  place = putInt16(out, place, split.scale);
  for (let index = count - 1; index >= last; index -= 1) {
    place = putInt16(out, place, groups[index] ?? 0);
  }
  return place;
}

/** An exact number as a parameter brings it. */
export interface Numeric {
  readonly unscaled: bigint;
  /** Never negative. */
  readonly scale: number;
}

/** Why a numeric parameter can not be taken. */
export type NumericFault = "malformed" | "notANumber" | "tooManyDigits";

/** Digits a decimal of the neutral types holds. */
export const decimalDigitsMax = 38;
const decimalEnd = 10n ** BigInt(decimalDigitsMax);
/** Longer than any decimal with blanks and an exponent: a longer text is refused before it is computed. */
const textMax = 400;

/** Reads the binary form. */
export function numericFromBinary(bytes: Uint8Array): Numeric | NumericFault {
  if (bytes.length < headBytes) return "malformed";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint16(0);
  const weight = view.getInt16(2);
  const sign = view.getUint16(4);
  const scale = view.getUint16(6);
  if (bytes.length !== headBytes + count * 2) return "malformed";
  if (sign !== 0 && sign !== negativeSign) return sign >= 0xc000 ? "notANumber" : "malformed";
  if (count > groupsMax || scale > decimalDigitsMax || weight >= groupsMax) return "tooManyDigits";
  let digits = 0n;
  for (let index = 0; index < count; index += 1) {
    const group = view.getUint16(headBytes + index * 2);
    if (group >= groupBase) return "malformed";
    digits = digits * BigInt(groupBase) + BigInt(group);
  }
  // The digits stand at 10000 ** (weight - count + 1); bring them to 10 ** -scale.
  const exponent = (weight - count + 1) * groupDigits + scale;
  const unscaled = shifted(count === 0 ? 0n : digits, exponent);
  return bounded(sign === negativeSign ? -unscaled : unscaled, scale);
}

const numericPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,4}))?$/i;

/** Reads the text form, exponent included. */
export function numericFromText(text: string): Numeric | NumericFault {
  const trimmed = text.trim();
  if (trimmed.length > textMax) return "tooManyDigits";
  if (/^([+-]?inf(inity)?|nan)$/i.test(trimmed)) return "notANumber";
  const match = numericPattern.exec(trimmed);
  if (match === null) return "malformed";
  const [, sign, whole = "", fraction = "", exponentText = "0"] = match;
  if (whole.length + fraction.length === 0) return "malformed";
  const exponent = Number(exponentText);
  const scale = Math.max(0, fraction.length - exponent);
  if (scale > decimalDigitsMax || exponent > decimalDigitsMax) return "tooManyDigits";
  const digits = BigInt(whole + fraction);
  const unscaled = shifted(digits, scale - fraction.length + exponent);
  return bounded(sign === "-" ? -unscaled : unscaled, scale);
}

/** Multiplies by a power of ten; a negative power drops digits, which are zero in every sound numeric. */
function shifted(digits: bigint, exponent: number): bigint {
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent);
}

function bounded(unscaled: bigint, scale: number): Numeric | NumericFault {
  if (unscaled >= decimalEnd || unscaled <= -decimalEnd) return "tooManyDigits";
  return { unscaled, scale };
}

/** Digits the unscaled value has, at least one and at least as many as the scale. */
export function precisionOf({ unscaled, scale }: Numeric): number {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().length;
  return Math.max(digits, scale, 1);
}
