/**
 * Text of floats: the fewest digits that read back as the same float of its own width, so that the
 * float32 nearest to 0.1 is `0.1` and not the digits of its double.
 */
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import type { Vector } from "../vector.ts";
import { minus, point, putAscii, putNumber, putPadded, zero } from "./digits.ts";
import { cellsOf } from "./integer.ts";

/** How one width of float is laid out. */
interface Layout {
  readonly bits: 32 | 64;
  /** Decimal exponents from `from` up to but not including `below` are written without an exponent. */
  readonly from: number;
  readonly below: number;
  /** Sign and least digits of a written exponent: `e+05`, `e5`. */
  readonly plus: boolean;
  readonly pad: number;
}

/** Sources: PostgreSQL's `double_to_shortest_decimal`, MySQL's `my_gcvt`, ECMA-262 Number::toString. */
const layouts = {
  postgres: {
    32: { bits: 32, from: -4, below: 6, plus: true, pad: 2 },
    64: { bits: 64, from: -4, below: 15, plus: true, pad: 2 },
  },
  mysql: {
    32: { bits: 32, from: -15, below: 15, plus: false, pad: 1 },
    64: { bits: 64, from: -15, below: 15, plus: false, pad: 1 },
  },
  ecmascript: {
    32: { bits: 32, from: -6, below: 21, plus: true, pad: 1 },
    64: { bits: 64, from: -6, below: 21, plus: true, pad: 1 },
  },
} as const satisfies Record<TextStyle["exponents"], Record<32 | 64, Layout>>;

/** The longest is a sign, `0.`, fifteen zeros less one and seventeen digits. */
const bound = 36;
/** Decimals of so many digits are found by arithmetic alone: no two of them share a float. */
const exact64Max = 1e15;
const exact32Max = 1e6;
const smallestNormal32 = 2 ** -126;

/** Writer of a float vector. */
export function floatWriter(vector: Vector, bits: 32 | 64, style: TextStyle): CellWriter {
  const cells = cellsOf(vector, bits / 8);
  const layout: Layout = layouts[style.exponents][bits];
  return {
    bound: () => bound,
    write: (out, at, row) => {
      const value = bits === 32 ? cells.getFloat32(row * 4, true) : cells.getFloat64(row * 8, true);
      if (!Number.isFinite(value)) {
        return putAscii(out, at, style.json ? `"${value}"` : String(value));
      }
      const negative = value < 0 || Object.is(value, -0);
      if (!negative) return putMagnitude(out, at, value, layout);
      out[at] = minus;
      return putMagnitude(out, at + 1, -value, layout);
    },
  };
}

function putMagnitude(out: Uint8Array, at: number, value: number, layout: Layout): number {
  const scaled = Math.round(value * 1e4);
  if (isShortest(scaled, value, layout.bits)) return putScaled(out, at, scaled, 4);
  if (layout.bits === 32) return putLaidOut(out, at, shortest32(value), layout);
  if (value < 1e-4 || value >= 1e15) return putLaidOut(out, at, value.toExponential(), layout);
  // Every layout writes these without an exponent, as the runtime does.
  const finer = Math.round(value * 1e9);
  const found = finer < exact64Max && finer / 1e9 === value;
  return found ? putScaled(out, at, finer, 9) : putAscii(out, at, String(value));
}

/**
 * True when `scaled / 10^4` is the shortest text of the float: few enough digits that no two of them
 * share a float (15 for a double, 6 for a float32), and it reads back. Every layout writes such a
 * number without an exponent.
 */
function isShortest(scaled: number, value: number, bits: 32 | 64): boolean {
  if (bits === 64) return scaled < exact64Max && scaled / 1e4 === value;
  return scaled < exact32Max && Math.fround(scaled / 1e4) === value;
}

/** `scaled / 10^places` as a decimal without trailing zeros. */
function putScaled(out: Uint8Array, at: number, scaled: number, places: 4 | 9): number {
  const power = places === 4 ? 1e4 : 1e9;
  const whole = Math.floor(scaled / power);
  let end = putNumber(out, at, whole);
  const rest = scaled - whole * power;
  if (rest === 0) return end;
  out[end] = point;
  end = putPadded(out, end + 1, rest, places);
  while (out[end - 1] === zero) end -= 1;
  return end;
}

/** Fewest digits that a float32 needs, as `d.ddde±x`. */
function shortest32(value: number): string {
  // Six digits always survive the way through a normal float32, and nine always come back.
  const first = value < smallestNormal32 ? 1 : 6;
  for (let digits = first; digits < 9; digits += 1) {
    const text = value.toExponential(digits - 1);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential(8);
}

/** Writes `d.ddde±x` by the rules of the layout. */
function putLaidOut(out: Uint8Array, at: number, text: string, layout: Layout): number {
  const mark = text.indexOf("e");
  const exponent = Number(text.slice(mark + 1));
  const digits = (text.slice(0, 1) + text.slice(2, mark)).replace(/0+$/, "") || "0";
  if (exponent < layout.from || exponent >= layout.below) {
    return putAscii(out, at, digits.slice(0, 1) + tailOf(digits) + exponentText(exponent, layout));
  }
  if (exponent < 0) return putAscii(out, at, `0.${"0".repeat(-exponent - 1)}${digits}`);
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const behind = digits.slice(exponent + 1);
  return putAscii(out, at, behind === "" ? whole : `${whole}.${behind}`);
}

function tailOf(digits: string): string {
  return digits.length > 1 ? `.${digits.slice(1)}` : "";
}

function exponentText(exponent: number, layout: Layout): string {
  const digits = String(Math.abs(exponent)).padStart(layout.pad, "0");
  if (exponent < 0) return `e-${digits}`;
  return layout.plus ? `e+${digits}` : `e${digits}`;
}
