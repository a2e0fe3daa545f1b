/**
 * Text of dates, times and timestamps. A timestamp with a zone is shown in the zone of the style;
 * one without is a wall-clock reading and is never moved.
 */
import { civilOf } from "../calendar.ts";
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import { fractionDigits } from "../name.ts";
import type { TimeUnit } from "../type.ts";
import type { Vector } from "../vector.ts";
import { utc } from "../zone.ts";
import { minus, point, putAscii, putNumber, putPadded, putTwo, quote, zero } from "./digits.ts";
import { cellsOf } from "./integer.ts";

const daySeconds = 86_400;
/** Results of `civilOf` for the years 1 to 9999, which every style writes alike. */
const civilMin = 512;
const civilEnd = 10_000 * 512;
const dash = 0x2d;
const plus = 0x2b;
const colon = 0x3a;

/** Quotes, sign, a year of 12 digits, month and day, ` BC`. */
const dateBound = 25;
/** Separator, hours, minutes, seconds, and nine digits behind the point. */
const timeBound = 19;
/** Hours of a count that is no time of day may have as many digits as an int64. */
const loneTimeBound = 38;

/** Writer of a date vector. */
export function dateWriter(vector: Vector, style: TextStyle): CellWriter {
  const cells = cellsOf(vector, 4);
  return {
    bound: () => dateBound,
    write: (out, at, row) => {
      const civil = civilOf(cells.getInt32(row * 4, true));
      const start = putQuote(out, at, style.json);
      const end = putEra(out, putDate(out, start, civil, style), civil, style);
      return putQuote(out, end, style.json);
    },
  };
}

/** Writer of a time vector. */
export function timeWriter(vector: Vector, unit: TimeUnit, style: TextStyle): CellWriter {
  const cells = cellsOf(vector, 8);
  const digits = fractionDigits[unit];
  const perSecond = 10 ** digits;
  return {
    bound: () => loneTimeBound,
    write: (out, at, row) => {
      const count = cells.getInt32(row * 8 + 4, true) * 2 ** 32 + cells.getUint32(row * 8, true);
      let start = putQuote(out, at, style.json);
      if (count < 0) {
        out[start] = minus;
        start += 1;
      }
      const seconds = Math.floor(Math.abs(count) / perSecond);
      const end = putClock(out, start, seconds);
      const fraction = Math.abs(count) - seconds * perSecond;
      return putQuote(out, putFraction(out, end, fraction, { digits, style }), style.json);
    },
  };
}

/** Writer of a timestamp vector. */
export function timestampWriter(
  vector: Vector,
  type: { readonly unit: TimeUnit; readonly zoned: boolean },
  style: TextStyle,
): CellWriter {
  const read = timestampReader(cellsOf(vector, 8), type.unit);
  const digits = fractionDigits[type.unit];
  const fractionForm = { digits, style };
  const separator = style.separator === " " ? 0x20 : 0x54;
  const { zone } = style;
  const moved = type.zoned && zone !== utc;
  const suffix = type.zoned ? suffixOf(style) : undefined;
  let lastDay = Number.NaN;
  let lastCivil = 0;

  return {
    bound: () => dateBound + timeBound + (suffix?.bound ?? 0),
    write: (out, at, row) => {
      read(row);
      let days = moment[0] ?? 0;
      let seconds = moment[1] ?? 0;
      let offset = 0;
      if (moved) {
        offset = zone.offsetAt(days * daySeconds + seconds);
        seconds += offset;
        const turned = Math.floor(seconds / daySeconds);
        days += turned;
        seconds -= turned * daySeconds;
      }
      if (days !== lastDay) {
        lastCivil = civilOf(days);
        lastDay = days;
      }
      let end = putDate(out, putQuote(out, at, style.json), lastCivil, style);
      out[end] = separator;
      end = putClock(out, end + 1, seconds);
      end = putFraction(out, end, moment[2] ?? 0, fractionForm);
      if (suffix !== undefined) end = suffix.put(out, end, offset);
      return putQuote(out, putEra(out, end, lastCivil, style), style.json);
    },
  };
}

/** The timestamp read last, written by a reader and used before the next read: no object per cell. */
const moment = new Float64Array(3);

/** Reads a count of units into `moment` (days, seconds of the day, fraction), exactly for every int64. */
function timestampReader(cells: DataView, unit: TimeUnit): (row: number) => void {
  const perSecond = 10 ** fractionDigits[unit];
  // A day of nanoseconds is too long a divisor: the seconds are split off first.
  const divisor = unit === "ns" ? perSecond : perSecond * daySeconds;
  const next = unit === "ns" ? daySeconds : perSecond;
  return (row) => {
    const high = cells.getInt32(row * 8 + 4, true);
    const low = cells.getUint32(row * 8, true);
    let quotient: number;
    let rest: number;
    if (high >= -0x200000 && high < 0x200000) {
      const value = high * 2 ** 32 + low;
      quotient = Math.floor(value / divisor);
      rest = value - quotient * divisor;
      // The exact quotient may have been rounded up to a whole number; the remainder shows it.
      if (rest < 0) {
        quotient -= 1;
        rest += divisor;
      }
    } else {
      // Half a word at a time no step exceeds 8.64e10 * 2^16, which a number holds exactly.
      const first = Math.floor(high / divisor);
      const middle = (high - first * divisor) * 0x10000 + (low >>> 16);
      const second = Math.floor(middle / divisor);
      const last = (middle - second * divisor) * 0x10000 + (low & 0xffff);
      const third = Math.floor(last / divisor);
      quotient = (first * 0x10000 + second) * 0x10000 + third;
      rest = last - third * divisor;
    }
    const dividend = unit === "ns" ? quotient : rest;
    const whole = Math.floor(dividend / next);
    moment[0] = unit === "ns" ? whole : quotient;
    moment[1] = unit === "ns" ? dividend - whole * next : whole;
    moment[2] = unit === "ns" ? rest : dividend - whole * next;
  };
}

/** Year, month and day of a result of `civilOf`, without the era. */
function putDate(out: Uint8Array, at: number, civil: number, style: TextStyle): number {
  if (civil >= civilMin && civil < civilEnd) {
    const year = civil >> 9;
    const century = (year / 100) | 0;
    putTwo(out, at, century);
    putTwo(out, at + 2, year - century * 100);
    out[at + 4] = dash;
    putTwo(out, at + 5, (civil >> 5) & 15);
    out[at + 7] = dash;
    return putTwo(out, at + 8, civil & 31);
  }
  const end = putYear(out, at, Math.floor(civil / 512), style);
  out[end] = dash;
  putTwo(out, end + 1, Math.floor(civil / 32) & 15);
  out[end + 3] = dash;
  return putTwo(out, end + 4, civil & 31);
}

function putYear(out: Uint8Array, at: number, year: number, style: TextStyle): number {
  if (style.years === "postgres") {
    const shown = year > 0 ? year : 1 - year;
    return shown > 9999 ? putNumber(out, at, shown) : putPadded(out, at, shown, 4);
  }
  if (year === 0) return putPadded(out, at, 0, 4);
  out[at] = year < 0 ? minus : plus;
  const shown = Math.abs(year);
  return shown > 9999 ? putNumber(out, at + 1, shown) : putPadded(out, at + 1, shown, 4);
}

function putEra(out: Uint8Array, at: number, civil: number, style: TextStyle): number {
  if (civil >= 512 || style.years === "iso") return at;
  return putAscii(out, at, " BC");
}

/** `hh:mm:ss` of a count of seconds. */
function putClock(out: Uint8Array, at: number, seconds: number): number {
  const hours = Math.floor(seconds / 3600);
  const rest = (seconds - hours * 3600) | 0;
  const minutes = (rest / 60) | 0;
  const end = hours < 100 ? putTwo(out, at, hours) : putNumber(out, at, hours);
  out[end] = colon;
  putTwo(out, end + 1, minutes);
  out[end + 3] = colon;
  return putTwo(out, end + 4, rest - minutes * 60);
}

function putFraction(
  out: Uint8Array,
  at: number,
  fraction: number,
  form: { readonly digits: number; readonly style: TextStyle },
): number {
  const trimmed = form.style.fraction === "trimmed";
  if (form.digits === 0 || (trimmed && fraction === 0)) return at;
  out[at] = point;
  const fixed = putPadded(out, at + 1, fraction, form.digits);
  if (!trimmed) return fixed;
  let end = fixed;
  while (out[end - 1] === zero) end -= 1;
  return end;
}

interface Suffix {
  readonly bound: number;
  put(out: Uint8Array, at: number, offset: number): number;
}

function suffixOf(style: TextStyle): Suffix | undefined {
  switch (style.zoneSuffix) {
    case "none":
      return undefined;
    case "name": {
      const text = ` ${style.zone.name}`;
      return { bound: text.length, put: (out, at) => putAscii(out, at, text) };
    }
    case "offset":
      return { bound: 9, put: (out, at, offset) => putOffset(out, at, offset, false) };
    case "isoOffset":
      return { bound: 9, put: (out, at, offset) => putOffset(out, at, offset, true) };
  }
}

/** `+01`, `+05:30`, `-00:44:30`; in ISO form `Z`, `+01:00`. */
function putOffset(out: Uint8Array, at: number, offset: number, iso: boolean): number {
  if (iso && offset === 0) return putAscii(out, at, "Z");
  const ahead = Math.abs(offset);
  out[at] = offset < 0 ? minus : plus;
  let end = putTwo(out, at + 1, Math.floor(ahead / 3600));
  if (!iso && ahead % 3600 === 0) return end;
  out[end] = colon;
  end = putTwo(out, end + 1, Math.floor(ahead / 60) % 60);
  if (ahead % 60 === 0) return end;
  out[end] = colon;
  return putTwo(out, end + 1, ahead % 60);
}

/** A quotation mark where the style has one. */
function putQuote(out: Uint8Array, at: number, quoted: boolean): number {
  if (!quoted) return at;
  out[at] = quote;
  return at + 1;
}
