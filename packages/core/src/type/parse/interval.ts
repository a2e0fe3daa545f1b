/** Text of intervals: PostgreSQL's words (`1 year 2 mons -3 days 04:05:06.7 ago`), SQL (`1-2`, `3 04:05:06`) and ISO 8601 (`P1Y2M3DT4H5M6.7S`). */
import type { Interval } from "../type.ts";
import { outOfRange, wrongText, type Parsed } from "./parsed.ts";

/** Months, days and nanoseconds of one unit. */
type Amount = readonly [months: bigint, days: bigint, nanoseconds: bigint];

const secondNs = 1_000_000_000n;
const year: Amount = [12n, 0n, 0n];
const month: Amount = [1n, 0n, 0n];
const week: Amount = [0n, 7n, 0n];
const day: Amount = [0n, 1n, 0n];
const hour: Amount = [0n, 0n, 3600n * secondNs];
const minute: Amount = [0n, 0n, 60n * secondNs];
const second: Amount = [0n, 0n, secondNs];

const words = new Map<string, Amount>([
  ...named(["millennium", "millennia", "millenniums", "mil", "mils"], [12_000n, 0n, 0n]),
  ...named(["century", "centuries", "cent", "c"], [1200n, 0n, 0n]),
  ...named(["decade", "decades", "dec", "decs"], [120n, 0n, 0n]),
  ...named(["year", "years", "yr", "yrs", "y"], year),
  ...named(["month", "months", "mon", "mons"], month),
  ...named(["week", "weeks", "w"], week),
  ...named(["day", "days", "d"], day),
  ...named(["hour", "hours", "hr", "hrs", "h"], hour),
  ...named(["minute", "minutes", "min", "mins", "m"], minute),
  ...named(["second", "seconds", "sec", "secs", "s"], second),
  ...named(["millisecond", "milliseconds", "msec", "msecs", "ms"], [0n, 0n, 1_000_000n]),
  ...named(["microsecond", "microseconds", "usec", "usecs", "us"], [0n, 0n, 1000n]),
  ...named(["nanosecond", "nanoseconds", "nsec", "nsecs", "ns"], [0n, 0n, 1n]),
]);

const isoDate = new Map([
  ["Y", year],
  ["M", month],
  ["W", week],
  ["D", day],
]);
const isoTime = new Map([
  ["H", hour],
  ["M", minute],
  ["S", second],
]);

function named(names: readonly string[], amount: Amount): (readonly [string, Amount])[] {
  return names.map((name) => [name, amount] as const);
}

const numberForm = /^([+-]?)(\d{1,20})(?:\.(\d{0,20}))?$/;
const clockForm = /^([+-]?)(\d{1,12}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,20}))?)?$/;
const yearMonthForm = /^([+-]?)(\d{1,10})-(\d{1,2})$/;

/** An interval; a fraction that is no whole number of nanoseconds is refused. */
export function parseInterval(text: string): Parsed<Interval> {
  const trimmed = text.trim();
  const parts = trimmed.startsWith("P") ? isoParts(trimmed) : wordParts(trimmed);
  if (parts === undefined) return wrongText;
  let months = 0n;
  let days = 0n;
  let nanoseconds = 0n;
  for (const part of parts) {
    months += part[0];
    days += part[1];
    nanoseconds += part[2];
  }
  const fits =
    BigInt.asIntN(32, months) === months &&
    BigInt.asIntN(32, days) === days &&
    BigInt.asIntN(64, nanoseconds) === nanoseconds;
  return fits ? { months: Number(months), days: Number(days), nanoseconds } : outOfRange;
}

/** `count` (with digits behind the point) times a unit; undefined when that is not exact. */
function times(
  sign: string | undefined,
  whole: string,
  fraction: string,
  unit: Amount,
): Amount | undefined {
  const scale = 10n ** BigInt(fraction.length);
  const count = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
  const scaled: Amount = [count * unit[0], count * unit[1], count * unit[2]];
  if (scaled.some((amount) => amount % scale !== 0n)) return undefined;
  return [scaled[0] / scale, scaled[1] / scale, scaled[2] / scale];
}

function isoParts(text: string): Amount[] | undefined {
  const [date = "", time, ...more] = text.slice(1).split("T");
  if (more.length > 0 || time === "" || (date === "" && time === undefined)) return undefined;
  const parts: Amount[] = [];
  const form = /([+-]?)(\d{1,20})(?:[.,](\d{1,20}))?([A-Z])/y;
  for (const [half, units] of [
    [date, isoDate],
    [time ?? "", isoTime],
  ] as const) {
    form.lastIndex = 0;
    let at = 0;
    while (at < half.length) {
      const match = form.exec(half);
      const unit = units.get(match?.[4] ?? "");
      const part = unit && times(match?.[1], match?.[2] ?? "", match?.[3] ?? "", unit);
      if (part === undefined) return undefined;
      parts.push(part);
      at = form.lastIndex;
    }
  }
  return parts;
}

function wordParts(text: string): Amount[] | undefined {
  const plain = text.toLowerCase().replace(/^@\s*/, "");
  const tokens = plain.replaceAll(/(\d)([a-z])/g, "$1 $2").split(/\s+/);
  const ago = tokens.at(-1) === "ago";
  if (ago) tokens.pop();
  const parts: Amount[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const next = tokens[index + 1];
    const part = tokenPart(tokens[index] ?? "", next);
    if (part === undefined) return undefined;
    if (next !== undefined && words.has(next)) index += 1;
    parts.push(ago ? [-part[0], -part[1], -part[2]] : part);
  }
  return parts.length === 0 ? undefined : parts;
}

/** A clock, a year and month, or a number whose unit is the next word; days before a clock, seconds at the end. */
function tokenPart(token: string, next: string | undefined): Amount | undefined {
  const clock = clockForm.exec(token);
  if (clock !== null) return clockPart(clock);
  const [, sign, years, months] = yearMonthForm.exec(token) ?? [];
  if (years !== undefined && months !== undefined) {
    return times(sign, String(BigInt(years) * 12n + BigInt(months)), "", month);
  }
  const [, numberSign, whole, fraction = ""] = numberForm.exec(token) ?? [];
  const unit = unitBehind(next);
  return unit && whole !== undefined ? times(numberSign, whole, fraction, unit) : undefined;
}

function unitBehind(next: string | undefined): Amount | undefined {
  if (next === undefined) return second;
  return clockForm.test(next) ? day : words.get(next);
}

function clockPart(match: RegExpExecArray): Amount | undefined {
  const [, sign, hours = "", minutes = "", seconds = "0", fraction = ""] = match;
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const whole = BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds);
  return times(sign, String(whole), fraction, second);
}
