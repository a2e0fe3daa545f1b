/**
 * Days since 1970-01-01 to the proleptic Gregorian calendar and back, exact for every day that a
 * 64-bit count of seconds can name. Years are astronomical: year 0 is 1 BC.
 */

/** Days from 0000-03-01 to 1970-01-01: the arithmetic starts its years in March, behind the leap day. */
const daysToEpoch = 719_468;
const daysPerEra = 146_097;

/** Days whose result is remembered: 1900 to 2079, where nearly all data lies. */
const knownFirst = -25_567;
const known = new Int32Array(0x10000);

/**
 * Year, month and day in one number, so that a cell costs no object: take it apart with `yearOf`,
 * `monthOf` and `dayOf`.
 */
export function civilOf(days: number): number {
  const index = days - knownFirst;
  // Outside the table, and for a fraction, this reads undefined; an entry not yet computed is 0.
  const remembered = known[index];
  if (remembered !== undefined && remembered !== 0) return remembered;
  const civil = computeCivil(days);
  if (remembered === 0) known[index] = civil;
  return civil;
}

function computeCivil(days: number): number {
  const shifted = days + daysToEpoch;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = (shifted - era * daysPerEra) | 0;
  const leapDays = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const march = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - (((153 * march + 2) / 5) | 0) + 1;
  const month = march < 10 ? march + 3 : march - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return year * 512 + month * 32 + day;
}

/** The year in a result of `civilOf`; may be 0 or negative. */
export function yearOf(civil: number): number {
  return Math.floor(civil / 512);
}

/** The month (1 to 12) in a result of `civilOf`. */
export function monthOf(civil: number): number {
  return Math.floor(civil / 32) & 15;
}

/** The day of the month in a result of `civilOf`. */
export function dayOf(civil: number): number {
  return civil & 31;
}

/** Days since 1970-01-01 of a date of the calendar. The date must exist. */
export function daysOf(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const march = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * march + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * daysPerEra + dayOfEra - daysToEpoch;
}

/** Days of a month of that year; 0 when there is no such month. */
export function daysInMonth(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
