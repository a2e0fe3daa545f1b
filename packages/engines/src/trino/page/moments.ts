/** Digits of dates and times in the bytes of a page. */
import { civilOf, dayOf, daysOf, monthOf, yearOf } from "@gateway/core/type/calendar.ts";

/** `2024-02-29`. */
export const dateSize = 10;
/** `12:34:56`. */
const clockSize = 8;
const hyphen = 0x2d;
const colon = 0x3a;
const point = 0x2e;
const zero = 0x30;
const daySeconds = 86_400;

/** True when a date of four digits stands there. */
export function isDate(bytes: Uint8Array, at: number): boolean {
  return (
    areDigits(bytes, at, 4) &&
    bytes[at + 4] === hyphen &&
    areDigits(bytes, at + 5, 2) &&
    bytes[at + 7] === hyphen &&
    areDigits(bytes, at + 8, 2) &&
    yearAt(bytes, at) > 0
  );
}

/** True when `12:34:56` stands there. */
export function isClock(bytes: Uint8Array, at: number): boolean {
  return (
    areDigits(bytes, at, 2) &&
    bytes[at + 2] === colon &&
    areDigits(bytes, at + 3, 2) &&
    bytes[at + 5] === colon &&
    areDigits(bytes, at + 6, 2)
  );
}

/** Digits behind the second of the time that fills the bytes; -1 when it is none. */
export function clockDigits(bytes: Uint8Array, at: number, length: number): number {
  if (length < clockSize || !isClock(bytes, at)) return -1;
  if (length === clockSize) return 0;
  const digits = length - clockSize - 1;
  const fraction = bytes[at + clockSize] === point && digits > 0;
  return fraction && areDigits(bytes, at + clockSize + 1, digits) ? digits : -1;
}

/** True when nanoseconds of the year fit 64 bits. */
export function isNanoYear(bytes: Uint8Array, at: number): boolean {
  const year = yearAt(bytes, at);
  return year > 1677 && year < 2262;
}

function areDigits(bytes: Uint8Array, at: number, count: number): boolean {
  for (let index = at; index < at + count; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte < zero || byte > 0x39) return false;
  }
  return true;
}

function yearAt(bytes: Uint8Array, at: number): number {
  return pairAt(bytes, at) * 100 + pairAt(bytes, at + 2);
}

function pairAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) - zero) * 10 + (bytes[at + 1] ?? 0) - zero;
}

/** Moves the reading at `at` to what `instant` says of its seconds. False when its year is not of four digits then. */
export function moveReading(
  bytes: Uint8Array,
  at: number,
  instant: (localSeconds: number) => number,
): boolean {
  const days = daysOf(yearAt(bytes, at), pairAt(bytes, at + 5), pairAt(bytes, at + 8));
  const clock = at + dateSize + 1;
  const ofDay = pairAt(bytes, clock) * 3600 + pairAt(bytes, clock + 3) * 60;
  const seconds = instant(days * daySeconds + ofDay + pairAt(bytes, clock + 6));
  const day = Math.floor(seconds / daySeconds);
  const civil = civilOf(day);
  const year = yearOf(civil);
  if (year < 1 || year > 9999) return false;
  putPair(bytes, at, Math.floor(year / 100));
  putPair(bytes, at + 2, year % 100);
  putPair(bytes, at + 5, monthOf(civil));
  putPair(bytes, at + 8, dayOf(civil));
  const rest = seconds - day * daySeconds;
  putPair(bytes, clock, Math.floor(rest / 3600));
  putPair(bytes, clock + 3, Math.floor(rest / 60) % 60);
  putPair(bytes, clock + 6, rest % 60);
  return true;
}

function putPair(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = zero + Math.floor(value / 10);
  bytes[at + 1] = zero + (value % 10);
}
