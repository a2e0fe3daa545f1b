/**
 * Values that a driver bound, by Snowflake's names of types, as typed parameters.
 *
 * Everything comes as text: numbers as digits, a date as milliseconds since 1970, a time of day and moments as
 * nanoseconds, bytes as hexadecimal digits. A value that is no text of its type is refused.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import { placeholdersMax } from "@gateway/core/sql/rewrite/placeholders.ts";
import { z } from "zod";

const cell = z.union([z.string(), z.null()]);
/** `{"1": {"type": "FIXED", "value": "5"}}`; of an array bind the value is a list. */
const bindingsSchema = z.record(
  z.string().regex(/^[1-9]\d{0,5}$/),
  z.object({ type: z.string().max(32), value: z.union([cell, z.array(cell).max(1_000_000)]) }),
);

/** The parameters of one execution after the other: several where the driver bound arrays. */
export type Executions = readonly (readonly Parameter[])[];

/** Reads `bindings` of a request; one execution without parameters where there are none. */
export function readBindings(bindings: unknown): Result<Executions, GatewayError> {
  if (bindings === undefined || bindings === null) return ok([[]]);
  const read = bindingsSchema.safeParse(bindings);
  if (!read.success) return err(wrong("the bindings are not understood"));
  const numbers = Object.keys(read.data).length;
  if (numbers > placeholdersMax) return err(wrong("there are too many bindings"));
  const columns: (readonly (Parameter | GatewayError)[])[] = [];
  let length: number | undefined;
  for (let number = 1; number <= numbers; number += 1) {
    const bound = read.data[String(number)];
    if (bound === undefined) return err(wrong(`binding ${number} is missing`));
    const values = Array.isArray(bound.value) ? bound.value : [bound.value];
    if (length !== undefined && values.length !== length) {
      return err(wrong("bound arrays have different lengths"));
    }
    length = values.length;
    columns.push(values.map((value) => parameterOf(bound.type.toUpperCase(), value)));
  }
  return rowsOf(columns, length ?? 1);
}

function rowsOf(
  columns: readonly (readonly (Parameter | GatewayError)[])[],
  length: number,
): Result<Executions, GatewayError> {
  const executions: Parameter[][] = [];
  for (let row = 0; row < length; row += 1) {
    const parameters: Parameter[] = [];
    for (const column of columns) {
      const parameter = column[row];
      if (parameter === undefined) return err(wrong("a bound array is too short"));
      if ("code" in parameter) return err(parameter);
      parameters.push(parameter);
    }
    executions.push(parameters);
  }
  return ok(executions);
}

function parameterOf(type: string, value: string | null): Parameter | GatewayError {
  const kind = typeOf(type, value);
  if (kind === undefined) return wrong(`values of type ${type} can not be bound`);
  if (value === null) return { type: kind, value: null };
  const read = valueOf(type, kind, value);
  return read === undefined ? wrong(`a value is no ${type}`) : { type: kind, value: read };
}

const moment: DataType = { kind: "timestamp", unit: "ns", zoned: true };

/** What the server would take it for; undefined for a type that can not be bound. */
function typeOf(type: string, value: string | null): DataType | undefined {
  switch (type) {
    case "FIXED":
      return fixedType(value ?? "0");
    case "REAL":
      return { kind: "float", bits: 64 };
    case "TEXT":
    case "ANY":
      return { kind: "text" };
    case "BOOLEAN":
      return { kind: "boolean" };
    case "BINARY":
      return { kind: "binary" };
    case "DATE":
      return { kind: "date" };
    case "TIME":
      return { kind: "time", unit: "ns" };
    case "TIMESTAMP":
    case "TIMESTAMP_NTZ":
      return { kind: "timestamp", unit: "ns", zoned: false };
    case "TIMESTAMP_LTZ":
    case "TIMESTAMP_TZ":
      return moment;
    case "VARIANT":
    case "OBJECT":
    case "ARRAY":
    case "JSON":
      return { kind: "json" };
    default:
      return undefined;
  }
}

const digits38 = 38;

/** By the digits: an integer of 64 bits where it fits one, else a decimal of exactly as many digits. */
function fixedType(text: string): DataType {
  const [, digits = "", fraction = ""] = /^[+-]?(\d*)\.?(\d*)$/.exec(text) ?? [];
  if (fraction === "" && digits.length <= 18) return { kind: "integer", bits: 64, signed: true };
  const scale = Math.min(fraction.length, digits38);
  const precision = Math.min(Math.max(digits.length + scale, 1), digits38);
  return { kind: "decimal", precision, scale: Math.min(scale, precision) };
}

function valueOf(type: string, kind: DataType, text: string): Value | undefined {
  switch (kind.kind) {
    case "integer":
      return whole(text);
    case "decimal":
      return unscaled(text, kind.precision);
    case "float":
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?inf(inity)?$|^nan$/i.test(text)
        ? floatOf(text)
        : undefined;
    case "boolean":
      return booleanOf(text);
    case "binary":
      return /^([0-9a-f]{2})*$/i.test(text) ? Uint8Array.from(Buffer.from(text, "hex")) : undefined;
    case "date":
      return dayOf(text);
    case "time":
      return whole(text);
    case "timestamp":
      // TIMESTAMP_TZ: nanoseconds, and the zone as minutes east of Greenwich plus 1440, which an instant has no room for.
      return whole(type === "TIMESTAMP_TZ" ? (text.split(" ")[0] ?? "") : text);
    default:
      return text;
  }
}

function whole(text: string): bigint | undefined {
  return /^[+-]?\d{1,30}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
}

function unscaled(text: string, precision: number): bigint | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return undefined;
  const digits = text.replace(".", "").replace("+", "");
  return digits.replace("-", "").length <= precision ? BigInt(digits) : undefined;
}

function floatOf(text: string): number {
  if (/^[+-]?inf/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}

function booleanOf(text: string): boolean | undefined {
  if (/^(true|1)$/i.test(text)) return true;
  return /^(false|0)$/i.test(text) ? false : undefined;
}

const dayMs = 86_400_000n;

/** Drivers send milliseconds of midnight in UTC. */
function dayOf(text: string): bigint | undefined {
  const ms = whole(text);
  if (ms === undefined) return undefined;
  return (ms - (((ms % dayMs) + dayMs) % dayMs)) / dayMs;
}

function wrong(message: string): GatewayError {
  return gatewayError("query.parameters", { message });
}
