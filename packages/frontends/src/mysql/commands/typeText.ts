/**
 * What a column's type is called in listings: MySQL's names, which clients look up in their own tables.
 * Engines tell types as text in `information_schema`. An unknown type becomes `text`, because every value
 * can be read as that.
 */
import type { DataType } from "@gateway/core/type/type.ts";
import { isLike } from "./filter.ts";

interface TypeName {
  /** A LIKE pattern over the engine's name in upper case. The first that fits wins. */
  readonly like: string;
  /** As in `DATA_TYPE`. */
  readonly data: string;
  /** As in `COLUMN_TYPE`; undefined for the engine's own text in lower case. */
  readonly column: string | undefined;
}

const name = (like: string, data: string, column: string | undefined = data): TypeName => ({
  like,
  data,
  column,
});

const typeNames: readonly TypeName[] = [
  name("%[]", "json"),
  name("ARRAY%", "json"),
  name("STRUCT%", "json"),
  name("ROW(%", "json"),
  name("MAP%", "json"),
  name("JSON%", "json"),
  name("BOOL%", "tinyint", "tinyint(1)"),
  name("TINYINT%", "tinyint"),
  name("UTINYINT", "tinyint", "tinyint unsigned"),
  name("SMALLINT%", "smallint"),
  name("USMALLINT", "smallint", "smallint unsigned"),
  name("INTERVAL%", "varchar", "varchar(255)"),
  name("INT", "int"),
  name("INTEGER%", "int"),
  name("UINTEGER", "int", "int unsigned"),
  name("BIGINT%", "bigint"),
  name("UBIGINT", "bigint", "bigint unsigned"),
  name("HUGEINT", "decimal", "decimal(39,0)"),
  name("UHUGEINT", "decimal", "decimal(39,0)"),
  name("LARGEINT%", "decimal", "decimal(39,0)"),
  { like: "DECIMAL(%", data: "decimal", column: undefined },
  name("DECIMAL%", "decimal", "decimal(18,3)"),
  name("NUMERIC%", "decimal", "decimal(38,9)"),
  name("FLOAT%", "float"),
  name("REAL", "float"),
  name("DOUBLE%", "double"),
  name("TIMESTAMP%NS", "varchar", "varchar(29)"),
  name("TIMESTAMP%WITH TIME ZONE", "timestamp", "timestamp(6)"),
  name("TIMESTAMPTZ", "timestamp", "timestamp(6)"),
  name("TIMESTAMP%", "datetime", "datetime(6)"),
  name("DATETIME%", "datetime", "datetime(6)"),
  name("DATE", "date"),
  name("TIME%", "time", "time(6)"),
  name("UUID", "char", "char(36)"),
  name("BLOB", "longblob"),
  name("BINARY%", "longblob"),
  name("VARBINARY%", "longblob"),
  name("BYTEA", "longblob"),
  { like: "VARCHAR(%", data: "varchar", column: undefined },
  { like: "CHAR(%", data: "char", column: undefined },
];

/** Everything else, and text without a length. */
const otherwise = "text";

/** `COLUMN_TYPE` of an engine's type. */
export function columnTypeText(engineType: string): string {
  const upper = engineType.toUpperCase();
  const found = typeNames.find(({ like }) => isLike(upper, like));
  if (found === undefined) return otherwise;
  return found.column ?? engineType.toLowerCase();
}

/** The same of a neutral type. */
export function columnTypeOf(type: DataType): string {
  switch (type.kind) {
    case "boolean":
      return "tinyint(1)";
    case "integer":
      return `${integers[type.bits]}${type.signed || type.bits === 128 ? "" : " unsigned"}`;
    case "float":
      return type.bits === 32 ? "float" : "double";
    case "decimal":
      return `decimal(${type.precision},${type.scale})`;
    case "date":
      return "date";
    case "time":
    case "timestamp":
      // MySQL's types end at microseconds.
      if (type.unit === "ns") return "varchar(29)";
      if (type.kind === "time") return "time(6)";
      return type.zoned ? "timestamp(6)" : "datetime(6)";
    case "interval":
      return "varchar(255)";
    case "uuid":
      return "char(36)";
    case "binary":
      return "longblob";
    case "json":
    case "list":
    case "struct":
    case "map":
      return "json";
    case "text":
    case "null":
      return otherwise;
  }
}

const integers = {
  8: "tinyint",
  16: "smallint",
  32: "int",
  64: "bigint",
  128: "decimal(39,0)",
} as const satisfies Record<Extract<DataType, { kind: "integer" }>["bits"], string>;

/** True for types whose columns have a character set. */
export function isTextType(columnType: string): boolean {
  return /^(?:text|varchar|char)/.test(columnType);
}

/** The same as SQL over the engine's column `data_type`: for `DATA_TYPE`, or for `COLUMN_TYPE`. */
export function typeTextSql(which: "data" | "column"): string {
  const cases = typeNames.map(({ like, data, column }) => {
    const text = which === "data" ? `'${data}'` : column === undefined ? lower : `'${column}'`;
    return `WHEN ${upper} LIKE '${like}' THEN ${text}`;
  });
  return `CASE ${cases.join(" ")} ELSE '${otherwise}' END`;
}

const upper = "UPPER(data_type)";
const lower = "LOWER(data_type)";
