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
};

/** The neutral type of a name in an information schema. What it does not know is text. */
export function typeOfName(name: string): DataType {
  const upper = name.toUpperCase();
  const decimal = /^(?:DECIMAL|NUMERIC|NUMBER)\((\d+), ?(\d+)\)$/.exec(upper);
  if (decimal !== null) {
    return { kind: "decimal", precision: Number(decimal[1]), scale: Number(decimal[2]) };
  }
  return plainTypes[upper] ?? text;
}
