/**
 * Parameters of COM_STMT_EXECUTE: NULL bitmap, types, values of every type in the binary format.
 *
 * Values come out in the wire's own terms (a date is year, month, day); the frontend translates them for an
 * engine. The number of parameters comes from the statement, never from the client.
 */
import { ByteReader } from "./byteReader.ts";
import { columnType, violation, type Violation } from "./protocol.ts";

/** Type of one parameter as the client bound it. */
export interface BoundType {
  /** One of `columnType`. */
  readonly type: number;
  readonly unsigned: boolean;
}

/** One value; views share the packet's memory. */
export type BoundValue =
  | { readonly kind: "null" }
  | { readonly kind: "integer"; readonly value: bigint }
  | { readonly kind: "float"; readonly value: number }
  /** Text, decimal in text, or bytes: the bound type tells. */
  | { readonly kind: "bytes"; readonly value: Uint8Array }
  /** All zero for a zero date. */
  | {
      readonly kind: "datetime";
      readonly year: number;
      readonly month: number;
      readonly day: number;
      readonly hour: number;
      readonly minute: number;
      readonly second: number;
      readonly microsecond: number;
    }
  | {
      readonly kind: "time";
      readonly negative: boolean;
      readonly days: number;
      readonly hour: number;
      readonly minute: number;
      readonly second: number;
      readonly microsecond: number;
    };

export interface BoundParameters {
  readonly kind: "parameters";
  /** The caller keeps them: later executions may leave the types out. */
  readonly types: readonly BoundType[];
  readonly values: readonly BoundValue[];
}

/** What the statement is known to have. */
export interface ExecuteContext {
  readonly parameters: number;
  /** Types of the last execution; undefined before the first. */
  readonly types: readonly BoundType[] | undefined;
  /** Values that came ahead in COM_STMT_SEND_LONG_DATA, by parameter; they are absent from the body. */
  readonly longData: ReadonlyMap<number, Uint8Array>;
}

const nullValue: BoundValue = { kind: "null" };
const zeroDate = { year: 0, month: 0, day: 0 };
const midnight = { hour: 0, minute: 0, second: 0, microsecond: 0 };

/** Reads the parameters of one execution. */
export function parseExecute(
  body: Uint8Array,
  context: ExecuteContext,
): BoundParameters | Violation {
  const count = context.parameters;
  if (count === 0) return { kind: "parameters", types: [], values: [] };
  const reader = new ByteReader(body);
  const nulls = reader.take((count + 7) >> 3);
  const rebound = reader.u8() === 1;
  // Checked before the arrays are made: a short body must not cost an array of 65,535 entries.
  if (reader.failed || (rebound && reader.remaining < count * 2)) {
    return violation("malformed", "parameters cut short");
  }
  const types = rebound ? typesOf(reader, count) : context.types;
  if (types === undefined || types.length !== count) {
    return violation("malformed", "parameters without types");
  }

  const values: BoundValue[] = [];
  for (const [index, bound] of types.entries()) {
    const long = context.longData.get(index);
    const value =
      long !== undefined
        ? ({ kind: "bytes", value: long } as const)
        : ((nulls[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
          ? nullValue
          : valueOf(reader, bound);
    if (value === undefined) return violation("malformed", "parameter of an unknown type");
    values.push(value);
  }
  if (reader.failed) return violation("malformed", "parameters cut short");
  return { kind: "parameters", types, values };
}

/** A body with the types in it, whether the client sent them with it or with an earlier execution. */
export function withTypes(
  body: Uint8Array,
  { parameters: count, types: known }: Pick<ExecuteContext, "parameters" | "types">,
): { readonly body: Uint8Array; readonly types: readonly BoundType[] } | Violation {
  if (count === 0) return { body: new Uint8Array(0), types: [] };
  const reader = new ByteReader(body);
  const nulls = reader.take((count + 7) >> 3);
  const rebound = reader.u8() === 1;
  if (reader.failed || (rebound && reader.remaining < count * 2)) {
    return violation("malformed", "parameters cut short");
  }
  if (rebound) return { body, types: typesOf(reader, count) };
  if (known?.length !== count) return violation("malformed", "parameters without types");
  const written = new Uint8Array(nulls.length + 1 + count * 2);
  written.set(nulls);
  written[nulls.length] = 1;
  for (const [index, { type, unsigned }] of known.entries()) {
    const at = nulls.length + 1 + index * 2;
    written[at] = type;
    written[at + 1] = unsigned ? 0x80 : 0;
  }
  const values = body.subarray(reader.at);
  const joined = new Uint8Array(written.length + values.length);
  joined.set(written);
  joined.set(values, written.length);
  return { body: joined, types: known };
}

/** Values of an execution as they are sent on. */
export interface ExecuteValues {
  readonly body: Uint8Array;
  readonly longData: ReadonlyMap<number, Uint8Array>;
}

/**
 * The same values with their texts as UTF-8: bytes that were bound as such, and bits, stay what they are. `bound` is
 * what `withTypes` made. Undefined where a text can not be read, or the body is none.
 */
export function recoded(
  { body, types }: { readonly body: Uint8Array; readonly types: readonly BoundType[] },
  longData: ReadonlyMap<number, Uint8Array>,
  decode: (bytes: Uint8Array) => string | undefined,
): ExecuteValues | undefined {
  if (!types.some(isText)) return { body, longData };
  const reader = new ByteReader(body);
  const nulls = reader.take((types.length + 7) >> 3);
  reader.take(1 + types.length * 2);
  const pieces = [body.subarray(0, reader.at)];
  const ahead = new Map(longData);
  for (const [index, bound] of types.entries()) {
    const long = longData.get(index);
    const from = reader.at;
    if (long === undefined && ((nulls[index >> 3] ?? 0) & (1 << (index & 7))) === 0) {
      const value = valueOf(reader, bound);
      if (value === undefined || reader.failed) return undefined;
      const same = value.kind !== "bytes" || !isText(bound);
      const text = same ? undefined : decode(value.value);
      if (!same && text === undefined) return undefined;
      pieces.push(text === undefined ? body.subarray(from, reader.at) : lenencOf(text));
    } else if (long !== undefined && isText(bound)) {
      const text = decode(long);
      if (text === undefined) return undefined;
      ahead.set(index, utf8.encode(text));
    }
  }
  return { body: wholeOf(pieces), longData: ahead };
}

const utf8 = new TextEncoder();

/** A text as a length-encoded string of UTF-8. */
export function lenencOf(text: string): Uint8Array {
  const bytes = utf8.encode(text);
  const { length } = bytes;
  const low = [length & 0xff, (length >> 8) & 0xff];
  if (length < 0xfb) return wholeOf([Uint8Array.of(length), bytes]);
  if (length < 0x1_0000) return wholeOf([Uint8Array.of(0xfc, ...low), bytes]);
  if (length < 0x100_0000) return wholeOf([Uint8Array.of(0xfd, ...low, length >> 16), bytes]);
  const head = new Uint8Array(9);
  head[0] = 0xfe;
  new DataView(head.buffer).setBigUint64(1, BigInt(length), true);
  return wholeOf([head, bytes]);
}

/** The pieces one behind the other. */
export function wholeOf(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** What a server reads in its client's character set. */
export function isText({ type }: BoundType): boolean {
  const { varchar, varString, string, enum: enumeration, set } = columnType;
  return [varchar, varString, string, enumeration, set].includes(type as typeof varchar);
}

function typesOf(reader: ByteReader, count: number): readonly BoundType[] {
  const types: BoundType[] = [];
  for (let index = 0; index < count; index += 1) {
    types.push({ type: reader.u8(), unsigned: (reader.u8() & 0x80) !== 0 });
  }
  return types;
}

/** The next value; undefined for a type that is none, or a date of no known length. */
export function valueOf(reader: ByteReader, bound: BoundType): BoundValue | undefined {
  switch (bound.type) {
    case columnType.null:
      return nullValue;
    case columnType.tiny:
      return integerOf(bound.unsigned ? reader.u8() : reader.i8());
    case columnType.short:
    case columnType.year:
      return integerOf(bound.unsigned ? reader.u16() : reader.i16());
    case columnType.long:
    case columnType.int24:
      return integerOf(bound.unsigned ? reader.u32() : reader.i32());
    case columnType.longlong:
      return integerOf(bound.unsigned ? reader.u64() : reader.i64());
    case columnType.float:
      return { kind: "float", value: reader.f32() };
    case columnType.double:
      return { kind: "float", value: reader.f64() };
    case columnType.date:
    case columnType.newDate:
    case columnType.datetime:
    case columnType.timestamp:
      return datetimeOf(reader);
    case columnType.time:
      return timeOf(reader);
    default:
      return isBytes(bound.type) ? { kind: "bytes", value: reader.lenencBytes() } : undefined;
  }
}

function integerOf(value: number | bigint): BoundValue {
  return { kind: "integer", value: BigInt(value) };
}

/** Types whose value is a length-encoded string. */
function isBytes(type: number): boolean {
  return (
    type === columnType.decimal ||
    type === columnType.varchar ||
    type === columnType.bit ||
    type >= columnType.json
  );
}

/** 0, 4, 7 or 11 bytes: trailing parts that are zero are left out. */
function datetimeOf(reader: ByteReader): BoundValue | undefined {
  const length = reader.u8();
  if (length !== 0 && length !== 4 && length !== 7 && length !== 11) return undefined;
  const date =
    length >= 4 ? { year: reader.u16(), month: reader.u8(), day: reader.u8() } : zeroDate;
  return { kind: "datetime", ...date, ...clockOf(reader, length - 4) };
}

/** 0, 8 or 12 bytes. */
function timeOf(reader: ByteReader): BoundValue | undefined {
  const length = reader.u8();
  if (length !== 0 && length !== 8 && length !== 12) return undefined;
  const negative = length > 0 && reader.u8() === 1;
  const days = length > 0 ? reader.u32() : 0;
  return { kind: "time", negative, days, ...clockOf(reader, length - 5) };
}

function clockOf(reader: ByteReader, bytes: number): typeof midnight {
  if (bytes < 3) return midnight;
  const hour = reader.u8();
  const minute = reader.u8();
  const second = reader.u8();
  return { hour, minute, second, microsecond: bytes >= 7 ? reader.u32() : 0 };
}
