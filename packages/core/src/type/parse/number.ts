/** Text of integers, decimals and floats. */
import { outOfRange, wrongText, type Parsed } from "./parsed.ts";

/** Digits of the longest number a type holds; longer texts are not converted, which would cost quadratic time. */
const digitsMax = 400;

/** An integer of `bits` bits in decimal digits. */
export function parseInteger(
  text: string,
  bits: 8 | 16 | 32 | 64 | 128,
  signed: boolean,
): Parsed<bigint> {
  const match = /^\s*([+-]?)0*(\d+)\s*$/.exec(text);
  if (match === null) return wrongText;
  const [, sign, digits = ""] = match;
  if (digits.length > 40) return outOfRange;
  const value = sign === "-" ? -BigInt(digits) : BigInt(digits);
  const held = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  return held === value ? value : outOfRange;
}

/** A decimal as its unscaled value. Digits behind the scale must be zeros. */
export function parseDecimal(text: string, precision: number, scale: number): Parsed<bigint> {
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,6}))?\s*$/i.exec(text);
  if (match === null) return wrongText;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  if (whole + fraction === "") return wrongText;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return 0n;
  // Places to move: the digits are a whole number of 10^-fraction.length, and 10^-scale is wanted.
  const shift = scale - fraction.length + Number(exponent);
  const unscaled = shifted(digits, shift);
  if (unscaled === undefined || unscaled.length > precision) return outOfRange;
  return sign === "-" ? -BigInt(unscaled) : BigInt(unscaled);
}

/** The digits times 10^shift; undefined when digits other than zero would be lost, or it is far too long. */
function shifted(digits: string, shift: number): string | undefined {
  if (shift >= 0) {
    return digits.length + shift > digitsMax ? undefined : digits + "0".repeat(shift);
  }
  const kept = digits.slice(0, shift);
  const lost = digits.slice(kept.length);
  return /^0*$/.test(lost) ? kept || "0" : undefined;
}

const specials = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
]);

/** The float nearest to the text. One beyond the largest, or one that would become zero, is out of range. */
export function parseFloatText(text: string, bits: 32 | 64): Parsed<number> {
  const match = /^\s*([+-]?)(nan|inf|infinity|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*$/i.exec(text);
  if (match === null) return wrongText;
  const [, sign, body = ""] = match;
  const special = specials.get(body.toLowerCase());
  const wide = special ?? Number(body);
  const value = bits === 32 ? nearest32(wide, body) : wide;
  if (special === undefined && isLost(value, body)) return outOfRange;
  return sign === "-" ? -value : value;
}

function isLost(value: number, body: string): boolean {
  return (
    value === Number.POSITIVE_INFINITY || (value === 0 && /[1-9]/.test(body.split(/e/i)[0] ?? ""))
  );
}

/**
 * The float32 nearest to the text. The way through a double rounds twice, which differs only when the
 * double lies exactly between two float32: then the text itself decides.
 */
function nearest32(wide: number, body: string): number {
  const near = Math.fround(wide);
  if (near === wide || !Number.isFinite(near)) return near;
  const other = neighbour32(near, wide > near);
  if (Math.abs(wide - near) !== Math.abs(other - wide)) return near;
  const order = compareText(body, wide);
  if (order === 0) return near;
  return order > 0 ? Math.max(near, other) : Math.min(near, other);
}

/** The next float32 above or below a positive one. */
function neighbour32(value: number, above: boolean): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  view.setInt32(0, view.getInt32(0) + (above ? 1 : -1));
  return view.getFloat32(0);
}

/** Longer texts are not compared exactly; a double between two float32 has fewer than 200 digits. */
const comparedMax = 800;

/** Sign of (number of the text - double), exactly. */
function compareText(body: string, wide: number): number {
  const [mantissa = "", exponent = "0"] = body.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  if (body.length > comparedMax) return 0;
  const tens = Number(exponent) - fraction.length;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, wide);
  const bits = view.getBigUint64(0);
  const twos = Number(bits >> 52n) - 1075;
  const significand = (bits & 0xfffffffffffffn) | 0x10000000000000n;
  // Both sides are scaled up to whole numbers: digits * 10^tens and significand * 2^twos.
  const left = BigInt(whole + fraction) * power(10n, tens) * power(2n, -twos);
  const right = significand * power(10n, -tens) * power(2n, twos);
  if (left === right) return 0;
  return left > right ? 1 : -1;
}

function power(base: bigint, exponent: number): bigint {
  return exponent > 0 ? base ** BigInt(exponent) : 1n;
}
