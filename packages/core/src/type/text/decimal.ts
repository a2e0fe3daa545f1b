/** Text of decimals: every digit of the scale, trailing zeros included. */
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import type { DataType } from "../type.ts";
import type { Vector } from "../vector.ts";
import { minus, point, putLongPadded, putNumber } from "./digits.ts";
import { cellsOf, putCell128, quotedWriter } from "./integer.ts";

type Decimal = Extract<DataType, { kind: "decimal" }>;

/** Largest scale whose power of ten keeps the short way exact. */
const shortScaleMax = 15;

/** Writer of a decimal vector. */
export function decimalWriter(vector: Vector, type: Decimal, style: TextStyle): CellWriter {
  const { scale } = type;
  const cells = cellsOf(vector, 16);
  const digits = new Uint8Array(40);

  const put = (out: Uint8Array, at: number, row: number): number => {
    const low = cells.getInt32(row * 16 + 4, true);
    const sign = low >> 31;
    // Most decimals lie within ±2^52: then the upper words only repeat the sign.
    const short =
      scale <= shortScaleMax &&
      low >= -0x100000 &&
      low < 0x100000 &&
      cells.getInt32(row * 16 + 8, true) === sign &&
      cells.getInt32(row * 16 + 12, true) === sign;
    if (short) {
      return putShort(out, at, low * 2 ** 32 + cells.getUint32(row * 16, true), scale);
    }
    const length = putCell128(digits, 0, cells, { at: row * 16, signed: true });
    return putPointed(out, at, digits.subarray(0, length), scale);
  };
  // 39 digits of any 16 bytes (38 of a valid decimal), sign, point, and a zero before it.
  return style.json && style.wideNumbers === "string"
    ? quotedWriter(44, put)
    : { bound: () => 42, write: put };
}

function putShort(out: Uint8Array, at: number, unscaled: number, scale: number): number {
  let start = at;
  if (unscaled < 0) {
    out[start] = minus;
    start += 1;
  }
  const magnitude = Math.abs(unscaled);
  if (scale === 0) return putNumber(out, start, magnitude);
  const power = 10 ** scale;
  // The quotient may be rounded up to the next whole number; the remainder then shows it.
  let whole = Math.floor(magnitude / power);
  let rest = magnitude - whole * power;
  if (rest < 0) {
    whole -= 1;
    rest += power;
  }
  const end = putNumber(out, start, whole);
  out[end] = point;
  return putLongPadded(out, end + 1, rest, scale);
}

/** Puts the point into a text of digits with an optional sign. */
function putPointed(out: Uint8Array, at: number, digits: Uint8Array, scale: number): number {
  const signs = digits[0] === minus ? 1 : 0;
  let end = at;
  if (signs === 1) {
    out[end] = minus;
    end += 1;
  }
  const whole = digits.length - signs - scale;
  if (whole <= 0) {
    out.fill(0x30, end, end + 2 - whole);
    out[end + 1] = point;
    out.set(digits.subarray(signs), end + 2 - whole);
    return end + 2 + scale;
  }
  out.set(digits.subarray(signs, signs + whole), end);
  end += whole;
  if (scale === 0) return end;
  out[end] = point;
  out.set(digits.subarray(signs + whole), end + 1);
  return end + 1 + scale;
}
