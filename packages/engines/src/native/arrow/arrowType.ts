/**
 * The neutral types as types of the `apache-arrow` library and back, for the schema message of an IPC
 * stream. Only types that layout.ts can answer appear here.
 */
import type { Column, DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { Precision, TimeUnit as ArrowTimeUnit, Type } from "apache-arrow/enum";
import { Field } from "apache-arrow/schema";
import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  FixedSizeBinary,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  IntervalMonthDayNano,
  List,
  Map_,
  Null,
  Struct,
  TimeMicrosecond,
  TimeNanosecond,
  Timestamp,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  type DataType as ArrowType,
  type Decimal as ArrowDecimal,
  type Int as ArrowInt,
  type Float as ArrowFloat,
  type Time as ArrowTime,
  type Timestamp as ArrowTimestamp,
} from "apache-arrow/type";

/** Metadata key of a field under which the driver's own format of the column travels. */
export const formatKey = "format";

/** A field of the schema message. `format` says what the driver sent before it was converted. */
export function arrowFieldOf({ name, type, nullable }: Column, format?: string): Field {
  const metadata = new Map(extensionOf(type));
  if (format !== undefined) metadata.set(formatKey, format);
  return new Field(name, arrowTypeOf(type), nullable, metadata);
}

/** The neutral column of a field that `arrowFieldOf` made. */
export function columnOf(field: Field): Column {
  const format = field.metadata.get(formatKey);
  const column = { name: field.name, type: neutralTypeOf(field), nullable: field.nullable };
  return format === undefined ? column : { ...column, engineType: format };
}

function arrowTypeOf(type: DataType): ArrowType {
  switch (type.kind) {
    case "null":
      return new Null();
    case "boolean":
      return new Bool();
    case "integer":
      return arrowIntegerOf(type.bits, type.signed);
    case "float":
      return type.bits === 32 ? new Float32() : new Float64();
    case "decimal":
      return new Decimal(type.scale, type.precision);
    case "text":
    case "json":
      return new Utf8();
    case "binary":
      return new Binary();
    case "date":
      return new DateDay();
    case "time":
      return type.unit === "ns" ? new TimeNanosecond() : new TimeMicrosecond();
    case "timestamp":
      return new Timestamp(arrowUnits[type.unit], type.zoned ? "UTC" : null);
    case "interval":
      return new IntervalMonthDayNano();
    case "uuid":
      return new FixedSizeBinary(16);
    case "list":
      return new List(child("item", type.item));
    case "struct":
      return new Struct(type.fields.map((field) => child(field.name, field.type)));
    case "map": {
      const entry = new Struct<MapEntry>([
        child("key", type.key, false),
        child("value", type.value),
      ] as Field<ArrowType>[]);
      return new Map_(new Field("entries", entry, false));
    }
  }
}

type MapEntry = { readonly key: ArrowType; readonly value: ArrowType };

function child(name: string, type: DataType, nullable = true): Field {
  return arrowFieldOf({ name, type, nullable });
}

function arrowIntegerOf(bits: 8 | 16 | 32 | 64 | 128, signed: boolean): ArrowType {
  switch (bits) {
    case 8:
      return signed ? new Int8() : new Uint8();
    case 16:
      return signed ? new Int16() : new Uint16();
    case 32:
      return signed ? new Int32() : new Uint32();
    case 64:
      return signed ? new Int64() : new Uint64();
    case 128:
      return new FixedSizeBinary(16);
  }
}

/** Arrow's names for what its own types can not say; integers of 128 bits go by the name DuckDB gave them. */
function extensionOf(type: DataType): Extension {
  if (type.kind === "integer" && type.bits === 128)
    return opaque(type.signed ? "hugeint" : "uhugeint");
  if (type.kind !== "uuid" && type.kind !== "json") return [];
  return [
    ["ARROW:extension:name", `arrow.${type.kind}`],
    ["ARROW:extension:metadata", ""],
  ];
}

type Extension = readonly (readonly [string, string])[];

function opaque(name: string): Extension {
  return [
    ["ARROW:extension:name", "arrow.opaque"],
    ["ARROW:extension:metadata", JSON.stringify({ type_name: name, vendor_name: "DuckDB" })],
  ];
}

const arrowUnits = {
  s: ArrowTimeUnit.SECOND,
  ms: ArrowTimeUnit.MILLISECOND,
  us: ArrowTimeUnit.MICROSECOND,
  ns: ArrowTimeUnit.NANOSECOND,
} as const satisfies Record<TimeUnit, ArrowTimeUnit>;

const units: readonly TimeUnit[] = ["s", "ms", "us", "ns"];

function neutralTypeOf(field: Field): DataType {
  const type = field.type as ArrowType;
  switch (type.typeId) {
    case Type.Null:
      return { kind: "null" };
    case Type.Bool:
      return { kind: "boolean" };
    case Type.Int:
      return integerTypeOf(type as ArrowInt);
    case Type.Float:
      return { kind: "float", bits: (type as ArrowFloat).precision === Precision.SINGLE ? 32 : 64 };
    case Type.Decimal: {
      const { precision, scale } = type as ArrowDecimal;
      return { kind: "decimal", precision, scale };
    }
    case Type.Utf8:
      return { kind: extensionName(field) === "arrow.json" ? "json" : "text" };
    case Type.Binary:
      return { kind: "binary" };
    case Type.FixedSizeBinary:
      return wideTypeOf(field);
    case Type.Date:
      return { kind: "date" };
    case Type.Time:
      return { kind: "time", unit: unitOf((type as ArrowTime).unit) };
    case Type.Timestamp: {
      const { unit, timezone } = type as ArrowTimestamp;
      return { kind: "timestamp", unit: unitOf(unit), zoned: timezone !== null && timezone !== "" };
    }
    case Type.Interval:
      return { kind: "interval" };
    default:
      return nestedTypeOf(type);
  }
}

function nestedTypeOf(type: ArrowType): DataType {
  const children = (type.children ?? []) as readonly Field[];
  const [first] = children;
  if (type.typeId === Type.Struct) {
    const fields = children.map((field) => ({ name: field.name, type: neutralTypeOf(field) }));
    return { kind: "struct", fields };
  }
  if (first === undefined) throw new Error(`a type without a neutral one: ${type.typeId}`);
  if (type.typeId === Type.List) return { kind: "list", item: neutralTypeOf(first) };
  const [key, value] = ((first.type as ArrowType).children ?? []) as readonly Field[];
  if (type.typeId !== Type.Map || key === undefined || value === undefined) {
    throw new Error(`a type without a neutral one: ${type.typeId}`);
  }
  return { kind: "map", key: neutralTypeOf(key), value: neutralTypeOf(value) };
}

function integerTypeOf({ bitWidth, isSigned }: ArrowInt): DataType {
  return { kind: "integer", bits: bitWidth, signed: isSigned };
}

function wideTypeOf(field: Field): DataType {
  if (extensionName(field) === "arrow.uuid") return { kind: "uuid" };
  const signed = !(field.metadata.get("ARROW:extension:metadata") ?? "").includes('"uhugeint"');
  return { kind: "integer", bits: 128, signed };
}

function extensionName(field: Field): string | undefined {
  return field.metadata.get("ARROW:extension:name");
}

function unitOf(unit: number): TimeUnit {
  return units[unit] ?? "us";
}
