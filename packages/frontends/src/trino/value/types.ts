/**
 * What each neutral type is to a Trino client: its name, its signature, and the style of its cells.
 *
 * Types Trino lacks become the narrowest one that loses nothing: unsigned integers the next wider
 * signed one or a decimal, and intervals text, because ours mix months with days and Trino's do not.
 */
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";
import { jsonText } from "@gateway/core/type/text.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import type {
  NamedType,
  ResultColumn,
  TypeArgument,
  TypeSignature,
} from "@gateway/wire/trino/results.ts";

/** The length Trino's clients read as "no limit". */
const unboundedLength = 2_147_483_647;

/** Decimals and integers beyond 64 bits are strings, rows are arrays, json is a string that holds it. */
export const trinoText: TextStyle = { ...jsonText, intervals: "trino", structs: "array" };

/** An interval that the engine promises to be of one half only. */
export type PureInterval = "interval day to second" | "interval year to month";

/** What the engine's own name of an interval type promises; undefined when its values may mix both halves. */
export function pureInterval(
  column: Pick<Column, "type" | "engineType">,
): PureInterval | undefined {
  if (column.type.kind !== "interval" || column.engineType === undefined) return undefined;
  const name = column.engineType.toLowerCase();
  return name === "interval day to second" || name === "interval year to month" ? name : undefined;
}

/** A column as the answers list it. */
export function resultColumn(column: Column): ResultColumn {
  const pure = pureInterval(column);
  if (pure !== undefined) {
    return { name: column.name, type: pure.toUpperCase(), typeSignature: signature(pure) };
  }
  return {
    name: column.name,
    type: typeText(column.type),
    typeSignature: typeSignature(column.type),
  };
}

/** The type in the form clients decode by. */
export function typeSignature(type: DataType): TypeSignature {
  switch (type.kind) {
    case "null":
      return signature("unknown");
    case "boolean":
    case "date":
    case "uuid":
    case "json":
      return signature(type.kind);
    case "integer":
      return integerSignature(type.bits, type.signed);
    case "float":
      return signature(type.bits === 32 ? "real" : "double");
    case "decimal":
      return decimalSignature(type.precision, type.scale);
    case "text":
    case "interval":
      return signature("varchar", long(unboundedLength));
    case "binary":
      return signature("varbinary");
    case "time":
      return signature("time", long(fractionDigits[type.unit]));
    case "timestamp":
      return signature(
        type.zoned ? "timestamp with time zone" : "timestamp",
        long(fractionDigits[type.unit]),
      );
    case "list":
      return signature("array", item(type.item));
    case "map":
      return signature("map", item(type.key), item(type.value));
    case "struct":
      return signature(
        "row",
        ...type.fields.map((field) => named(field.name, typeSignature(field.type))),
      );
  }
}

/** The type as a result lists it beside its signature: `decimal(12, 2)`, `timestamp(6) with time zone`. */
export function typeText(type: DataType): string {
  return signatureText(typeSignature(type), ", ");
}

/** The type as `DESCRIBE` and `SHOW COLUMNS` name it: `decimal(12,2)`. JDBC takes these apart and stumbles over the space. */
export function displayName(type: DataType): string {
  return signatureText(typeSignature(type), ",");
}

/** `comma` stands between numbers; between types there is always a space. */
function signatureText({ rawType, arguments: list }: TypeSignature, comma: string): string {
  const texts = list.map((argument) => argumentText(argument, comma));
  switch (rawType) {
    case "varchar":
      return "varchar";
    case "timestamp with time zone":
      return `timestamp(${texts.join(comma)}) with time zone`;
    case "array":
    case "map":
    case "row":
      return `${rawType}(${texts.join(", ")})`;
    default:
      return texts.length === 0 ? rawType : `${rawType}(${texts.join(comma)})`;
  }
}

function argumentText(argument: TypeArgument, comma: string): string {
  switch (argument.kind) {
    case "LONG":
      return String(argument.value);
    case "TYPE":
      return signatureText(argument.value, comma);
    case "NAMED_TYPE":
      return namedText(argument.value, comma);
  }
}

function namedText({ fieldName, typeSignature: type }: NamedType, comma: string): string {
  if (fieldName === undefined) return signatureText(type, comma);
  const plain = /^[a-z_][a-z0-9_]*$/i.test(fieldName.name);
  const name = plain ? fieldName.name : `"${fieldName.name.replaceAll('"', '""')}"`;
  return `${name} ${signatureText(type, comma)}`;
}

const signedIntegers = {
  8: "tinyint",
  16: "smallint",
  32: "integer",
  64: "bigint",
} as const;

/** One step wider, so that the highest value fits. */
const unsignedIntegers = { 8: "smallint", 16: "integer", 32: "bigint" } as const;

type Bits = Extract<DataType, { kind: "integer" }>["bits"];

function integerSignature(bits: Bits, signed: boolean): TypeSignature {
  // Clients read decimals as exact text of any length, so a value of 39 digits arrives whole.
  if (bits === 128) return decimalSignature(38, 0);
  if (signed) return signature(signedIntegers[bits]);
  return bits === 64 ? decimalSignature(20, 0) : signature(unsignedIntegers[bits]);
}

function decimalSignature(precision: number, scale: number): TypeSignature {
  return signature("decimal", long(precision), long(scale));
}

function signature(rawType: string, ...list: readonly TypeArgument[]): TypeSignature {
  return { rawType, arguments: list };
}

function long(value: number): TypeArgument {
  return { kind: "LONG", value };
}

function item(type: DataType): TypeArgument {
  return { kind: "TYPE", value: typeSignature(type) };
}

function named(name: string, type: TypeSignature): TypeArgument {
  const value =
    name === "" ? { typeSignature: type } : { fieldName: { name }, typeSignature: type };
  return { kind: "NAMED_TYPE", value };
}
