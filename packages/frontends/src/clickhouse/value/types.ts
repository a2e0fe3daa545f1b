/** What a neutral type is called in ClickHouse. */
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";

/** The name of a column's type. What may be NULL is `Nullable`, but for the types that ClickHouse has none of. */
export function columnType({ type, nullable }: Pick<Column, "type" | "nullable">): string {
  const name = typeName(type);
  return type.kind === "null" || (nullable && mayBeNull(type)) ? `Nullable(${name})` : name;
}

/** False for arrays, tuples and maps. */
export function mayBeNull({ kind }: DataType): boolean {
  return kind !== "list" && kind !== "struct" && kind !== "map";
}

function typeName(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "Nothing";
    case "boolean":
      return "Bool";
    case "integer":
      return `${type.signed ? "Int" : "UInt"}${type.bits}`;
    case "float":
      return `Float${type.bits}`;
    case "decimal":
      return `Decimal(${type.precision}, ${type.scale})`;
    case "text":
    case "binary":
    case "json":
    case "time":
    case "interval":
      return "String";
    case "date":
      return "Date32";
    case "timestamp":
      return `DateTime64(${fractionDigits[type.unit]}${type.zoned ? ", 'UTC'" : ""})`;
    case "uuid":
      return "UUID";
    case "list":
      return `Array(${partType(type.item)})`;
    case "struct": {
      const fields = type.fields.map(({ name, type: part }) => `${quoted(name)} ${partType(part)}`);
      return `Tuple(${fields.join(", ")})`;
    }
    case "map":
      return `Map(${typeName(type.key)}, ${partType(type.value)})`;
  }
}

function partType(type: DataType): string {
  return columnType({ type, nullable: true });
}

function quoted(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
    ? name
    : `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}
