/** The types of columns that are made for rows that a client brings, in the words of the engines that take such rows. */
import type { DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { unreachable } from "@gateway/core/result.ts";

/** The dialects that there are words for. */
export type IngestDialect = "duckdb" | "postgres";

/** The words for the types that differ; a type that is missing in PostgreSQL becomes the next that holds its values. */
interface Words {
  readonly signed: Readonly<Record<8 | 16 | 32 | 64 | 128, string>>;
  readonly unsigned: Readonly<Record<8 | 16 | 32 | 64 | 128, string>>;
  readonly float: Readonly<Record<32 | 64, string>>;
  readonly text: string;
  readonly binary: string;
  readonly time: Readonly<Record<TimeUnit, string>>;
  readonly timestamp: Readonly<Record<TimeUnit, string>>;
}

const words = {
  duckdb: {
    signed: { 8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "HUGEINT" },
    unsigned: { 8: "UTINYINT", 16: "USMALLINT", 32: "UINTEGER", 64: "UBIGINT", 128: "UHUGEINT" },
    float: { 32: "FLOAT", 64: "DOUBLE" },
    text: "VARCHAR",
    binary: "BLOB",
    time: { s: "TIME", ms: "TIME", us: "TIME", ns: "TIME_NS" },
    timestamp: { s: "TIMESTAMP_S", ms: "TIMESTAMP_MS", us: "TIMESTAMP", ns: "TIMESTAMP_NS" },
  },
  postgres: {
    signed: { 8: "SMALLINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "NUMERIC" },
    unsigned: { 8: "SMALLINT", 16: "INTEGER", 32: "BIGINT", 64: "NUMERIC", 128: "NUMERIC" },
    float: { 32: "REAL", 64: "DOUBLE PRECISION" },
    text: "TEXT",
    binary: "BYTEA",
    time: { s: "TIME", ms: "TIME", us: "TIME", ns: "TIME" },
    timestamp: { s: "TIMESTAMP", ms: "TIMESTAMP", us: "TIMESTAMP", ns: "TIMESTAMP" },
  },
} as const satisfies Record<IngestDialect, Words>;

/** Whether the column's values have nanoseconds that the type has no place for, and would be rounded. */
export function isRounded(type: DataType, dialect: IngestDialect): boolean {
  switch (type.kind) {
    case "interval":
      return true;
    case "time":
      return type.unit === "ns" && dialect === "postgres";
    case "timestamp":
      return type.unit === "ns" && (dialect === "postgres" || type.zoned);
    default:
      return false;
  }
}

/** The type of a column; undefined for one that no value of a parameter has. A column without any value is of text. */
export function sqlTypeOf(type: DataType, dialect: IngestDialect): string | undefined {
  const own = words[dialect];
  switch (type.kind) {
    case "boolean":
      return "BOOLEAN";
    case "integer":
      return own[type.signed ? "signed" : "unsigned"][type.bits];
    case "float":
      return own.float[type.bits];
    case "decimal":
      return `${dialect === "duckdb" ? "DECIMAL" : "NUMERIC"}(${type.precision},${type.scale})`;
    case "null":
    case "text":
      return own.text;
    case "binary":
      return own.binary;
    case "date":
      return "DATE";
    case "time":
      return own.time[type.unit];
    case "timestamp":
      return type.zoned ? "TIMESTAMP WITH TIME ZONE" : own.timestamp[type.unit];
    case "interval":
      return "INTERVAL";
    case "uuid":
      return "UUID";
    case "json":
      return "JSON";
    case "list":
    case "struct":
    case "map":
      return undefined;
    default:
      return unreachable(type);
  }
}
