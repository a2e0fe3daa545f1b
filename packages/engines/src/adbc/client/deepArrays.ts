/**
 * Parameters that are arrays of several dimensions, as PostgreSQL's text of them. Its driver writes each inner list
 * as an array of its own, and fails at a NULL beside one.
 */
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import { vectorOf } from "@gateway/core/type/build.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";

/** Whether a list holds lists. */
export function isDeep(type: DataType): boolean {
  return type.kind === "list" && type.item.kind === "list";
}

/** The text of the array: `{{1,2},{3,NULL}}`. */
export function deepText(type: DataType, value: Value): string {
  const writer = cellWriter(vectorOf(type, [value]), postgresText);
  const out = new Uint8Array(writer.bound(0));
  return new TextDecoder().decode(out.subarray(0, writer.write(out, 0, 0)));
}

/** PostgreSQL's name of an array of any dimensions with such items; undefined where the client's type stands for several. */
export function deepName(type: DataType): string | undefined {
  let item = type;
  while (item.kind === "list") item = item.item;
  const name = itemName(item);
  return name === undefined ? undefined : `pg_catalog._${name}`;
}

function itemName(type: DataType): string | undefined {
  switch (type.kind) {
    case "boolean":
      return "bool";
    case "integer":
      if (!type.signed) return type.bits === 32 ? "oid" : undefined;
      return type.bits >= 16 && type.bits <= 64 ? `int${type.bits / 8}` : undefined;
    case "float":
      return `float${type.bits / 8}`;
    case "decimal":
      return "numeric";
    case "binary":
      return "bytea";
    case "timestamp":
      return type.zoned ? "timestamptz" : "timestamp";
    case "date":
    case "time":
    case "interval":
    case "uuid":
      return type.kind;
    default:
      return undefined;
  }
}
