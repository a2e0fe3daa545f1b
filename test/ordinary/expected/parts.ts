/**
 * What the forms of all protocols are put together from, written from what the engine's library answers
 * and from the protocols' documents. Nothing here calls the gateway's own code, which is what is tested.
 */
import {
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBBlobValue,
  type DuckDBDateValue,
  type DuckDBDecimalValue,
  type DuckDBIntervalValue,
  type DuckDBTimeValue,
} from "@duckdb/node-api";

/** What stands behind the second. */
export type Fraction =
  /** As many digits as the unit has. */
  | "fixed"
  /** Without zeros at its end. */
  | "trimmed"
  /** As many digits as the unit has, or nothing where all are zero. */
  | "whole";

export type Moment =
  | DuckDBTimestampSecondsValue
  | DuckDBTimestampMillisecondsValue
  | DuckDBTimestampValue
  | DuckDBTimestampTZValue
  | DuckDBTimestampNanosecondsValue;

export function isMoment(value: unknown): value is Moment {
  return (
    value instanceof DuckDBTimestampValue ||
    value instanceof DuckDBTimestampTZValue ||
    value instanceof DuckDBTimestampSecondsValue ||
    value instanceof DuckDBTimestampMillisecondsValue ||
    value instanceof DuckDBTimestampNanosecondsValue
  );
}

const dayMs = 86_400_000;

/** `2024-02-29`, in the years 1 to 9999. */
export function dateText({ days }: DuckDBDateValue): string {
  return new Date(days * dayMs).toISOString().slice(0, 10);
}

/** `2024-02-29 01:02:03.004`, in the years 1 to 9999. */
export function momentText(moment: Moment, separator: " " | "T", fraction: Fraction): string {
  const [count, digits] = countOf(moment);
  const perSecond = 10n ** BigInt(digits);
  const rest = ((count % perSecond) + perSecond) % perSecond;
  const clock = new Date(Number((count - rest) / perSecond) * 1000).toISOString().slice(0, 19);
  return clock.replace("T", separator) + fractionText(rest, digits, fraction);
}

function countOf(moment: Moment): readonly [count: bigint, digits: number] {
  if (moment instanceof DuckDBTimestampSecondsValue) return [moment.seconds, 0];
  if (moment instanceof DuckDBTimestampMillisecondsValue) return [moment.millis, 3];
  if (moment instanceof DuckDBTimestampNanosecondsValue) return [moment.nanos, 9];
  return [moment.micros, 6];
}

/** `01:02:03.004` of microseconds since midnight, or of a length of time below 100 hours. */
export function clockText(micros: bigint, fraction: Fraction): string {
  const seconds = micros / 1_000_000n;
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n];
  const clock = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return clock + fractionText(micros % 1_000_000n, 6, fraction);
}

export function timeText({ micros }: DuckDBTimeValue, fraction: Fraction): string {
  return clockText(micros, fraction);
}

function fractionText(rest: bigint, digits: number, fraction: Fraction): string {
  if (digits === 0 || (fraction !== "fixed" && rest === 0n)) return "";
  const all = String(rest).padStart(digits, "0");
  return `.${fraction === "trimmed" ? all.replace(/0+$/, "") : all}`;
}

/** All digits of the scale. */
export function decimalText({ value, scale }: DuckDBDecimalValue): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return value < 0n ? `-${text}` : text;
}

export function hexText({ bytes }: DuckDBBlobValue): string {
  return Buffer.from(bytes).toString("hex");
}

export function base64Text({ bytes }: DuckDBBlobValue): string {
  return Buffer.from(bytes).toString("base64");
}

/** Where a protocol begins to write floats with an exponent, by the decimal exponent of the value. */
export interface FloatRule {
  readonly from: number;
  readonly below: number;
  /** Of `1e+05` and `1e5`. */
  readonly exponent: (exponent: number) => string;
}

/** The fewest digits that read back as the same float of so many bits. */
export function floatText(value: number, bits: 32 | 64, rule: FloatRule): string {
  if (!Number.isFinite(value)) return String(value);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [head = "0", power = "0"] = shortest(Math.abs(value), bits).split("e");
  const exponent = Number(power);
  const digits = head.replace(".", "");
  if (exponent < rule.from || exponent >= rule.below) {
    const behind = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits.slice(0, 1)}${behind}${rule.exponent(exponent)}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const behind = digits.slice(exponent + 1);
  return sign + (behind === "" ? whole : `${whole}.${behind}`);
}

/** `1.25e+2`: JavaScript finds the digits of a double, and for a float they are tried one by one. */
function shortest(value: number, bits: 32 | 64): string {
  if (bits === 64) return value.toExponential();
  for (let digits = 0; digits < 8; digits += 1) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential(8);
}

/**
 * PostgreSQL's `EncodeInterval`, style `postgres`: a part behind a negative one shows its sign, and
 * everything but 1 is plural.
 */
export function intervalText({ months, days, micros }: DuckDBIntervalValue): string {
  let text = "";
  let before = false;
  const units = [
    [Math.trunc(months / 12), "year"],
    [months % 12, "mon"],
    [days, "day"],
  ] as const;
  for (const [count, unit] of units) {
    if (count === 0) continue;
    const sign = before && count > 0 ? "+" : "";
    text += `${text === "" ? "" : " "}${sign}${count} ${unit}${count === 1 ? "" : "s"}`;
    before = count < 0;
  }
  if (text !== "" && micros === 0n) return text;
  const plus = before ? "+" : "";
  const clock = clockText(micros < 0n ? -micros : micros, "trimmed");
  return `${text === "" ? "" : `${text} `}${micros < 0n ? "-" : plus}${clock}`;
}
