/**
 * The neutral name of a type, for logs, messages and docs: `decimal(12,2)`, `list(text)`.
 *
 * It is not SQL; that frontend's `types.ts` has a protocol's name for a type.
 */
import type { DataType, TimeUnit } from "./type.ts";

/** Digits behind the second that a unit holds. */
export const fractionDigits = { s: 0, ms: 3, us: 6, ns: 9 } as const satisfies Record<
  TimeUnit,
  number
>;

/** One text per type; equal types and only those have equal names. */
export function typeName(type: DataType): string {
  switch (type.kind) {
    case "null":
    case "boolean":
    case "text":
    case "binary":
    case "date":
    case "interval":
    case "uuid":
    case "json":
      return type.kind;
    case "integer":
      return `${type.signed ? "int" : "uint"}${type.bits}`;
    case "float":
      return `float${type.bits}`;
    case "decimal":
      return `decimal(${type.precision},${type.scale})`;
    case "time":
      return `time(${fractionDigits[type.unit]})`;
    case "timestamp":
      return `timestamp(${fractionDigits[type.unit]})${type.zoned ? " zoned" : ""}`;
    case "list":
      return `list(${typeName(type.item)})`;
    case "struct":
      return `struct(${type.fields.map((field) => `${JSON.stringify(field.name)} ${typeName(field.type)}`).join(", ")})`;
    case "map":
      return `map(${typeName(type.key)}, ${typeName(type.value)})`;
  }
}
