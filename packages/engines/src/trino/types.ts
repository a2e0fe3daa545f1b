/**
 * Trino's types and the neutral ones, both ways.
 *
 * What has no neutral type is text, as Trino writes it: `time with time zone`, fractions beyond
 * nanoseconds, `ipaddress`, sketches and whatever a newer version adds.
 */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { DataType, Field, TimeUnit } from "@gateway/core/type/type.ts";

/** Nested deeper than this a type is text. */
const depthMax = 32;
const text: DataType = { kind: "text" };
/** Digits behind the second of a type without a precision. */
const precisionDefault = 3;

/** The neutral type of a name as Trino writes it: `decimal(12, 2)`, `row(a bigint, "b c" varchar(3))`. Never fails. */
export const typeOfName = remembered(readType, { textsMax: 256, lengthMax: 256 });

function readType(name: string): DataType {
  const reader = new NameReader(name);
  const type = reader.type(0);
  return type !== undefined && reader.atEnd() ? type : text;
}

class NameReader {
  readonly #name: string;
  #at = 0;

  constructor(name: string) {
    this.#name = name;
  }

  atEnd(): boolean {
    return this.#name.slice(this.#at).trim() === "";
  }

  /** A type, and what follows its name: arguments, `with time zone`. Undefined when there is none. */
  type(depth: number): DataType | undefined {
    const word = this.#match(/\s*([A-Za-z_][A-Za-z0-9_]*)/y)?.toLowerCase();
    if (word === undefined || depth > depthMax) return undefined;
    switch (word) {
      case "array":
        return this.#array(depth);
      case "map":
        return this.#map(depth);
      case "row":
        return this.#row(depth);
      case "interval":
        this.#match(/(\s+[A-Za-z]+\s+to\s+[A-Za-z]+)/iy);
        return { kind: "interval" };
      case "double":
        this.#match(/(\s+precision)/iy);
        return { kind: "float", bits: 64 };
      default:
        return this.#scalar(word);
    }
  }

  #scalar(word: string): DataType {
    const first = this.#numbers();
    const zoned = this.#match(/(\s+with(?:out)?\s+time\s+zone)/iy)?.toLowerCase();
    return scalarOf(word, first, zoned?.includes("without") === false);
  }

  /** `(12, 2)`. Arguments of another kind belong to types that are text. */
  #numbers(): readonly number[] {
    const list = this.#match(/\s*(\([^()]*(?:\([^()]*\)[^()]*)*\))/y);
    return list === undefined ? [] : list.slice(1, -1).split(",").map(Number);
  }

  #array(depth: number): DataType | undefined {
    if (!this.#mark("(")) return undefined;
    const item = this.type(depth + 1);
    return item !== undefined && this.#mark(")") ? { kind: "list", item } : undefined;
  }

  #map(depth: number): DataType | undefined {
    if (!this.#mark("(")) return undefined;
    const key = this.type(depth + 1);
    if (key === undefined || !this.#mark(",")) return undefined;
    const value = this.type(depth + 1);
    return value !== undefined && this.#mark(")") ? { kind: "map", key, value } : undefined;
  }

  #row(depth: number): DataType | undefined {
    if (!this.#mark("(")) return undefined;
    const fields: Field[] = [];
    do {
      const field = this.#field(depth);
      if (field === undefined) return undefined;
      fields.push(field);
    } while (this.#mark(","));
    return this.#mark(")") ? { kind: "struct", fields } : undefined;
  }

  /** `name type`, or a type alone. */
  #field(depth: number): Field | undefined {
    const quoted = this.#match(/\s*"((?:[^"]|"")*)"/y);
    if (quoted !== undefined) {
      const type = this.type(depth + 1);
      return type === undefined ? undefined : { name: quoted.replaceAll('""', '"'), type };
    }
    const from = this.#at;
    const name = this.#match(/\s*([^\s,()"]+)(?=\s+[A-Za-z_])/y);
    if (name !== undefined && !this.#beginsType(name)) {
      const type = this.type(depth + 1);
      if (type !== undefined) return { name, type };
    }
    this.#at = from;
    const type = this.type(depth + 1);
    return type === undefined ? undefined : { name: "", type };
  }

  /** `interval day to second` and `double precision` hold a space without a name before it. */
  #beginsType(word: string): boolean {
    const rest = this.#name.slice(this.#at);
    if (/^interval$/i.test(word)) return /^\s+(day|year)\s+to\s/i.test(rest);
    if (/^double$/i.test(word)) return /^\s+precision\s*[,)]/i.test(rest);
    return /^(time|timestamp)$/i.test(word) && /^\s+with/i.test(rest);
  }

  #mark(mark: string): boolean {
    const rest = /\s*/y;
    rest.lastIndex = this.#at;
    const at = this.#at + (rest.exec(this.#name)?.[0].length ?? 0);
    if (this.#name[at] !== mark) return false;
    this.#at = at + 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#name);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found[1];
  }
}

function scalarOf(word: string, numbers: readonly number[], zoned: boolean): DataType {
  const [first, second] = numbers;
  switch (word) {
    case "decimal":
      return decimalOf(first ?? 38, second ?? 0);
    case "time":
      return zoned ? text : momentOf(first, (unit) => ({ kind: "time", unit }));
    case "timestamp":
      return momentOf(first, (unit) => ({ kind: "timestamp", unit, zoned }));
    default:
      return simple.get(word) ?? text;
  }
}

const simple: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ["boolean", { kind: "boolean" }],
  ["tinyint", { kind: "integer", bits: 8, signed: true }],
  ["smallint", { kind: "integer", bits: 16, signed: true }],
  ["integer", { kind: "integer", bits: 32, signed: true }],
  ["int", { kind: "integer", bits: 32, signed: true }],
  ["bigint", { kind: "integer", bits: 64, signed: true }],
  ["real", { kind: "float", bits: 32 }],
  ["varbinary", { kind: "binary" }],
  ["date", { kind: "date" }],
  ["uuid", { kind: "uuid" }],
  ["json", { kind: "json" }],
  ["unknown", { kind: "null" }],
]);

function decimalOf(precision: number, scale: number): DataType {
  const known = precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision;
  return known ? { kind: "decimal", precision, scale } : text;
}

/** The narrowest unit that holds the digits; more than nine have none. */
function momentOf(digits: number | undefined, make: (unit: TimeUnit) => DataType): DataType {
  const count = digits ?? precisionDefault;
  for (const unit of ["s", "ms", "us", "ns"] as const) {
    if (count <= fractionDigits[unit]) return make(unit);
  }
  return text;
}

/** Trino's name of the type that holds every value of a neutral one, for casts. */
export function engineTypeOf(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "varchar";
    case "boolean":
    case "date":
    case "uuid":
    case "json":
      return type.kind;
    case "integer":
      return integerName(type.bits, type.signed);
    case "float":
      return type.bits === 32 ? "real" : "double";
    case "decimal":
      return `decimal(${type.precision}, ${type.scale})`;
    case "text":
      return "varchar";
    case "binary":
      return "varbinary";
    case "time":
      return `time(${fractionDigits[type.unit]})`;
    case "timestamp":
      return `timestamp(${fractionDigits[type.unit]})${type.zoned ? " with time zone" : ""}`;
    case "interval":
      return "interval day to second";
    case "list":
      return `array(${engineTypeOf(type.item)})`;
    case "map":
      return `map(${engineTypeOf(type.key)}, ${engineTypeOf(type.value)})`;
    case "struct":
      return `row(${type.fields.map(({ name, type: field }) => `${fieldName(name)}${engineTypeOf(field)}`).join(", ")})`;
  }
}

/** Signed integers as they are, unsigned ones one step wider. */
function integerName(bits: 8 | 16 | 32 | 64 | 128, signed: boolean): string {
  if (bits === 128) return "decimal(38, 0)";
  if (bits === 64) return signed ? "bigint" : "decimal(20, 0)";
  const wide = signed ? bits : bits * 2;
  return wide === 8 ? "tinyint" : wide === 16 ? "smallint" : wide === 32 ? "integer" : "bigint";
}

function fieldName(name: string): string {
  return name === "" ? "" : `"${name.replaceAll('"', '""')}" `;
}
