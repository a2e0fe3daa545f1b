/** Names of types: what a client is shown as a column's type, and what a name in a listing stands for. */
import { typeName } from "@gateway/core/type/name.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";

/** Columns with a type's name in place of the driver's Arrow format; a driver's own name, such as `numeric`, is kept. */
export function withTypeNames(columns: readonly Column[]): readonly Column[] {
  return columns.map((column) => {
    const own = /^[a-z][a-z0-9_]{2,}$/i.test(column.engineType ?? "")
      ? column.engineType
      : undefined;
    return { ...column, engineType: (own ?? typeName(column.type)).toUpperCase() };
  });
}

const text: DataType = { kind: "text" };
const integer = (bits: 8 | 16 | 32 | 64): DataType => ({ kind: "integer", bits, signed: true });
const timestamp = (zoned: boolean): DataType => ({ kind: "timestamp", unit: "us", zoned });

const plainTypes: Readonly<Record<string, DataType>> = {
  BOOLEAN: { kind: "boolean" },
  BOOL: { kind: "boolean" },
  TINYINT: integer(8),
  SMALLINT: integer(16),
  INTEGER: integer(32),
  INT: integer(32),
  BIGINT: integer(64),
  INT2: integer(16),
  INT4: integer(32),
  INT8: integer(64),
  FLOAT4: { kind: "float", bits: 32 },
  FLOAT8: { kind: "float", bits: 64 },
  REAL: { kind: "float", bits: 32 },
  FLOAT: { kind: "float", bits: 64 },
  DOUBLE: { kind: "float", bits: 64 },
  "DOUBLE PRECISION": { kind: "float", bits: 64 },
  DATE: { kind: "date" },
  TIME: { kind: "time", unit: "us" },
  "TIME WITHOUT TIME ZONE": { kind: "time", unit: "us" },
  TIMESTAMP: timestamp(false),
  "TIMESTAMP WITHOUT TIME ZONE": timestamp(false),
  "TIMESTAMP WITH TIME ZONE": timestamp(true),
  TIMESTAMPTZ: timestamp(true),
  TIMESTAMP_NTZ: timestamp(false),
  TIMESTAMP_LTZ: timestamp(true),
  TIMESTAMP_TZ: timestamp(true),
  INTERVAL: { kind: "interval" },
  UUID: { kind: "uuid" },
  JSON: { kind: "json" },
  JSONB: { kind: "json" },
  BLOB: { kind: "binary" },
  BYTEA: { kind: "binary" },
  BINARY: { kind: "binary" },
  VARBINARY: { kind: "binary" },
};

/** Names of text, with a length or without. */
const textName =
  /^(?:TEXT|STRING|N?VARCHAR|N?CHAR|BPCHAR|NAME|CHARACTER(?: VARYING)?)(?:\(\d+\))?$/;

/** The neutral type of a name in an information schema. What it does not know is text. */
export function typeOfName(name: string): DataType {
  return knownTypeOf(name) ?? text;
}

/** The neutral type that a name certainly stands for; undefined for every other name. */
export function knownTypeOf(name: string): DataType | undefined {
  const upper = name.toUpperCase();
  const decimal = /^(?:DECIMAL|NUMERIC|NUMBER)\((\d+), ?(\d+)\)$/.exec(upper);
  if (decimal !== null) return decimalOf(Number(decimal[1]), Number(decimal[2]));
  return plainTypes[upper] ?? (textName.test(upper) ? text : undefined);
}

/** The neutral type of a number in the X/Open catalogue that drivers use; undefined where it says too little. */
export function knownTypeOfCode(
  code: number,
  { size, digits }: { readonly size: number | undefined; readonly digits: number | undefined },
): DataType | undefined {
  if (code !== 2 && code !== 3) return typesOfCodes[code];
  return size === undefined || digits === undefined ? undefined : decimalOf(size, digits);
}

/** Timestamps are left out: the number does not say whether they are instants. */
const typesOfCodes: Readonly<Record<number, DataType>> = {
  [-10]: text,
  [-9]: text,
  [-8]: text,
  [-7]: { kind: "boolean" },
  [-6]: integer(8),
  [-5]: integer(64),
  [-4]: { kind: "binary" },
  [-3]: { kind: "binary" },
  [-2]: { kind: "binary" },
  [-1]: text,
  1: text,
  4: integer(32),
  5: integer(16),
  6: { kind: "float", bits: 64 },
  7: { kind: "float", bits: 32 },
  8: { kind: "float", bits: 64 },
  12: text,
  16: { kind: "boolean" },
  91: { kind: "date" },
  92: { kind: "time", unit: "us" },
};

function decimalOf(precision: number, scale: number): DataType | undefined {
  const isOurs = precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision;
  return isOurs ? { kind: "decimal", precision, scale } : undefined;
}
