/**
 * Query attributes (CLIENT_QUERY_ATTRIBUTES): named values beside a text or an execution, in the form of parameters.
 *
 * Where a text stands behind them, their lengths say where it begins, and a server that reads other lengths would run
 * another text than the one that was judged. So only types are taken of which every server reads the same length:
 * of others (YEAR, INT24, a type whose second byte says more than "unsigned") a MySQL takes a string of its own length.
 */
import { ByteReader } from "./byteReader.ts";
import {
  isText,
  lenencOf,
  valueOf,
  wholeOf,
  type BoundType,
  type ExecuteContext,
} from "./execute.ts";
import { columnType, violation, type Violation } from "./protocol.ts";

/** At least one. Views share the packet's memory. */
export interface Attributes {
  readonly count: number;
  /** One bit for each. */
  readonly nulls: Uint8Array;
  /** Two bytes of type and a length-encoded name for each. */
  readonly types: Uint8Array;
  /** In the binary format, without those that are NULL. */
  readonly values: Uint8Array;
}

/** As many as a statement has places: each costs a turn of a loop. */
const attributesMax = 0xffff;
/** Two bytes of type, and the length of a name. */
const typeBytesMin = 3;
const unsignedFlag = 0x80;

/** What stands between the command's code and a text that has none. */
export const noAttributes = Uint8Array.of(0, 1);

/** The attributes in front of a text, to which the reader has come behind them; undefined where there are none. */
export function readAttributes(reader: ByteReader): Attributes | Violation | undefined {
  const count = reader.lenenc();
  const sets = reader.lenenc();
  if (reader.failed || sets !== 1) return malformed;
  if (count === 0) return undefined;
  const nulls = reader.take((count + 7) >> 3);
  const bound = reader.u8() === 1;
  // Checked before anything is looked at one by one: a count may lie.
  if (!bound || count > attributesMax || reader.remaining < count * typeBytesMin) return malformed;
  const from = reader.at;
  const types = typesOf(reader, count);
  return attributesOf(reader, { nulls, types, from });
}

/** Text and values behind the code of a command, as a server gets them. */
export function attributesHead({ count, nulls, types, values }: Attributes): Uint8Array {
  return wholeOf([lenencNumber(count), oneByte, nulls, oneByte, types, values]);
}

/** An execution as one of a client without attributes, and what came beside it. */
export interface SplitExecution {
  readonly body: Uint8Array;
  readonly attributes: Attributes | undefined;
}

/** What is known of the statement. `isAhead`: whether a value came ahead and is absent here. `counted`: the execution's flags say that the count is there also where it is 0. */
export interface NamedContext extends Pick<ExecuteContext, "parameters"> {
  readonly isAhead: (parameter: number) => boolean;
  readonly counted: boolean;
}

/** Flag of an execution: the count of its values stands in it (PARAMETER_COUNT_AVAILABLE). */
export const countedFlag = 8;

/** Takes an execution of a client with attributes apart. `fewer`: it has fewer values than the statement has places. */
export function splitExecution(
  body: Uint8Array,
  { parameters, isAhead, counted }: NamedContext,
): SplitExecution | Violation | "fewer" {
  if (parameters === 0 && !counted) return { body: nothing, attributes: undefined };
  const reader = new ByteReader(body);
  const count = reader.lenenc();
  if (reader.failed) return malformed;
  if (count < parameters) return "fewer";
  if (count === 0) return { body: nothing, attributes: undefined };
  const nullsAt = reader.at;
  const nulls = reader.take((count + 7) >> 3);
  const rebound = reader.u8() === 1;
  if (reader.failed) return malformed;
  if (!rebound) {
    // Names come with types.
    if (count > parameters) return malformed;
    return { body: body.subarray(nullsAt), attributes: undefined };
  }
  if (count > attributesMax || reader.remaining < count * typeBytesMin) return malformed;
  const own = typesOf(reader, parameters);
  const from = reader.at;
  const types = typesOf(reader, count - parameters);
  const valuesAt = reader.at;
  if (reader.failed) return malformed;
  const ownNulls = bitsFrom(nulls, 0, parameters);
  const head = [ownNulls, oneByte, plainTypes(own)];
  if (count === parameters)
    return { body: wholeOf([...head, body.subarray(valuesAt)]), attributes: undefined };
  for (const [index, bound] of own.entries()) {
    const isAbsent = isNull(nulls, index) || isAhead(index);
    if (!isAbsent && valueOf(reader, bound) === undefined) return malformed;
  }
  const values = body.subarray(valuesAt, reader.at);
  const named = { nulls: bitsFrom(nulls, parameters, types.length), types, from };
  const attributes = attributesOf(reader, named, valuesAt);
  if ("kind" in attributes) return attributes;
  return { body: parameters === 0 ? nothing : wholeOf([...head, values]), attributes };
}

/**
 * The body of an execution for a server that takes attributes. `body` has types, as `withTypes` makes it. In pieces,
 * none where there is nothing to say; with any the flag has to stand in front.
 */
export function namedBody(
  { parameters, body }: { readonly parameters: number; readonly body: Uint8Array },
  attributes: Attributes | undefined,
): readonly Uint8Array[] {
  const count = parameters + (attributes?.count ?? 0);
  if (count === 0) return [];
  const nulls = new Uint8Array((count + 7) >> 3);
  const ownNulls = (parameters + 7) >> 3;
  // Bits behind the last mean nothing to a server that counts no further.
  nulls.set(bitsFrom(body, 0, parameters));
  const named = attributes ?? { count: 0, nulls: nothing };
  for (let index = 0; index < named.count; index += 1)
    if (isNull(named.nulls, index)) setBit(nulls, parameters + index);
  const typesAt = parameters === 0 ? 0 : ownNulls + 1;
  const own = new Uint8Array(parameters * typeBytesMin);
  for (let index = 0; index < parameters; index += 1)
    own.set(body.subarray(typesAt + index * 2, typesAt + index * 2 + 2), index * typeBytesMin);
  const head = [lenencNumber(count), nulls, oneByte, own];
  const values = body.subarray(typesAt + parameters * 2);
  return attributes === undefined
    ? [...head, values]
    : [...head, attributes.types, values, attributes.values];
}

/** The same with names and texts as UTF-8. Undefined where one of them can not be read. */
export function recodedAttributes(
  { count, nulls, types, values }: Attributes,
  decode: (bytes: Uint8Array) => string | undefined,
): Attributes | undefined {
  const [names, reader] = [new ByteReader(types), new ByteReader(values)];
  const typePieces: Uint8Array[] = [];
  const valuePieces: Uint8Array[] = [];
  for (let index = 0; index < count; index += 1) {
    const type = names.take(2);
    const name = decode(names.lenencBytes());
    if (name === undefined) return undefined;
    typePieces.push(type, lenencOf(name));
    if (isNull(nulls, index)) continue;
    const from = reader.at;
    const bound = { type: type[0] ?? 0, unsigned: false };
    const value = valueOf(reader, bound);
    const isOther = value?.kind !== "bytes" || !isText(bound);
    const text = isOther ? undefined : decode(value.value);
    if (!isOther && text === undefined) return undefined;
    valuePieces.push(text === undefined ? values.subarray(from, reader.at) : lenencOf(text));
  }
  return { count, nulls, types: wholeOf(typePieces), values: wholeOf(valuePieces) };
}

const malformed = violation("malformed", "query attributes cut short, or of an unknown type");
const nothing = new Uint8Array(0);
const oneByte = Uint8Array.of(1);

/** Types of one length whoever reads them. */
const soundTypes: ReadonlySet<number> = new Set([
  columnType.tiny,
  columnType.short,
  columnType.long,
  columnType.longlong,
  columnType.float,
  columnType.double,
  columnType.date,
  columnType.datetime,
  columnType.timestamp,
  columnType.time,
  columnType.decimal,
  columnType.newDecimal,
  columnType.varchar,
  columnType.varString,
  columnType.string,
  columnType.tinyBlob,
  columnType.mediumBlob,
  columnType.longBlob,
  columnType.blob,
  columnType.json,
]);

/** A type with the second byte as it came. */
interface NamedType extends BoundType {
  readonly flag: number;
}

/** Types with their names, which are passed over. */
function typesOf(reader: ByteReader, count: number): readonly NamedType[] {
  const types: NamedType[] = [];
  for (let index = 0; index < count && !reader.failed; index += 1) {
    const type = reader.u8();
    const flag = reader.u8();
    reader.lenencBytes();
    types.push({ type, flag, unsigned: (flag & unsignedFlag) !== 0 });
  }
  return types;
}

/** Reads to the end of the values. `from`: where the first type stands; `valuesAt`: behind the last, if not here. */
function attributesOf(
  reader: ByteReader,
  read: { readonly nulls: Uint8Array; readonly types: readonly NamedType[]; readonly from: number },
  typesEnd = reader.at,
): Attributes | Violation {
  const { nulls, types, from } = read;
  const valuesAt = reader.at;
  for (const [index, bound] of types.entries()) {
    const { type, flag } = bound;
    const absent = isNull(nulls, index);
    const sound = soundTypes.has(type) || (absent && type === columnType.null);
    if (!sound || (flag & ~unsignedFlag) !== 0) return malformed;
    if (!absent && valueOf(reader, bound) === undefined) return malformed;
  }
  if (reader.failed) return malformed;
  return {
    count: types.length,
    nulls,
    types: reader.bytes.subarray(from, typesEnd),
    values: reader.bytes.subarray(valuesAt, reader.at),
  };
}

function plainTypes(types: readonly NamedType[]): Uint8Array {
  return Uint8Array.from(types.flatMap(({ type, flag }) => [type, flag]));
}

function isNull(nulls: Uint8Array, index: number): boolean {
  return ((nulls[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
}

function bitsFrom(bits: Uint8Array, from: number, count: number): Uint8Array {
  const moved = new Uint8Array((count + 7) >> 3);
  for (let index = 0; index < count; index += 1)
    if (isNull(bits, from + index)) setBit(moved, index);
  return moved;
}

/** A count, of which there are no more than `attributesMax` twice. */
function lenencNumber(value: number): Uint8Array {
  if (value < 0xfb) return Uint8Array.of(value);
  return Uint8Array.of(0xfd, value & 0xff, (value >> 8) & 0xff, value >> 16);
}
