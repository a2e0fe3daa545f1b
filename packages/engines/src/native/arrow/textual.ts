/**
 * The text of types that have no neutral type: decimals beyond 38 digits, times of day with an
 * offset, bit strings and integers of any size. Each text is the engine's own, so that it can be
 * read back.
 */
import type { Textual } from "./layout.ts";

/** The text of one cell from its bytes as the driver gave them. */
export function textOf(rule: Textual, cell: Uint8Array): string {
  switch (rule) {
    case "timeTz":
      return timeTzText(cell);
    case "bit":
      return bitText(cell);
    case "bignum":
      return bignumText(cell);
    default:
      return decimalText(signedValue(cell), rule.scale);
  }
}

/** DuckDB's `TIME WITH TIME ZONE`: microseconds in the upper 40 bits, below them the offset counted down from 15:59:59. */
function timeTzText(cell: Uint8Array): string {
  const word = new DataView(cell.buffer, cell.byteOffset).getBigUint64(0, true);
  const microseconds = Number(word >> 24n);
  const offset = offsetSecondsMax - Number(word & 0xff_ffffn);
  return `${clockText(microseconds)}${offsetText(offset)}`;
}

const offsetSecondsMax = 16 * 3600 - 1;

function clockText(microseconds: number): string {
  const seconds = Math.floor(microseconds / 1e6);
  const fraction = microseconds % 1e6;
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = clock.map(two).join(":");
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(6, "0").replace(/0+$/, "")}`;
}

function offsetText(seconds: number): string {
  const size = Math.abs(seconds);
  const parts = [two(Math.floor(size / 3600))];
  if (size % 3600 !== 0) parts.push(two(Math.floor(size / 60) % 60));
  if (size % 60 !== 0) parts.push(two(size % 60));
  return `${seconds < 0 ? "-" : "+"}${parts.join(":")}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** DuckDB's `BIT`: the first byte counts the padding at the front of the second. */
function bitText(cell: Uint8Array): string {
  let text = "";
  for (const byte of cell.subarray(1)) text += byte.toString(2).padStart(8, "0");
  return text.slice(cell[0] ?? 0);
}

/** DuckDB's `BIGNUM`: three bytes of header, then the digits, most significant byte first; all inverted when negative. */
function bignumText(cell: Uint8Array): string {
  const negative = ((cell[0] ?? 0) & 0x80) === 0;
  let value = 0n;
  for (const byte of cell.subarray(3))
    value = (value << 8n) | BigInt(negative ? byte ^ 0xff : byte);
  return `${negative && value !== 0n ? "-" : ""}${value}`;
}

function signedValue(cell: Uint8Array): bigint {
  let value = 0n;
  for (let index = cell.length - 1; index >= 0; index -= 1) {
    value = (value << 8n) | BigInt(cell[index] ?? 0);
  }
  return BigInt.asIntN(cell.length * 8, value);
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return `${unscaled * 10n ** BigInt(-scale)}`;
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const sign = unscaled < 0n ? "-" : "";
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
