/** The neutral types as Arrow's, which are nearly the same: what differs is widened, so that no digit is lost. */
import type { Column, DataType } from "@gateway/core/type/type.ts";
import type { ArrowField, ArrowType } from "@gateway/wire/flight/arrowType.ts";

const noMetadata: ReadonlyMap<string, string> = new Map();

/** Digits of the largest integer of 128 bits, one more than a decimal of 128 bits holds. */
const wideDigits = 39;

/** The field of a column. */
export function fieldOf({ name, type, nullable }: Column): ArrowField {
  return plainField(name, type, nullable);
}

function plainField(name: string, type: DataType, nullable = true): ArrowField {
  return {
    name,
    type: arrowTypeOf(type),
    nullable: nullable || type.kind === "null",
    children: childrenOf(type),
    metadata: metadataOf(type),
  };
}

function childrenOf(type: DataType): readonly ArrowField[] {
  switch (type.kind) {
    case "list":
      return [plainField("item", type.item)];
    case "struct":
      return type.fields.map((field) => plainField(field.name, field.type));
    case "map":
      return [
        {
          name: "entries",
          type: { kind: "struct" },
          nullable: false,
          children: [plainField("key", type.key, false), plainField("value", type.value)],
          metadata: noMetadata,
        },
      ];
    default:
      return [];
  }
}

/** Arrow's own names for what its types can not say. */
function metadataOf({ kind }: DataType): ReadonlyMap<string, string> {
  if (kind !== "uuid" && kind !== "json") return noMetadata;
  return new Map([
    ["ARROW:extension:name", `arrow.${kind}`],
    ["ARROW:extension:metadata", ""],
  ]);
}

/** Arrow's type for one of ours. */
export function arrowTypeOf(type: DataType): ArrowType {
  switch (type.kind) {
    case "null":
      return { kind: "null" };
    case "boolean":
      return { kind: "bool" };
    case "integer":
      if (type.bits === 128) return { kind: "decimal", precision: wideDigits, scale: 0, bits: 256 };
      return { kind: "int", bits: type.bits, signed: type.signed };
    case "float":
      return { kind: "float", bits: type.bits };
    case "decimal":
      return { kind: "decimal", precision: type.precision, scale: type.scale, bits: 128 };
    case "text":
    case "json":
      return { kind: "utf8" };
    case "binary":
      return { kind: "binary" };
    case "date":
      return { kind: "date", unit: "day" };
    case "time":
      // Ours are counted in 64 bits, Arrow's up to milliseconds in 32.
      return { kind: "time", unit: type.unit === "ns" ? "ns" : "us" };
    case "timestamp":
      return { kind: "timestamp", unit: type.unit, zone: type.zoned ? "UTC" : undefined };
    case "interval":
      return { kind: "interval" };
    case "uuid":
      return { kind: "fixedBinary", width: 16 };
    case "list":
    case "struct":
    case "map":
      return { kind: type.kind };
  }
}

/** Arrow's type as its own libraries print it: `decimal128(12, 2)`. */
export function arrowTypeText(type: DataType): string {
  return fieldText(plainField("", type));
}

function fieldText({ type, children }: ArrowField): string {
  switch (type.kind) {
    case "int":
      return `${type.signed ? "" : "u"}int${type.bits}`;
    case "float":
      return type.bits === 64 ? "double" : "float";
    case "decimal":
      return `decimal${type.bits}(${type.precision}, ${type.scale})`;
    case "date":
      return "date32";
    case "time":
      return `time64[${type.unit}]`;
    case "timestamp":
      return `timestamp[${type.unit}${type.zone === undefined ? "" : `, tz=${type.zone}`}]`;
    case "interval":
      return "month_day_nano_interval";
    case "fixedBinary":
      return `fixed_size_binary[${type.width}]`;
    case "list":
      return `list<${children.map(fieldText).join(", ")}>`;
    case "struct":
      return `struct<${children.map((child) => `${child.name}: ${fieldText(child)}`).join(", ")}>`;
    case "map":
      return `map<${(children[0]?.children ?? []).map(fieldText).join(", ")}>`;
    default:
      return type.kind === "utf8" ? "string" : type.kind;
  }
}
