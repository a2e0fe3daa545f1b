/** Columns of a MySQL text result: their neutral types, and what their cells need to be canonical text. */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { blockPlaceOf, withoutBlock } from "@gateway/wire/mysql/definition.ts";
import {
  collationId,
  columnFlag,
  columnType,
  packetHeaderBytes,
} from "@gateway/wire/mysql/protocol.ts";
import type { Packet } from "./packets.ts";

/** What must happen to the text of a cell. */
export type CellRule =
  | { readonly kind: "none" }
  /** Zeros in front (`ZEROFILL`) go. */
  | { readonly kind: "integer" }
  /** Exactly `scale` digits behind the point. */
  | { readonly kind: "decimal"; readonly scale: number }
  | { readonly kind: "float" }
  /** A date that is none (`0000-00-00`) is NULL. */
  | { readonly kind: "date" }
  /** Six digits behind the second, whatever came. */
  | { readonly kind: "moment" };

export interface TextColumn {
  readonly column: Column;
  readonly rule: CellRule;
}

const decoder = new TextDecoder();

/** A definition packet that was read. */
export interface ReadColumn extends TextColumn {
  /** The packet as every client reads it, with its header. */
  readonly bytes: Uint8Array;
  /** As it came, where MariaDB put a block of its own into it. */
  readonly extended?: Uint8Array;
}

/** Reads a column definition packet; undefined when it is none. */
export function readColumn({ payload, bytes }: Packet): ReadColumn | undefined {
  if (bytes.length > knownBytesMax) return columnOf(payload, bytes);
  return knownColumn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"));
}

/** Longer definitions are read each time. */
const knownBytesMax = 256;

/** Applications read the same columns again and again. */
const knownColumn = remembered(
  (text) => {
    const bytes = Buffer.from(text, "latin1");
    return columnOf(bytes.subarray(packetHeaderBytes), bytes);
  },
  { textsMax: 1_000, lengthMax: knownBytesMax },
);

function columnOf(payload: Uint8Array, bytes: Uint8Array): ReadColumn | undefined {
  const block = blockPlaceOf(payload);
  if (block === undefined) return undefined;
  const names = new ByteReader(payload);
  for (let part = 0; part < 4; part += 1) names.lenencBytes();
  const name = decoder.decode(names.lenencBytes());
  const reader = new ByteReader(payload, block.to + 1);
  const collation = reader.u16();
  const length = reader.u32();
  const type = reader.u8();
  const flags = reader.u16();
  const decimals = reader.u8();
  const hasBlock = block.from < block.to;
  const json = hasBlock && decoder.decode(payload.subarray(block.from, block.to)).includes("json");
  const definition = { collation, length, type: json ? columnType.json : type, flags, decimals };
  const column = columnFrom(name, definition);
  return hasBlock
    ? { ...column, bytes: withoutBlock(payload, block), extended: bytes }
    : { ...column, bytes };
}

/** Packets of definitions, with MariaDB's blocks for a client that agreed to them. */
export function packetsOfColumns(read: readonly ReadColumn[], extended: boolean): Uint8Array {
  return Buffer.concat(read.map((column) => (extended && column.extended) || column.bytes));
}

/** The neutral column of a definition. */
export function columnFrom(name: string, definition: Definition): TextColumn {
  const { neutral, rule } = meaningOf(definition);
  const nullable = (definition.flags & columnFlag.notNull) === 0;
  const engineType = typeNames.get(definition.type);
  const column = {
    name,
    type: neutral,
    nullable,
    ...(engineType === undefined ? {} : { engineType }),
  };
  return { column, rule };
}

/** What a column definition says, whoever read it. */
export interface Definition {
  readonly collation: number;
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly decimals: number;
}

interface Meaning {
  readonly neutral: DataType;
  readonly rule: CellRule;
}

const none: CellRule = { kind: "none" };
const text: Meaning = { neutral: { kind: "text" }, rule: none };

function meaningOf(definition: Definition): Meaning {
  const { collation, type, flags } = definition;
  const unsigned = (flags & columnFlag.unsigned) !== 0;
  switch (type) {
    case columnType.tiny:
      return integer(8, unsigned);
    case columnType.short:
      return integer(16, unsigned);
    case columnType.int24:
    case columnType.long:
      return integer(32, unsigned);
    case columnType.longlong:
      return integer(64, unsigned);
    case columnType.year:
      return integer(16, true);
    case columnType.float:
      return { neutral: { kind: "float", bits: 32 }, rule: { kind: "float" } };
    case columnType.double:
      return { neutral: { kind: "float", bits: 64 }, rule: { kind: "float" } };
    case columnType.decimal:
    case columnType.newDecimal:
      return decimal(definition, unsigned);
    case columnType.date:
    case columnType.newDate:
      return { neutral: { kind: "date" }, rule: { kind: "date" } };
    case columnType.datetime:
    case columnType.timestamp:
      // The digits that a server announces are not always those it sends.
      return { neutral: { kind: "timestamp", unit: "us", zoned: false }, rule: { kind: "moment" } };
    case columnType.null:
      return { neutral: { kind: "null" }, rule: none };
    case columnType.json:
      return { neutral: { kind: "json" }, rule: none };
    case columnType.bit:
    case columnType.geometry:
      return { neutral: { kind: "binary" }, rule: none };
    default:
      // TIME as well: it may be negative and longer than a day, which no neutral time is.
      if (type === columnType.time || collation !== collationId.binary) return text;
      return { neutral: { kind: "binary" }, rule: none };
  }
}

function integer(bits: 8 | 16 | 32 | 64, unsigned: boolean): Meaning {
  return { neutral: { kind: "integer", bits, signed: !unsigned }, rule: { kind: "integer" } };
}

/** The length counts the digits, the point and the sign. */
function decimal({ length, decimals }: Definition, unsigned: boolean): Meaning {
  const precision = length - (decimals > 0 ? 1 : 0) - (unsigned ? 0 : 1);
  if (precision < 1 || precision > 38 || decimals > precision) return text;
  const neutral: DataType = { kind: "decimal", precision, scale: decimals };
  return { neutral, rule: { kind: "decimal", scale: decimals } };
}

const typeNames: ReadonlyMap<number, string> = new Map(
  Object.entries(columnType).map(([name, code]) => [code, name.toUpperCase()]),
);
