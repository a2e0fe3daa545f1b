/**
 * Numbers as Java, or any other writer of JSON, writes them to the one text that they have here: whole
 * numbers as their digits, floats as JavaScript prints them, with the same digits and another exponent.
 */

/** Decimal exponents from here up to but not including the next are written without an exponent (ECMA-262 Number::toString). */
const plainFrom = -6;
const plainBelow = 21;
/** Java needs 24 bytes, a decimal 40; the rest is room for what other writers do. */
export const numberSizeMax = 400;
/** Of a float without an exponent in Java, but for `-0.0012345678901234567`; and of a whole one here. */
const plainSizeMax = 22;
const numberText = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;
/** Digits of the longest whole number, one of 128 bits. */
const wholeDigitsMax = 39;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

const none = new Uint8Array(0);

/** Cells that became longer than their place; they stand behind the page. */
export class LongCells {
  readonly #base: number;
  #bytes = none;
  #used = 0;

  /** `base`: bytes of the page. */
  constructor(base: number) {
    this.#base = base;
  }

  /** Keeps a text and answers where it begins, counted from the page's first byte. */
  put(text: string): number {
    const added = encoder.encode(text);
    const at = this.#used;
    if (at + added.length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(1_024, (at + added.length) * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(added, at);
    this.#used = at + added.length;
    return this.#base + at;
  }

  /** The page with these cells behind it. */
  behind(page: Uint8Array): Uint8Array {
    if (this.#used === 0) return page;
    const all = new Uint8Array(this.#base + this.#used);
    all.set(page);
    all.set(this.#bytes.subarray(0, this.#used), this.#base);
    return all;
  }
}

interface FloatCells {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  readonly long: LongCells;
}

/** Makes a cell canonical; false when it is no float. */
export function canonicalFloat(page: FloatCells, cell: number): boolean {
  const { bytes, starts, lengths } = page;
  const start = starts[cell] ?? 0;
  const length = lengths[cell] ?? 0;
  if (length === 0 || length > numberSizeMax) return false;
  const end = start + length;
  let point = -1;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x30 && byte <= 0x39) continue;
    if (byte === 0x2e && point < 0) point = at;
    else if (byte !== 0x2d || at > start) return rewritten(page, cell, floatText);
  }
  if (length >= plainSizeMax) return rewritten(page, cell, floatText);
  if (point >= 0) {
    const last = bytes[end - 1];
    // `1.0` is `1`.
    if (last === 0x30 && point === end - 2) lengths[cell] = length - 2;
    else if (last === 0x30 || startsWithZeros(bytes, point))
      return rewritten(page, cell, floatText);
  }
  return point !== start && point !== end - 1;
}

/** `0.0001`, which Java writes with an exponent. The bytes may be another cell's: then nothing changes. */
function startsWithZeros(bytes: Uint8Array, point: number): boolean {
  return bytes[point + 1] === 0x30 && bytes[point + 2] === 0x30 && bytes[point + 3] === 0x30;
}

/** Writes a cell anew, unless `write` knows no other text for it; false when it is no number. */
export function rewritten(
  page: FloatCells,
  cell: number,
  write: (text: string) => string | undefined,
): boolean {
  const start = page.starts[cell] ?? 0;
  const length = page.lengths[cell] ?? 0;
  if (length > numberSizeMax) return false;
  const text = decoder.decode(page.bytes.subarray(start, start + length));
  const written = write(text);
  if (written === undefined) return false;
  if (written === text) return true;
  page.starts[cell] = page.long.put(written);
  page.lengths[cell] = written.length;
  return true;
}

/** With an exponent, or a word. */
function floatText(text: string): string | undefined {
  if (text === "NaN" || text === "Infinity" || text === "-Infinity") return text;
  return withoutExponent(text);
}

/** `1e2`, `100.0` and `-0` as whole numbers, digit by digit; undefined for what is none, or longer than any type. */
export function wholeNumber(text: string): string | undefined {
  const match = numberText.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return "0";
  const zeros = Number(power) - fraction.length + all.length - digits.length;
  if (zeros < 0 || digits.length + zeros > wholeDigitsMax) return undefined;
  return sign + digits + "0".repeat(zeros);
}

/** `1.5E-7` as JavaScript prints it, digit by digit, so that no digit of a float32 is made up. */
export function withoutExponent(text: string): string | undefined {
  const match = numberText.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return `${sign}0`;
  const leading = (whole + fraction).length - all.length;
  const exponent = Number(power) + whole.length - leading - 1;
  return sign + layOut(digits, exponent);
}

function layOut(digits: string, exponent: number): string {
  if (exponent < plainFrom || exponent >= plainBelow) {
    const tail = digits.length === 1 ? "" : `.${digits.slice(1)}`;
    return `${digits.charAt(0)}${tail}e${exponent < 0 ? "-" : "+"}${Math.abs(exponent)}`;
  }
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, "0");
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
