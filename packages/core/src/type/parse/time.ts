/** Text of dates, times and timestamps in the forms of PostgreSQL and ISO 8601. */
import { daysInMonth, daysOf } from "../calendar.ts";
import { fractionDigits } from "../name.ts";
import type { TimeUnit } from "../type.ts";
import { offsetOfReading, zoneOf, type Zone } from "../zone.ts";
import { isRefused, outOfRange, wrongText, type Parsed } from "./parsed.ts";

const daySeconds = 86_400;
const dateForm = /^([+-]?)(\d{4,})-(\d{1,2})-(\d{1,2})$/;
const timeForm = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?$/;
/** Date, time, and all that may stand behind it: an offset, a zone's name, an era. */
const timestampForm =
  /^(\S+?)(?:[T\s]+(\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\s*([+-][\d:]+|(?!BC$|AD$)[a-z][\w/+-]*)?)?(?:\s+(BC|AD))?$/i;
/** Digits of a year that an int64 count of seconds can reach. */
const yearDigitsMax = 12;

/** A date as days since 1970-01-01. */
export function parseDate(text: string): Parsed<bigint> {
  const match = /^(.*?)(?:\s+(BC|AD))?$/i.exec(text.trim());
  const days = daysFrom(match?.[1] ?? "", match?.[2]);
  if (isRefused(days)) return days;
  return BigInt.asIntN(32, BigInt(days)) === BigInt(days) ? BigInt(days) : outOfRange;
}

/** A time of day as a count of the unit; 24:00:00 is the end of the day. A zone behind it is ignored. */
export function parseTime(text: string, unit: TimeUnit): Parsed<bigint> {
  const plain = text.trim().replace(/\s*(?:[+-]\d[\d:]*|Z)$/i, "");
  const clock = clockFrom(plain);
  return isRefused(clock) ? clock : countOf(BigInt(clock.seconds), clock.fraction, unit);
}

/** A timestamp as a count of the unit. */
export function parseTimestamp(
  text: string,
  type: { readonly unit: TimeUnit; readonly zoned: boolean },
  zone: Zone,
): Parsed<bigint> {
  const match = timestampForm.exec(text.trim());
  if (match === null) return wrongText;
  const [, date = "", time = "00:00:00", zoneText, era] = match;
  const days = daysFrom(date, era);
  if (isRefused(days)) return days;
  const clock = clockFrom(time);
  if (isRefused(clock)) return clock;
  const named = zoneText === undefined ? zone : zoneOf(zoneText);
  if (named === undefined) return wrongText;
  const offset = type.zoned ? offsetOfReading(named, days * daySeconds + clock.seconds) : 0;
  // Seconds of far years are no longer exact in a number.
  const seconds = BigInt(days) * BigInt(daySeconds) + BigInt(clock.seconds - offset);
  const count = countOf(seconds, clock.fraction, type.unit);
  if (isRefused(count)) return count;
  return BigInt.asIntN(64, count) === count ? count : outOfRange;
}

function daysFrom(text: string, era: string | undefined): Parsed<number> {
  const match = dateForm.exec(text);
  if (match === null) return wrongText;
  const [, sign, yearText = "", monthText, dayText] = match;
  if (yearText.length > yearDigitsMax) return outOfRange;
  const shown = sign === "-" ? -Number(yearText) : Number(yearText);
  const bc = era?.toUpperCase() === "BC";
  // Years of an era begin with 1: 1 BC is the astronomical year 0. A sign and an era contradict.
  if (era !== undefined && (shown < 1 || sign !== "")) return wrongText;
  const year = bc ? 1 - shown : shown;
  const month = Number(monthText);
  const day = Number(dayText);
  if (day < 1 || day > daysInMonth(year, month)) return wrongText;
  return daysOf(year, month, day);
}

interface Clock {
  readonly seconds: number;
  /** Digits behind the point. */
  readonly fraction: string;
}

function clockFrom(text: string): Parsed<Clock> {
  const match = timeForm.exec(text);
  if (match === null) return wrongText;
  const [, hours, minutes, seconds = "0", fraction = ""] = match;
  // A leap second is the first second of the next minute, as in every system without them.
  if (Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 60) return wrongText;
  const all = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const beyond = all > daySeconds || (all === daySeconds && /[1-9]/.test(fraction));
  return beyond ? wrongText : { seconds: all, fraction };
}

/** Seconds and digits as a count of the unit; digits that the unit does not hold must be zeros. */
function countOf(seconds: bigint, fraction: string, unit: TimeUnit): Parsed<bigint> {
  const digits = fractionDigits[unit];
  if (/[1-9]/.test(fraction.slice(digits))) return outOfRange;
  const units = fraction.slice(0, digits).padEnd(digits, "0");
  return seconds * 10n ** BigInt(digits) + BigInt(units === "" ? "0" : units);
}
