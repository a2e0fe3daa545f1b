/**
 * Reads parameter values: bytes and a format in, a typed value or the reason why not out.
 *
 * The type was decided before (`run/described.ts`). No value is spliced into text, and a value that its type
 * can not hold is refused, never rounded.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { parseText } from "@gateway/core/type/parse.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import { decodeText } from "@gateway/wire/text.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import {
  decimalDigitsMax,
  numericFromBinary,
  numericFromText,
  precisionOf,
  type Numeric,
  type NumericFault,
} from "./numeric.ts";
import { parameterShape, pgTypes, type ParameterShape, type PgTypeName } from "./types.ts";

/** The type a parameter was given, by the client or by the engine's description. */
export interface ParameterType {
  /** The object id; 0 while nobody named a type. */
  readonly oid: number;
  /** The neutral type; text where nobody named one. */
  readonly type: DataType;
}

/** Nobody named a type: the value is text, and the engine converts it. */
export const untyped: ParameterType = { oid: 0, type: { kind: "text" } };

/** Reads one value. `number` counts parameters from 1, for the message. */
export function readParameter(
  bytes: Uint8Array | undefined,
  format: Format,
  declared: ParameterType,
  { number, zone }: { readonly number: number; readonly zone: Zone },
): Result<Parameter, GatewayError> {
  if (bytes === undefined) return ok({ type: declared.type, value: null });
  const read = format === 1 ? fromBinary(bytes, declared) : fromText(bytes, declared, zone);
  if (typeof read !== "string") return ok(read);
  return err(gatewayError("query.data", faults[read](number)));
}

type Fault =
  | NumericFault
  | "dimensions"
  | "encoding"
  | "binary"
  | "untypedBinary"
  | "text"
  | "nul"
  | "infinite";

const faults = {
  malformed: (n) => ({ sqlState: "22P02", message: `invalid numeric value of parameter $${n}` }),
  notANumber: (n) => ({
    sqlState: "0A000",
    message: `parameter $${n} is NaN or infinite, which a decimal can not hold`,
  }),
  tooManyDigits: (n) => ({
    sqlState: "22003",
    message: `parameter $${n} has more than ${decimalDigitsMax} digits`,
  }),
  encoding: (n) => ({ sqlState: "22021", message: `parameter $${n} is not valid UTF-8` }),
  nul: (n) => ({ sqlState: "22021", message: `parameter $${n} holds a NUL character` }),
  binary: (n) => ({
    sqlState: "22P03",
    message: `incorrect binary data format in bind parameter ${n}`,
  }),
  untypedBinary: (n) => ({
    sqlState: "42P18",
    message: `the type of parameter $${n} is not known, so its binary value can not be read`,
  }),
  dimensions: (n) => ({
    sqlState: "0A000",
    message: `parameter $${n} is an array of several dimensions or with its own bounds; cast a text to it`,
  }),
  infinite: (n) => ({
    sqlState: "0A000",
    message: `parameter $${n} is infinite, which dates and timestamps of other engines can not be`,
  }),
  text: (n) => ({ sqlState: "22P02", message: `invalid input syntax in parameter $${n}` }),
} as const satisfies Record<Fault, (number: number) => { sqlState: string; message: string }>;

function fromText(bytes: Uint8Array, { type }: ParameterType, zone: Zone): Parameter | Fault {
  const text = decodeText(bytes);
  if (text === undefined) return "encoding";
  // PostgreSQL's text never holds one, and an engine written in C would cut the value there.
  if (text.includes("\0")) return "nul";
  if (type.kind === "decimal") return decimalOf(numericFromText(text));
  if (type.kind === "list" && type.item.kind === "decimal") return numericArrayFromText(text, zone);
  if ((type.kind === "date" || type.kind === "timestamp") && infinity.test(text)) return "infinite";
  if (type.kind === "list" && holdsArray(text)) return "dimensions";
  const parsed = parseText(type, type.kind === "date" ? dayOf(text) : text, zone);
  return parsed.ok ? { type, value: parsed.value } : "text";
}

/** A list says nothing of dimensions, and an inner array would become the text of an item. */
function holdsArray(text: string): boolean {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"|\\./gs, "");
  return bare.indexOf("{", bare.indexOf("{") + 1) >= 0 || /^\s*\[/.test(bare);
}

const infinity = /^\s*[+-]?infinity\s*$/i;

/** A time, an offset or both behind a date, which PostgreSQL ignores: pgjdbc writes `2024-02-29 +00`. */
const behindDay =
  /(?:[T\s]\s*\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[+-]\d{1,2}(?::?\d{2}){0,2}|Z)?|\s+[+-]\d{1,2}(?::?\d{2}){0,2}|Z)$/i;
/** The longest date with a time and an offset: a longer text is no date. */
const dayTextMax = 64;

function dayOf(text: string): string {
  return text.length > dayTextMax ? text : text.replace(behindDay, "");
}

function decimalOf(numeric: Numeric | NumericFault): Parameter | Fault {
  if (typeof numeric === "string") return numeric;
  const { unscaled, scale } = numeric;
  return { type: { kind: "decimal", precision: precisionOf(numeric), scale }, value: unscaled };
}

/** Items with scales of their own: taken as texts first, then brought to the widest scale. */
function numericArrayFromText(text: string, zone: Zone): Parameter | Fault {
  const parsed = parseText({ kind: "list", item: { kind: "text" } }, text, zone);
  if (!parsed.ok || !Array.isArray(parsed.value)) return "text";
  const items = (parsed.value as readonly Value[]).map((item) =>
    typeof item === "string" ? numericFromText(item) : null,
  );
  return numericArray(items);
}

function numericArray(items: readonly (Numeric | NumericFault | null)[]): Parameter | Fault {
  let scale = 0;
  for (const item of items) {
    if (typeof item === "string") return item;
    if (item !== null) scale = Math.max(scale, item.scale);
  }
  const values = items.map((item) =>
    item === null || typeof item === "string"
      ? null
      : item.unscaled * 10n ** BigInt(scale - item.scale),
  );
  const end = 10n ** BigInt(decimalDigitsMax);
  if (values.some((value) => value !== null && (value >= end || value <= -end))) {
    return "tooManyDigits";
  }
  const item: DataType = { kind: "decimal", precision: decimalDigitsMax, scale };
  return { type: { kind: "list", item }, value: values };
}

function fromBinary(bytes: Uint8Array, declared: ParameterType): Parameter | Fault {
  if (declared.oid === 0) return "untypedBinary";
  const shape = parameterShape(declared.oid);
  if (shape === undefined) return "untypedBinary";
  if (shape.array) return arrayFromBinary(bytes, shape);
  if (shape.scalar === "numeric") return decimalOf(numericFromBinary(bytes));
  const value = scalarFromBinary(bytes, shape.scalar);
  return typeof value === "symbol" ? faultOf(value) : { type: shape.type, value };
}

/** Ways a binary scalar can be wrong; symbols, because a string would be a value. */
const badBinary = Symbol("binary");
const badEncoding = Symbol("encoding");
const badNul = Symbol("nul");
const infinite = Symbol("infinite");
type Bad = typeof badBinary | typeof badEncoding | typeof badNul | typeof infinite;

function faultOf(bad: Bad): Fault {
  if (bad === infinite) return "infinite";
  if (bad === badEncoding) return "encoding";
  return bad === badNul ? "nul" : "binary";
}

type ScalarName = Exclude<PgTypeName, "numeric">;

/** Microseconds and days from 1970 to 2000, where PostgreSQL counts from. */
const epochMicros = 946_684_800_000_000n;
const epochDays = 10_957n;

function scalarFromBinary(bytes: Uint8Array, scalar: ScalarName): Value | Bad {
  const { size } = pgTypes[scalar];
  const text = textScalars.has(scalar);
  if (!text && size > 0 && bytes.length !== size) return badBinary;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (scalar) {
    case "bool":
      return bytes[0] !== 0;
    case "int2":
      return BigInt(view.getInt16(0));
    case "int4":
      return BigInt(view.getInt32(0));
    case "oid":
      return BigInt(view.getUint32(0));
    case "int8":
      return view.getBigInt64(0);
    case "float4":
      return view.getFloat32(0);
    case "float8":
      return view.getFloat64(0);
    case "bytea":
      return bytes.slice();
    case "date":
      return dayFrom(view.getInt32(0));
    case "time":
      return timeFrom(view.getBigInt64(0));
    case "timestamp":
    case "timestamptz":
      return instantFrom(view.getBigInt64(0));
    case "timetz":
      return zonedTimeFrom(view);
    case "interval":
      return intervalFrom(view);
    case "uuid":
      return uuidFrom(bytes);
    case "jsonb":
      // One byte of version comes first, and there is only version 1.
      return bytes[0] === 1 ? textFrom(bytes.subarray(1)) : badBinary;
    case "char":
    case "name":
    case "text":
    case "json":
    case "bpchar":
    case "varchar":
      return textFrom(bytes);
  }
}

const textScalars: ReadonlySet<ScalarName> = new Set<ScalarName>(["char", "name"]);

function textFrom(bytes: Uint8Array): string | Bad {
  const text = decodeText(bytes);
  if (text === undefined) return badEncoding;
  return text.includes("\0") ? badNul : text;
}

/** PostgreSQL's infinities are the ends of the range. */
function dayFrom(days: number): bigint | Bad {
  return days === 0x7fffffff || days === -0x80000000 ? infinite : BigInt(days) + epochDays;
}

const dayMicros = 86_400_000_000n;

/** 24:00:00 is a time in PostgreSQL too. */
function timeFrom(micros: bigint): bigint | Bad {
  return micros >= 0n && micros <= dayMicros ? micros : badBinary;
}

/** The zone is counted westwards; PostgreSQL's own is less than 16 hours. */
const zoneSecondsMax = 16 * 3600;

function zonedTimeFrom(view: DataView): string | Bad {
  const micros = timeFrom(view.getBigInt64(0));
  const west = view.getInt32(8);
  if (typeof micros !== "bigint" || Math.abs(west) >= zoneSecondsMax) return badBinary;
  const fraction = `${micros % 1_000_000n}`.padStart(6, "0");
  const sign = west > 0 ? "-" : "+";
  return `${clockText(Number(micros / 1_000_000n))}.${fraction}${sign}${clockText(Math.abs(west))}`;
}

/** `12:34:56` */
function clockText(seconds: number): string {
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => `${Math.floor(part)}`.padStart(2, "0")).join(":");
}

function instantFrom(micros: bigint): bigint | Bad {
  if (micros === 2n ** 63n - 1n || micros === -(2n ** 63n)) return infinite;
  const since1970 = micros + epochMicros;
  // Instants beyond our range have no neutral counterpart.
  return since1970 === BigInt.asIntN(64, since1970) ? since1970 : badBinary;
}

function intervalFrom(view: DataView): Value | Bad {
  const nanoseconds = view.getBigInt64(0) * 1000n;
  // 292 years of time alone: beyond it the neutral interval's nanoseconds end.
  if (nanoseconds !== BigInt.asIntN(64, nanoseconds)) return badBinary;
  return { months: view.getInt32(12), days: view.getInt32(8), nanoseconds };
}

function uuidFrom(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const parts = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)];
  return [...parts, digits.slice(16, 20), digits.slice(20)].join("-");
}

/** Dimensions of an array, as in PostgreSQL (MAXDIM). */
const dimensionsMax = 6;
const arrayHeadBytes = 12;

function arrayFromBinary(bytes: Uint8Array, shape: ParameterShape): Parameter | Fault {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < arrayHeadBytes) return "binary";
  const dimensions = view.getInt32(0);
  if (dimensions < 0 || dimensions > dimensionsMax) return "binary";
  if (view.getUint32(8) !== pgTypes[shape.scalar].oid) return "binary";
  let at = arrayHeadBytes + dimensions * 8;
  if (bytes.length < at) return "binary";

  const lengths: number[] = [];
  let count = dimensions === 0 ? 0 : 1;
  for (let dimension = 0; dimension < dimensions; dimension += 1) {
    const length = view.getInt32(arrayHeadBytes + dimension * 8);
    lengths.push(length);
    count *= length;
    // Each item takes at least its length field: a dimension that lies is found before memory is taken.
    if (length < 0 || count * 4 > bytes.length - at) return "binary";
  }

  const items: (Uint8Array | undefined)[] = [];
  for (let item = 0; item < count; item += 1) {
    if (at + 4 > bytes.length) return "binary";
    const length = view.getInt32(at);
    at += 4;
    if (length < -1 || at + Math.max(0, length) > bytes.length) return "binary";
    items.push(length === -1 ? undefined : bytes.subarray(at, at + length));
    at += Math.max(0, length);
  }
  return at === bytes.length ? arrayOf(items, lengths, shape) : "binary";
}

function arrayOf(
  items: readonly (Uint8Array | undefined)[],
  lengths: readonly number[],
  { scalar, type }: ParameterShape,
): Parameter | Fault {
  const flat = scalar === "numeric" ? numericItems(items) : scalarItems(items, scalar, type);
  if (typeof flat === "string") return flat;
  const item = flat.type.kind === "list" ? flat.type.item : flat.type;
  return nested(flat.value as readonly Value[], lengths, item);
}

function numericItems(items: readonly (Uint8Array | undefined)[]): Parameter | Fault {
  return numericArray(items.map((item) => (item === undefined ? null : numericFromBinary(item))));
}

function scalarItems(
  items: readonly (Uint8Array | undefined)[],
  scalar: ScalarName,
  type: DataType,
): Parameter | Fault {
  const values: Value[] = [];
  for (const item of items) {
    const value = item === undefined ? null : scalarFromBinary(item, scalar);
    if (typeof value === "symbol") return faultOf(value);
    values.push(value);
  }
  return { type, value: values };
}

/** Folds a flat list into its dimensions, innermost first. */
function nested(flat: readonly Value[], lengths: readonly number[], item: DataType): Parameter {
  let values = flat;
  let type: DataType = { kind: "list", item };
  for (const length of lengths.slice(1).toReversed()) {
    const folded: Value[] = [];
    for (let at = 0; at < values.length; at += length) folded.push(values.slice(at, at + length));
    values = folded;
    type = { kind: "list", item: type };
  }
  return { type, value: values };
}
