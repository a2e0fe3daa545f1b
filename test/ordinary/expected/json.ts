/** Values as JSON: nested ones in all protocols, and every cell in Trino's. What differs is in `JsonForm`. */
import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimeValue,
  DuckDBTimestampTZValue,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
  type DuckDBUnionType,
  type DuckDBValue,
} from "@duckdb/node-api";
import { dateText, decimalText, isMoment, type Moment } from "./parts.ts";

/** What the engine's library has a class of its own for. */
type ObjectValue = Extract<DuckDBValue, object>;

/** How one protocol writes what JSON has no form for. Texts without their quotes, but for `float` and `wide`. */
export interface JsonForm {
  readonly float: (value: number, bits: 32 | 64) => string;
  /** Decimals, and integers beyond 64 signed bits, from all their digits. */
  readonly wide: (digits: string) => string;
  readonly binary: (value: DuckDBBlobValue) => string;
  readonly time: (value: DuckDBTimeValue) => string;
  readonly moment: (value: Moment) => string;
  /** Stands behind an instant. */
  readonly zone: string;
  readonly interval: (value: DuckDBIntervalValue) => string;
  readonly structs: "object" | "array";
  /** A document of JSON: itself, or a string that holds it. */
  readonly documents: "value" | "string";
}

/** The JSON text of a value. */
export function jsonText(type: DuckDBType, value: DuckDBValue, form: JsonForm): string {
  if (value === null) return "null";
  // Most values are these two, and a test asks for millions of them.
  if (typeof value === "string") return stringText(type, value, form);
  if (typeof value === "object") return nestedText(type, value, form) ?? objectText(value, form);
  return numberText(type, value, form);
}

function stringText({ alias }: DuckDBType, value: string, { documents }: JsonForm): string {
  return alias === "JSON" && documents === "value" ? value : JSON.stringify(value);
}

function numberText(type: DuckDBType, value: boolean | number | bigint, form: JsonForm): string {
  if (typeof value === "number" && isFloat(type)) {
    const text = form.float(value, type.typeId === DuckDBTypeId.FLOAT ? 32 : 64);
    return Number.isFinite(value) ? text : JSON.stringify(text);
  }
  if (typeof value !== "bigint" || type.typeId === DuckDBTypeId.BIGINT) return String(value);
  // Integers of any length are text in every protocol.
  return type.typeId === DuckDBTypeId.BIGNUM ? `"${value}"` : form.wide(String(value));
}

export function isFloat({ typeId }: DuckDBType): boolean {
  return typeId === DuckDBTypeId.FLOAT || typeId === DuckDBTypeId.DOUBLE;
}

function nestedText(type: DuckDBType, value: ObjectValue, form: JsonForm): string | undefined {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    const { valueType } = type as DuckDBListType | DuckDBArrayType;
    return `[${value.items.map((item) => jsonText(valueType, item, form)).join(",")}]`;
  }
  if (value instanceof DuckDBMapValue) {
    const { keyType, valueType } = type as DuckDBMapType;
    const entries = value.entries.map(({ key, value: inner }) => {
      const name = jsonText(keyType, key, form);
      // A key that is no string in JSON becomes one.
      return `${name.startsWith('"') ? name : JSON.stringify(name)}:${jsonText(valueType, inner, form)}`;
    });
    return `{${entries.join(",")}}`;
  }
  if (value instanceof DuckDBStructValue) {
    const { entryNames, entryTypes } = type as DuckDBStructType;
    const texts = entryNames.map((name, index) =>
      jsonText(entryTypes[index] ?? type, value.entries[name] ?? null, form),
    );
    return structText(entryNames, texts, form);
  }
  return value instanceof DuckDBUnionValue
    ? unionText(type as DuckDBUnionType, value, form)
    : undefined;
}

/** A struct of the member's name and all members, of which the others are NULL. */
function unionText(
  type: DuckDBUnionType,
  { tag, value }: DuckDBUnionValue,
  form: JsonForm,
): string {
  const texts = type.memberTags.map((name, index) =>
    name === tag ? jsonText(type.memberTypes[index] ?? type, value, form) : "null",
  );
  return structText(["tag", ...type.memberTags], [JSON.stringify(tag), ...texts], form);
}

function structText(
  names: readonly string[],
  texts: readonly string[],
  { structs }: JsonForm,
): string {
  if (structs === "array") return `[${texts.join(",")}]`;
  return `{${names.map((name, index) => `${JSON.stringify(name)}:${texts[index]}`).join(",")}}`;
}

function objectText(value: ObjectValue, form: JsonForm): string {
  return value instanceof DuckDBDecimalValue
    ? form.wide(decimalText(value))
    : JSON.stringify(quotedText(value, form));
}

function quotedText(value: ObjectValue, form: JsonForm): string {
  if (value instanceof DuckDBDateValue) return dateText(value);
  if (value instanceof DuckDBTimeValue) return form.time(value);
  if (value instanceof DuckDBTimestampTZValue) return form.moment(value) + form.zone;
  if (isMoment(value)) return form.moment(value);
  if (value instanceof DuckDBIntervalValue) return form.interval(value);
  if (value instanceof DuckDBBlobValue) return form.binary(value);
  // Text, an enum's value, a UUID, bits and times with an offset: the engine's own text.
  return String(value);
}
