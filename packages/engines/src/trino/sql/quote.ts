/** Trino's quoting of names and values: the only place where either becomes part of SQL. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { civilOf, dayOf, monthOf, yearOf } from "@gateway/core/type/calendar.ts";
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { DataType, Interval, Parameter, TimeUnit, Value } from "@gateway/core/type/type.ts";
import { engineTypeOf } from "../types.ts";

/** A name as Trino reads it back, in lower case as Trino keeps all names. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text literal. Trino knows no escapes in it. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * A value as a literal of its type. An untyped NULL is a text one.
 *
 * Refuses with `query.data` what Trino has no value for: an integer beyond 38 digits, an interval of
 * both months and days, a value that is not of its type.
 */
export function quoteValue({ type, value }: Parameter): Result<string, GatewayError> {
  try {
    return ok(literalOf(type, value));
  } catch (refusal) {
    if (!(refusal instanceof NoLiteral)) throw refusal;
    return err(gatewayError("query.data", { message: refusal.message, sqlState: "22003" }));
  }
}

/** Ends the recursion below from any depth; never leaves this file. */
class NoLiteral extends Error {}

const decimalLimit = 10n ** 38n;

function literalOf(type: DataType, value: Value): string {
  if (value === null) return castOf("NULL", type);
  switch (type.kind) {
    case "null":
      return quoteText(textIn(value));
    case "boolean":
      return value === true ? "true" : "false";
    case "integer":
      if (whole(value) >= decimalLimit || whole(value) <= -decimalLimit)
        throw new NoLiteral("Trino has no integers of more than 38 digits.");
      return castOf(quoteText(String(whole(value))), type);
    case "decimal":
      return castOf(quoteText(decimalText(whole(value), type.scale)), type);
    case "float":
      return floatLiteral(value, type);
    case "text":
      return quoteText(textIn(value));
    case "json":
      return `JSON ${quoteText(textIn(value))}`;
    case "uuid":
      return `UUID ${quoteText(textIn(value))}`;
    case "binary":
      return `X'${hex(value)}'`;
    case "date":
      return castOf(quoteText(dateText(whole(value))), type);
    case "time":
      return castOf(quoteText(clockText(whole(value), type.unit)), type);
    case "timestamp":
      return castOf(quoteText(momentText(whole(value), type)), type);
    case "interval":
      return intervalLiteral(value);
    case "list":
      return castOf(
        `ARRAY[${items(value)
          .map((item) => literalOf(type.item, item))
          .join(", ")}]`,
        type,
      );
    case "struct":
      return castOf(`ROW(${fields(type, value)})`, type);
    case "map":
      return mapLiteral(type, value);
  }
}

function castOf(literal: string, type: DataType): string {
  return `CAST(${literal} AS ${engineTypeOf(type)})`;
}

function floatLiteral(value: Value, type: DataType): string {
  if (typeof value !== "number") throw wrong();
  return castOf(quoteText(Object.is(value, -0) ? "-0" : String(value)), type);
}

function fields(type: Extract<DataType, { kind: "struct" }>, value: Value): string {
  const values = items(value);
  return type.fields.map((field, index) => literalOf(field.type, values[index] ?? null)).join(", ");
}

function mapLiteral(type: Extract<DataType, { kind: "map" }>, value: Value): string {
  const pairs = items(value).map(items);
  const keys = pairs.map(([key]) => literalOf(type.key, key ?? null)).join(", ");
  const values = pairs.map(([, one]) => literalOf(type.value, one ?? null)).join(", ");
  return castOf(`MAP(ARRAY[${keys}], ARRAY[${values}])`, type);
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const sign = unscaled < 0n ? "-" : "";
  const point = digits.length - scale;
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function dateText(days: bigint): string {
  const civil = civilOf(Number(days));
  const year = yearOf(civil);
  const shown = String(Math.abs(year)).padStart(4, "0");
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  return `${sign}${shown}-${padded(monthOf(civil))}-${padded(dayOf(civil))}`;
}

function clockText(count: bigint, unit: TimeUnit): string {
  const digits = fractionDigits[unit];
  const perSecond = 10n ** BigInt(digits);
  const seconds = Number(count / perSecond);
  const fraction = digits === 0 ? "" : `.${String(count % perSecond).padStart(digits, "0")}`;
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return clock.map(padded).join(":") + fraction;
}

function momentText(count: bigint, type: Extract<DataType, { kind: "timestamp" }>): string {
  const perDay = 86_400n * 10n ** BigInt(fractionDigits[type.unit]);
  const rest = ((count % perDay) + perDay) % perDay;
  const day = (count - rest) / perDay;
  return `${dateText(day)} ${clockText(rest, type.unit)}${type.zoned ? " UTC" : ""}`;
}

function intervalLiteral(value: Value): string {
  const { months, days, nanoseconds } = interval(value);
  if (months !== 0) {
    if (days !== 0 || nanoseconds !== 0n) {
      throw new NoLiteral("Trino has no interval of months and days together.");
    }
    const sign = months < 0 ? "-" : "";
    return `INTERVAL ${sign}${quoteText(String(Math.abs(months)))} MONTH`;
  }
  const total = BigInt(days) * 86_400_000_000_000n + nanoseconds;
  if (total % 1_000_000n !== 0n) {
    throw new NoLiteral("Trino's intervals have milliseconds at most.");
  }
  const ms = total < 0n ? -total / 1_000_000n : total / 1_000_000n;
  const seconds = `${ms / 1000n}.${String(ms % 1000n).padStart(3, "0")}`;
  return `INTERVAL ${total < 0n ? "-" : ""}${quoteText(seconds)} SECOND`;
}

function interval(value: Value): Interval {
  if (typeof value === "object" && value !== null && "months" in value) return value;
  throw wrong();
}

function whole(value: Value): bigint {
  if (typeof value === "bigint") return value;
  throw wrong();
}

function textIn(value: Value): string {
  if (typeof value === "string") return value;
  throw wrong();
}

function hex(value: Value): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  throw wrong();
}

function items(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  throw wrong();
}

function wrong(): NoLiteral {
  return new NoLiteral("A parameter's value is not of its type.");
}

function padded(part: number): string {
  return String(part).padStart(2, "0");
}
