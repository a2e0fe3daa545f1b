/**
 * What each protocol shows of a value of the engine: docs/reference/types.md says the type, PostgreSQL's,
 * MySQL's and Trino's documents say how a value of it looks. `null` is NULL.
 */
import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimeValue,
  DuckDBTypeId,
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBType,
  type DuckDBValue,
} from "@duckdb/node-api";
import { isFloat, jsonText, type JsonForm } from "./json.ts";
import {
  base64Text,
  clockText,
  dateText,
  decimalText,
  floatText,
  hexText,
  intervalText,
  isMoment,
  momentText,
  timeText,
  type FloatRule,
  type Fraction,
} from "./parts.ts";

/** A cell as a client has it, as text; null is NULL. */
export type Cell = string | null;

/** MySQL's prepared rows are binary, and what a client makes of them has a form of its own. */
export type FormName = "postgres" | "mysql" | "mysqlPrepared" | "trino";

type Form = (type: DuckDBType, value: NonNullable<DuckDBValue>) => string;

/** The cell of a value. */
export function cellOf(form: FormName, type: DuckDBType, value: DuckDBValue): Cell {
  return value === null ? null : forms[form](type, value);
}

/** `1e+05`: PostgreSQL's shortest form takes an exponent below 10^-4, and from 10^15 or 10^6 on. */
const postgresFloats: Readonly<Record<32 | 64, FloatRule>> = {
  32: { from: -4, below: 6, exponent: twoDigits },
  64: { from: -4, below: 15, exponent: twoDigits },
};
/** MySQL's `my_gcvt`. */
const mysqlFloats: FloatRule = { from: -15, below: 15, exponent: (at) => `e${at}` };
/** ECMA-262, Number::toString, as JSON's writers have it. */
const trinoFloats: FloatRule = {
  from: -6,
  below: 21,
  exponent: (at) => `e${at < 0 ? "" : "+"}${at}`,
};

function twoDigits(exponent: number): string {
  return `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

const postgresJson: JsonForm = {
  float: (value, bits) => floatText(value, bits, postgresFloats[bits]),
  wide: (digits) => digits,
  binary: (value) => `\\x${hexText(value)}`,
  time: (value) => timeText(value, "trimmed"),
  moment: (value) => momentText(value, "T", "trimmed"),
  zone: "Z",
  interval: intervalText,
  structs: "object",
  documents: "value",
};

const mysqlJson: JsonForm = {
  float: (value, bits) => floatText(value, bits, mysqlFloats),
  wide: (digits) => digits,
  binary: base64Text,
  time: (value) => timeText(value, "fixed"),
  moment: (value) => momentText(value, " ", "fixed"),
  zone: "",
  interval: intervalText,
  structs: "object",
  documents: "value",
};

const trinoJson: JsonForm = {
  float: (value, bits) => pointed(floatText(value, bits, trinoFloats)),
  wide: (digits) => `"${digits}"`,
  binary: base64Text,
  time: (value) => timeText(value, "fixed"),
  moment: (value) => momentText(value, " ", "fixed"),
  zone: " UTC",
  interval: trinoInterval,
  structs: "array",
  documents: "string",
};

const forms: Readonly<Record<FormName, Form>> = {
  postgres: postgresCell,
  mysql: (type, value) => mysqlCell(type, value, "fixed"),
  mysqlPrepared: mysqlPreparedCell,
  trino: (type, value) => jsonText(type, value, trinoJson),
};

function postgresCell(type: DuckDBType, value: NonNullable<DuckDBValue>): string {
  if (typeof value === "string" || typeof value === "bigint") return String(value);
  if (typeof value === "boolean") return value ? "t" : "f";
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    const { valueType } = type as DuckDBListType | DuckDBArrayType;
    // An array of PostgreSQL is a rectangle of scalars; the rest is JSON.
    if (isNested(valueType)) return jsonText(type, value, postgresJson);
    return `{${value.items.map((item) => arrayItem(valueType, item)).join(",")}}`;
  }
  if (isNested(type)) return jsonText(type, value, postgresJson);
  if (typeof value === "number" && isFloat(type)) return postgresJson.float(value, bitsOf(type));
  if (value instanceof DuckDBDecimalValue) return decimalText(value);
  if (value instanceof DuckDBBlobValue) return `\\x${hexText(value)}`;
  if (value instanceof DuckDBDateValue) return dateText(value);
  if (value instanceof DuckDBTimeValue) return timeText(value, "trimmed");
  if (value instanceof DuckDBTimestampTZValue) return `${momentText(value, " ", "trimmed")}+00`;
  if (isMoment(value)) return momentText(value, " ", "trimmed");
  if (value instanceof DuckDBIntervalValue) return intervalText(value);
  // An enum's value, a UUID, bits and times with an offset: the engine's own text.
  return String(value);
}

/** PostgreSQL's `array_out`: quotes around what would be read as something else. */
function arrayItem(type: DuckDBType, item: DuckDBValue): string {
  if (item === null) return "NULL";
  const text = postgresCell(type, item);
  if (text !== "" && !/^null$/i.test(text) && !/[\s",\\{}]/.test(text)) return text;
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function mysqlCell(type: DuckDBType, value: NonNullable<DuckDBValue>, moments: Fraction): string {
  if (typeof value === "string" || typeof value === "bigint") return String(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  if (isNested(type)) return jsonText(type, value, mysqlJson);
  if (typeof value === "number" && isFloat(type)) return mysqlJson.float(value, bitsOf(type));
  if (value instanceof DuckDBDecimalValue) return decimalText(value);
  // The bytes themselves, which are compared by their digits.
  if (value instanceof DuckDBBlobValue) return hexText(value);
  if (value instanceof DuckDBDateValue) return dateText(value);
  if (value instanceof DuckDBTimeValue) return timeText(value, "fixed");
  if (isMoment(value)) return momentText(value, " ", moments);
  if (value instanceof DuckDBIntervalValue) return intervalText(value);
  return String(value);
}

/** Floats are numbers, and a fraction of zeros is not sent. Nanoseconds are text, as without a prepared statement. */
function mysqlPreparedCell(type: DuckDBType, value: NonNullable<DuckDBValue>): string {
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof DuckDBTimeValue) return timeText(value, "trimmed");
  const text = value instanceof DuckDBTimestampNanosecondsValue;
  return mysqlCell(type, value, text ? "fixed" : "whole");
}

function isNested({ typeId }: DuckDBType): boolean {
  return nestedTypes.has(typeId);
}

const nestedTypes: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.LIST,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.UNION,
]);

function bitsOf({ typeId }: DuckDBType): 32 | 64 {
  return typeId === DuckDBTypeId.FLOAT ? 32 : 64;
}

/** Trino's clients take a float for an integer otherwise. */
function pointed(text: string): string {
  return /[.eN]|Inf/.test(text) ? text : `${text}.0`;
}

/** `1-2` or `3 04:05:06.789`, and ISO 8601 where neither holds all parts. */
function trinoInterval({ months, days, micros }: DuckDBIntervalValue): string {
  const sameSign = (days >= 0 && micros >= 0n) || (days <= 0 && micros <= 0n);
  if (months === 0 && sameSign) {
    const sign = days < 0 || micros < 0n ? "-" : "";
    return `${sign}${Math.abs(days)} ${clockText(micros < 0n ? -micros : micros, "trimmed")}`;
  }
  if (days === 0 && micros === 0n) {
    const ahead = Math.abs(months);
    return `${months < 0 ? "-" : ""}${Math.floor(ahead / 12)}-${ahead % 12}`;
  }
  return isoInterval(months, days, micros);
}

function isoInterval(months: number, days: number, micros: bigint): string {
  const part = (count: number | bigint, unit: string): string =>
    Number(count) === 0 ? "" : `${count}${unit}`;
  const date = part(Math.trunc(months / 12), "Y") + part(months % 12, "M") + part(days, "D");
  const seconds = Number(micros % 60_000_000n) / 1e6;
  const clock =
    part(micros / 3_600_000_000n, "H") +
    part((micros / 60_000_000n) % 60n, "M") +
    (seconds === 0 ? "" : `${seconds.toFixed(6).replace(/\.?0+$/, "")}S`);
  return `P${date}${clock === "" ? "" : `T${clock}`}`;
}
