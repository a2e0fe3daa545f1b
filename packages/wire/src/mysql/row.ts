/**
 * Cells of rows, text and binary, written straight into a buffer.
 *
 * The caller has made room: each function says the most bytes it puts. A text row is one
 * length-encoded string or `nullCell` per column; a binary row is a zero byte, a NULL bitmap of
 * `binaryNullBytes`, and the values that are not NULL.
 */
import { lenencBytes, putLenenc } from "./packetWriter.ts";

/** Stands for NULL in a text row. */
export const nullCell = 0xfb;

/** Bytes of the NULL bitmap of a binary row. */
export function binaryNullBytes(columns: number): number {
  return (columns + 9) >> 3;
}

/** Marks a column as NULL in the bitmap at `at`; the first two bits are reserved. */
export function markNull(out: Uint8Array, at: number, column: number): void {
  const bit = column + 2;
  const index = at + (bit >> 3);
  out[index] = (out[index] ?? 0) | (1 << (bit & 7));
}

/**
 * Puts the length in front of a cell that was already written at `at + lenencBytes(guess)` and ends
 * before `end`; moves the cell when its length needs another prefix. Returns the end.
 */
export function prefixCell(out: Uint8Array, at: number, guess: number, end: number): number {
  const prefix = lenencBytes(guess);
  const length = end - at - prefix;
  const right = lenencBytes(length);
  if (right !== prefix) out.copyWithin(at + right, at + prefix, end);
  putLenenc(out, at, length);
  return at + right + length;
}

/** Years the binary format can carry; clients read them as four digits. */
const yearMax = 9999;

const microsPerSecond = 1_000_000;
const secondsPerDay = 86_400;

/**
 * Puts a DATE, or a DATETIME when `micros` (of the day) is given, for a day counted from 1970-01-01:
 * at most 12 bytes. Returns the offset behind it, or -1 when the year is not between 0 and 9999.
 */
export function putDate(out: Uint8Array, at: number, day: number, micros = 0): number {
  // Days to civil, counted from 0000-03-01 in eras of 400 years (146,097 days).
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  if (!(year >= 0 && year <= yearMax)) return -1;

  out[at + 1] = year;
  out[at + 2] = year >> 8;
  out[at + 3] = month;
  out[at + 4] = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  if (micros === 0) {
    out[at] = 4;
    return at + 5;
  }
  const end = putClock(out, at + 5, micros);
  out[at] = end - at - 1;
  return end;
}

/** Puts a TIME of a count of microseconds: at most 13 bytes. Returns the offset behind it. */
export function putTime(out: Uint8Array, at: number, micros: number): number {
  if (micros === 0) {
    out[at] = 0;
    return at + 1;
  }
  const size = Math.abs(micros);
  const days = Math.floor(size / (secondsPerDay * microsPerSecond));
  out[at + 1] = micros < 0 ? 1 : 0;
  out[at + 2] = days;
  out[at + 3] = days >> 8;
  out[at + 4] = days >> 16;
  out[at + 5] = days >> 24;
  const end = putClock(out, at + 6, size - days * secondsPerDay * microsPerSecond);
  out[at] = end - at - 1;
  return end;
}

/** Hour, minute, second and, unless they are zero, microseconds. */
function putClock(out: Uint8Array, at: number, micros: number): number {
  const seconds = Math.floor(micros / microsPerSecond);
  const fraction = micros - seconds * microsPerSecond;
  out[at] = Math.floor(seconds / 3600);
  out[at + 1] = Math.floor(seconds / 60) % 60;
  out[at + 2] = seconds % 60;
  if (fraction === 0) return at + 3;
  out[at + 3] = fraction;
  out[at + 4] = fraction >> 8;
  out[at + 5] = fraction >> 16;
  out[at + 6] = 0;
  return at + 7;
}
