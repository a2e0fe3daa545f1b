/** Floats as Java writes them to floats as JavaScript prints them: the same digits, another exponent. */

/** Decimal exponents from here up to but not including the next are written without an exponent (ECMA-262 Number::toString). */
const plainFrom = -6;
const plainBelow = 21;
/** A sign, 17 digits, a point, an exponent of three digits, and room for what other writers do. */
const sizeMax = 64;

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
  if (length === 0 || length > sizeMax) return false;
  const end = start + length;
  let point = -1;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x30 && byte <= 0x39) continue;
    if (byte === 0x2e && point < 0) point = at;
    else if (byte !== 0x2d || at > start) return rewritten(page, cell);
  }
  // `1.0` is `1`.
  if (point === end - 2 && bytes[end - 1] === 0x30) lengths[cell] = length - 2;
  return point !== start && point !== end - 1;
}

/** With an exponent, or a word. */
function rewritten(page: FloatCells, cell: number): boolean {
  const start = page.starts[cell] ?? 0;
  const text = decoder.decode(page.bytes.subarray(start, start + (page.lengths[cell] ?? 0)));
  if (text === "NaN" || text === "Infinity" || text === "-Infinity") return true;
  const written = withoutExponent(text);
  if (written === undefined) return false;
  page.starts[cell] = page.long.put(written);
  page.lengths[cell] = written.length;
  return true;
}

/** `1.5E-7` as JavaScript prints it, digit by digit, so that no digit of a float32 is made up. */
export function withoutExponent(text: string): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,4})$/.exec(text);
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
