/** Text of intervals in the forms that clients parse. Months, days and nanoseconds stay apart. */
import type { CellWriter, TextStyle } from "../cellWriter.ts";
import type { Interval } from "../type.ts";
import type { Vector } from "../vector.ts";
import { putAscii } from "./digits.ts";
import { cellsOf, quotedWriter } from "./integer.ts";

/** Every part with its sign, its unit and all its digits, and quotes. */
const bound = 96;
const hourNs = 3_600_000_000_000n;
const minuteNs = 60_000_000_000n;
const secondNs = 1_000_000_000n;

/** Writer of an interval vector. */
export function intervalWriter(vector: Vector, style: TextStyle): CellWriter {
  const cells = cellsOf(vector, 16);
  const put: CellWriter["write"] = (out, at, row) => {
    const interval = {
      months: cells.getInt32(row * 16, true),
      days: cells.getInt32(row * 16 + 4, true),
      nanoseconds: cells.getBigInt64(row * 16 + 8, true),
    };
    return putAscii(out, at, intervalText(interval, style.intervals));
  };
  return style.json ? quotedWriter(bound, put) : { bound: () => bound, write: put };
}

/** One interval as text. */
export function intervalText(interval: Interval, form: TextStyle["intervals"]): string {
  switch (form) {
    case "postgres":
      return postgresInterval(interval);
    case "iso":
      return isoInterval(interval);
    case "trino":
      return trinoInterval(interval);
  }
}

interface Clock {
  readonly negative: boolean;
  readonly hours: bigint;
  readonly minutes: bigint;
  /** Seconds with their fraction, without trailing zeros. */
  readonly seconds: string;
}

function clockOf(nanoseconds: bigint, secondDigits: number): Clock {
  const negative = nanoseconds < 0n;
  const ahead = negative ? -nanoseconds : nanoseconds;
  const seconds = String((ahead % minuteNs) / secondNs).padStart(secondDigits, "0");
  const fraction = String(ahead % secondNs)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return {
    negative,
    hours: ahead / hourNs,
    minutes: (ahead % hourNs) / minuteNs,
    seconds: fraction === "" ? seconds : `${seconds}.${fraction}`,
  };
}

function two(part: bigint): string {
  return String(part).padStart(2, "0");
}

function clockText(clock: Clock): string {
  return `${two(clock.hours)}:${two(clock.minutes)}:${clock.seconds}`;
}

/** A part behind a negative one shows its plus sign, as PostgreSQL does, so that signs do not seem to carry over. */
function postgresInterval(interval: Interval): string {
  const parts: string[] = [];
  let behindNegative = false;
  const add = (count: number, unit: string): void => {
    if (count === 0) return;
    const sign = behindNegative && count > 0 ? "+" : "";
    parts.push(`${sign}${count} ${unit}${count === 1 ? "" : "s"}`);
    behindNegative = count < 0;
  };
  add(Math.trunc(interval.months / 12), "year");
  add(interval.months % 12, "mon");
  add(interval.days, "day");
  if (interval.nanoseconds !== 0n || parts.length === 0) {
    const clock = clockOf(interval.nanoseconds, 2);
    const positive = behindNegative ? "+" : "";
    parts.push(`${clock.negative ? "-" : positive}${clockText(clock)}`);
  }
  return parts.join(" ");
}

function isoPart(count: number, unit: string): string {
  return count === 0 ? "" : `${count}${unit}`;
}

function isoInterval(interval: Interval): string {
  const date =
    isoPart(Math.trunc(interval.months / 12), "Y") +
    isoPart(interval.months % 12, "M") +
    isoPart(interval.days, "D");
  const clock = clockOf(interval.nanoseconds, 1);
  const sign = clock.negative ? "-" : "";
  const time =
    (clock.hours === 0n ? "" : `${sign}${clock.hours}H`) +
    (clock.minutes === 0n ? "" : `${sign}${clock.minutes}M`) +
    (clock.seconds === "0" ? "" : `${sign}${clock.seconds}S`);
  if (time !== "") return `P${date}T${time}`;
  return date === "" ? "PT0S" : `P${date}`;
}

function trinoInterval(interval: Interval): string {
  const { months, days, nanoseconds } = interval;
  if (months === 0 && sameSign(days, nanoseconds)) return dayTime(days, nanoseconds);
  if (days === 0 && nanoseconds === 0n) {
    const ahead = Math.abs(months);
    return `${months < 0 ? "-" : ""}${Math.floor(ahead / 12)}-${ahead % 12}`;
  }
  return isoInterval(interval);
}

function sameSign(days: number, nanoseconds: bigint): boolean {
  return (days >= 0 && nanoseconds >= 0n) || (days <= 0 && nanoseconds <= 0n);
}

function dayTime(days: number, nanoseconds: bigint): string {
  const sign = days < 0 || nanoseconds < 0n ? "-" : "";
  return `${sign}${Math.abs(days)} ${clockText(clockOf(nanoseconds, 2))}`;
}
