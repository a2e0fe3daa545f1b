/**
 * Values of a prepared statement as the client bound them → typed parameters.
 *
 * The engine's description decides where it knows a type: text is parsed into it, and a number that
 * fits it exactly takes it. Nothing is rounded here: a value that does not fit the described type
 * keeps its own, and the engine casts or refuses it. A text that can not be read is the client's error.
 */
import { daysInMonth, daysOf } from "@gateway/core/type/calendar.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { parseText } from "@gateway/core/type/parse.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { instantOf, type Zone } from "@gateway/core/type/zone.ts";
import type { BoundType, BoundValue } from "@gateway/wire/mysql/execute.ts";
import { columnType } from "@gateway/wire/mysql/protocol.ts";

/** How the session reads text and wall-clock times. */
export interface ParameterContext {
  readonly zone: Zone;
  /** Undefined when the bytes are no text of the client's charset. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
}

type Datetime = Extract<BoundValue, { kind: "datetime" }>;
type Time = Extract<BoundValue, { kind: "time" }>;
type Typed = Result<Parameter, GatewayError>;

const microsPerSecond = 1_000_000n;
const microsPerDay = 86_400n * microsPerSecond;
const microsecondTime = { kind: "time", unit: "us" } as const;
const decimalDigitsMax = 38;

/** One parameter. `described` is kind `null` where the engine can not tell. */
export function parameterOf(
  value: BoundValue,
  bound: BoundType,
  described: DataType,
  context: ParameterContext,
): Typed {
  switch (value.kind) {
    case "null":
      return ok({ type: described, value: null });
    case "integer":
      return ok(integerOf(value.value, bound, described));
    case "float":
      return ok(floatOf(value.value, bound, described));
    case "bytes":
      return bytesOf(value.value, bound, described, context);
    case "datetime":
      return datetimeOf(value, bound, described, context.zone);
    case "time":
      return timeOf(value, described);
  }
}

function integerOf(value: bigint, bound: BoundType, described: DataType): Parameter {
  if (described.kind === "boolean") return { type: described, value: value !== 0n };
  if (described.kind === "integer" && fits(value, described)) return { type: described, value };
  return { type: boundInteger(bound), value };
}

function boundInteger({ type, unsigned }: BoundType): DataType {
  const signed = !unsigned;
  switch (type) {
    case columnType.tiny:
      return { kind: "integer", bits: 8, signed };
    case columnType.short:
    case columnType.year:
      return { kind: "integer", bits: 16, signed };
    case columnType.long:
    case columnType.int24:
      return { kind: "integer", bits: 32, signed };
    default:
      return { kind: "integer", bits: 64, signed };
  }
}

function fits(value: bigint, type: Extract<DataType, { kind: "integer" }>): boolean {
  const wrapped = type.signed ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
  return wrapped === value;
}

/** Clients without integers bind every number as a double. */
function floatOf(value: number, bound: BoundType, described: DataType): Parameter {
  if (described.kind === "boolean" && (value === 0 || value === 1)) {
    return { type: described, value: value === 1 };
  }
  if (
    described.kind === "integer" &&
    Number.isSafeInteger(value) &&
    fits(BigInt(value), described)
  ) {
    return { type: described, value: BigInt(value) };
  }
  return { type: { kind: "float", bits: bound.type === columnType.float ? 32 : 64 }, value };
}

function bytesOf(
  bytes: Uint8Array,
  bound: BoundType,
  described: DataType,
  context: ParameterContext,
): Typed {
  if (bound.type === columnType.bit) return bitsOf(bytes, described);
  if (described.kind === "binary") return ok({ type: described, value: new Uint8Array(bytes) });
  const unknown = described.kind === "null";
  const text = unknown && isBlob(bound.type) ? undefined : context.decode(bytes);
  if (text === undefined) {
    // Clients bind bytes as a string type, too. They stay bytes only where the parameter takes bytes or anything.
    return unknown
      ? ok({ type: { kind: "binary" }, value: new Uint8Array(bytes) })
      : err(refused("A text parameter is not valid in the connection's character set."));
  }
  if (bound.type === columnType.newDecimal || bound.type === columnType.decimal) {
    return ok(decimalOf(text));
  }
  return textOf(text, unknown ? { kind: "text" } : described, context.zone);
}

function textOf(text: string, type: DataType, zone: Zone): Typed {
  if (type.kind === "text" || type.kind === "json") return ok({ type, value: text });
  const parsed = parseText(type, text, zone);
  if (parsed.ok) return ok({ type, value: parsed.value });
  // `price > '12.345'` makes sense even where prices have two digits.
  return isNumber(type) ? ok(decimalOf(text)) : parsed;
}

function isNumber({ kind }: DataType): boolean {
  return kind === "integer" || kind === "decimal" || kind === "float";
}

function isBlob(type: number): boolean {
  return (
    type === columnType.tinyBlob ||
    type === columnType.mediumBlob ||
    type === columnType.longBlob ||
    type === columnType.blob
  );
}

/** Takes precision and scale from the text, so that no digit is lost; what is no decimal stays text. */
function decimalOf(text: string): Parameter {
  const match = /^([+-]?)(\d+)(?:\.(\d*))?$/.exec(text);
  const [, sign = "", whole = "", fraction = ""] = match ?? [];
  const digits = whole.replace(/^0+/, "") + fraction;
  if (match === null || digits.length > decimalDigitsMax) {
    return { type: { kind: "text" }, value: text };
  }
  const unscaled = BigInt(digits === "" ? "0" : digits);
  const precision = Math.max(digits.length, 1);
  return {
    type: { kind: "decimal", precision, scale: fraction.length },
    value: sign === "-" ? -unscaled : unscaled,
  };
}

/** BIT values come as big-endian bytes. */
function bitsOf(bytes: Uint8Array, described: DataType): Typed {
  if (bytes.length > 8) return err(refused("A BIT parameter is longer than 64 bits."));
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return ok(integerOf(value, { type: columnType.longlong, unsigned: true }, described));
}

function datetimeOf(value: Datetime, bound: BoundType, described: DataType, zone: Zone): Typed {
  if (!isDate(value) || !isClock(value)) {
    return err(refused("A date parameter is not a date of the calendar."));
  }
  const days = daysOf(value.year, value.month, value.day);
  const micros = microsOf(value);
  const isDateOnly = bound.type === columnType.date || bound.type === columnType.newDate;
  if (micros === 0n && (described.kind === "date" || (described.kind === "null" && isDateOnly))) {
    return ok({ type: { kind: "date" }, value: BigInt(days) });
  }
  if (described.kind === "text") {
    return ok({ type: described, value: isDateOnly ? dateText(value) : datetimeText(value) });
  }
  const local = BigInt(days) * microsPerDay + micros;
  const zoned = described.kind === "timestamp" && described.zoned;
  return ok({
    type: { kind: "timestamp", unit: "us", zoned },
    value: zoned ? toInstant(local, zone) : local,
  });
}

function toInstant(local: bigint, zone: Zone): bigint {
  const fraction = ((local % microsPerSecond) + microsPerSecond) % microsPerSecond;
  const seconds = Number((local - fraction) / microsPerSecond);
  return BigInt(instantOf(zone, seconds)) * microsPerSecond + fraction;
}

function timeOf(value: Time, described: DataType): Typed {
  if (!isClock(value)) return err(refused("A time parameter is not a time."));
  const size = BigInt(value.days) * microsPerDay + microsOf(value);
  const micros = value.negative ? -size : size;
  const isTimeOfDay = micros >= 0n && micros < microsPerDay;
  if (described.kind === "text") return ok({ type: described, value: timeText(value) });
  if (described.kind === "interval" || !isTimeOfDay) {
    const interval = { months: 0, days: 0, nanoseconds: micros * 1000n };
    return ok({ type: { kind: "interval" }, value: interval });
  }
  return ok({ type: microsecondTime, value: micros });
}

function isDate({ year, month, day }: Datetime): boolean {
  return year <= 9999 && day >= 1 && day <= daysInMonth(year, month);
}

function isClock({ hour, minute, second, microsecond }: Datetime | Time): boolean {
  return hour <= 23 && minute <= 59 && second <= 59 && microsecond <= 999_999;
}

function microsOf({ hour, minute, second, microsecond }: Datetime | Time): bigint {
  return BigInt((hour * 60 + minute) * 60 + second) * microsPerSecond + BigInt(microsecond);
}

function dateText({ year, month, day }: Datetime): string {
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

function datetimeText(value: Datetime): string {
  return `${dateText(value)} ${clockText(value.hour, value)}`;
}

function timeText(value: Time): string {
  return `${value.negative ? "-" : ""}${clockText(value.days * 24 + value.hour, value)}`;
}

function clockText(hours: number, { minute, second, microsecond }: Datetime | Time): string {
  const fraction = microsecond === 0 ? "" : `.${pad(microsecond, 6)}`;
  return `${pad(hours, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fraction}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}

function refused(message: string): GatewayError {
  return gatewayError("query.parameters", { message });
}
