/**
 * What each neutral type is on the MySQL wire.
 *
 * One table decides the column definition; the encoders of text and binary rows follow its `form`.
 * Types that MySQL does not have become the one that keeps every digit:
 *
 * | neutral | MySQL | why |
 * |---|---|---|
 * | boolean | TINYINT(1) | as MySQL itself |
 * | int128, uint128 | DECIMAL(39,0) | no wider integer |
 * | timestamp of ns, time of ns | VARCHAR | DATETIME and TIME end at microseconds |
 * | zoned timestamp | TIMESTAMP in the session's time zone | an instant |
 * | interval | VARCHAR | TIME has no months and days |
 * | uuid | CHAR(36) | |
 * | list, struct, map | JSON | |
 */
import type { Column, DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { collationId, columnFlag, columnType } from "@gateway/wire/mysql/protocol.ts";
import type { ColumnDefinition } from "@gateway/wire/mysql/reply.ts";

/** How a cell of a binary row is written. */
export type BinaryForm =
  /** Little-endian bytes as the vector has them. */
  | { readonly kind: "copy"; readonly bytes: 1 | 2 | 4 | 8 }
  | { readonly kind: "boolean" }
  | { readonly kind: "date" }
  | { readonly kind: "time"; readonly unit: TimeUnit }
  | { readonly kind: "datetime"; readonly unit: TimeUnit; readonly zoned: boolean }
  /** A length and the same text as in a text row. */
  | { readonly kind: "text" };

export interface MysqlType {
  readonly type: number;
  /** Longest text of a value in bytes; drivers show it as the size of the column. */
  readonly length: number;
  readonly flags: number;
  readonly decimals: number;
  readonly collation: number;
  readonly form: BinaryForm;
}

/** `decimals` of a float, whose count of digits is not fixed. */
const floating = 31;
/** Bytes of a VARCHAR of MySQL's longest; longer values are sent all the same. */
const varcharBytes = 65_535 * 4;
const longestBytes = 0xffff_ffff;

const text = { kind: "text" } as const;
const varchar: MysqlType = {
  type: columnType.varString,
  length: varcharBytes,
  flags: 0,
  decimals: 0,
  collation: collationId.utf8mb4,
  form: text,
};

/** Made once: asked for with every column of every result. */
const fixed = {
  null: { ...binary(columnType.null, 0), form: text },
  boolean: { ...binary(columnType.tiny, 1), form: { kind: "boolean" } },
  float: { ...binary(columnType.float, 12), decimals: floating, form: copy(4) },
  double: { ...binary(columnType.double, 22), decimals: floating, form: copy(8) },
  binary: longBinary(columnType.blob),
  date: { ...binary(columnType.date, 10), form: { kind: "date" } },
  uuid: { ...varchar, type: columnType.string, length: 36 * 4 },
  json: longBinary(columnType.json),
} as const satisfies Record<string, MysqlType>;

const signedIntegers = integersOf(true);
const unsignedIntegers = integersOf(false);

/** The MySQL type of a neutral type. */
export function mysqlTypeOf(type: DataType): MysqlType {
  switch (type.kind) {
    case "null":
      return fixed.null;
    case "boolean":
      return fixed.boolean;
    case "integer":
      return (type.signed ? signedIntegers : unsignedIntegers)[type.bits];
    case "float":
      return type.bits === 32 ? fixed.float : fixed.double;
    case "decimal":
      return decimalOf(type.precision, type.scale);
    case "text":
      return varchar;
    case "binary":
      return fixed.binary;
    case "date":
      return fixed.date;
    case "time":
      return type.unit === "ns"
        ? varchar
        : { ...clock(columnType.time, 10, type.unit), form: { kind: "time", unit: type.unit } };
    case "timestamp":
      return timestampOf(type.unit, type.zoned);
    case "interval":
      return varchar;
    case "uuid":
      return fixed.uuid;
    case "json":
    case "list":
    case "struct":
    case "map":
      return fixed.json;
  }
}

/** The definition of a result column. */
export function columnDefinition(column: Column): ColumnDefinition {
  const { type, length, flags, decimals, collation } = mysqlTypeOf(column.type);
  return {
    schema: "",
    table: "",
    name: column.name,
    collation,
    length,
    type,
    flags: flags | (column.nullable ? 0 : columnFlag.notNull),
    decimals,
  };
}

function binary(type: number, length: number): Omit<MysqlType, "form"> {
  return { type, length, flags: columnFlag.binary, decimals: 0, collation: collationId.binary };
}

/** A blob or what is sent like one. */
function longBinary(type: number): MysqlType {
  const flags = columnFlag.binary | columnFlag.blob;
  return { ...binary(type, longestBytes), flags, form: text };
}

function copy(bytes: 1 | 2 | 4 | 8): BinaryForm {
  return { kind: "copy", bytes };
}

function integersOf(signed: boolean) {
  const flags = columnFlag.binary | (signed ? 0 : columnFlag.unsigned);
  return {
    8: { ...binary(columnType.tiny, signed ? 4 : 3), flags, form: copy(1) },
    16: { ...binary(columnType.short, signed ? 6 : 5), flags, form: copy(2) },
    32: { ...binary(columnType.long, signed ? 11 : 10), flags, form: copy(4) },
    64: { ...binary(columnType.longlong, 20), flags, form: copy(8) },
    128: { ...binary(columnType.newDecimal, signed ? 40 : 39), flags, form: text },
  } as const satisfies Record<number, MysqlType>;
}

/** Digits, a sign, and a point when there is a scale. */
function decimalOf(precision: number, scale: number): MysqlType {
  const length = precision + 1 + (scale > 0 ? 1 : 0);
  return { ...binary(columnType.newDecimal, length), decimals: scale, form: text };
}

function timestampOf(unit: TimeUnit, zoned: boolean): MysqlType {
  if (unit === "ns") return varchar;
  const type = zoned ? columnType.timestamp : columnType.datetime;
  return { ...clock(type, 19, unit), form: { kind: "datetime", unit, zoned } };
}

function clock(type: number, length: number, unit: Exclude<TimeUnit, "ns">) {
  const decimals = unit === "s" ? 0 : unit === "ms" ? 3 : 6;
  return { ...binary(type, length + (decimals > 0 ? decimals + 1 : 0)), decimals };
}

/** Names of the types above as MySQL writes them; times are followed by the digits of the second. */
const typeNames = new Map<number, string>([
  [columnType.null, "NULL"],
  [columnType.tiny, "TINYINT"],
  [columnType.short, "SMALLINT"],
  [columnType.long, "INT"],
  [columnType.longlong, "BIGINT"],
  [columnType.float, "FLOAT"],
  [columnType.double, "DOUBLE"],
  [columnType.newDecimal, "DECIMAL"],
  [columnType.date, "DATE"],
  [columnType.time, "TIME"],
  [columnType.datetime, "DATETIME"],
  [columnType.timestamp, "TIMESTAMP"],
  [columnType.string, "CHAR"],
  [columnType.varString, "VARCHAR"],
  [columnType.blob, "LONGBLOB"],
  [columnType.json, "JSON"],
]);

/** A type's name for people, as the reference shows it: `DECIMAL(12,2)`, `BIGINT UNSIGNED`. */
export function mysqlTypeText(type: DataType): string {
  const { type: id, flags, decimals } = mysqlTypeOf(type);
  const name = typeNames.get(id) ?? "";
  switch (type.kind) {
    case "boolean":
      return `${name}(1)`;
    case "uuid":
      return `${name}(36)`;
    case "integer":
      if (id === columnType.newDecimal) return `${name}(39,0)`;
      return (flags & columnFlag.unsigned) === 0 ? name : `${name} UNSIGNED`;
    case "decimal":
      return `${name}(${type.precision},${type.scale})`;
    case "time":
    case "timestamp":
      return decimals === 0 ? name : `${name}(${decimals})`;
    default:
      return name;
  }
}
