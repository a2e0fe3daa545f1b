/** `docs/reference/types.md`: what a value is on its way from an engine to each client. */
import { typeName } from "@gateway/core/type/name.ts";
import type { DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { layoutOf as clickHouseLayout } from "@gateway/engines/clickHouse/types.ts";
import { typeOfName as duckDbType } from "@gateway/engines/duckDb/types.ts";
import { namedTypes as starRocksTypes } from "@gateway/engines/starRocks/page/typeNames.ts";
import { typeOfName as trinoType } from "@gateway/engines/trino/types.ts";
import { arrowTypeText } from "@gateway/frontends/arrow/types.ts";
import { columnType as clickHouseTypeText } from "@gateway/frontends/clickhouse/value/types.ts";
import { mysqlTypeText } from "@gateway/frontends/mysql/value/types.ts";
import { postgresTypeText } from "@gateway/frontends/postgres/value/types.ts";
import { typeText as trinoTypeText } from "@gateway/frontends/trino/value/types.ts";
import { code, page, table } from "./markdown.ts";
import { typeDifferences } from "./typeDifferences.ts";

const introduction = [
  "Each engine's types become the neutral types of the first column, and those become the types of each",
  "client protocol. Where a protocol has no type that holds all values, the next wider one is used, and",
  "in the end text, so that no digit is lost. The exceptions are PostgreSQL's own: in its binary format",
  "times end at microseconds (in text they keep nine digits), and an instant beyond its range is its",
  "infinity. `decimal(12,2)` stands for every precision up to 38 and every scale; the list, the struct",
  "and the map for all of their kind.",
];

const int64: DataType = { kind: "integer", bits: 64, signed: true };
const text: DataType = { kind: "text" };
const units: readonly TimeUnit[] = ["s", "ms", "us", "ns"];

/** One example of each kind, every width and unit of those that have some. */
const neutralTypes: readonly DataType[] = [
  { kind: "null" },
  { kind: "boolean" },
  ...([8, 16, 32, 64, 128] as const).map(
    (bits) => ({ kind: "integer", bits, signed: true }) as const,
  ),
  ...([8, 16, 32, 64, 128] as const).map(
    (bits) => ({ kind: "integer", bits, signed: false }) as const,
  ),
  ...([32, 64] as const).map((bits) => ({ kind: "float", bits }) as const),
  { kind: "decimal", precision: 12, scale: 2 },
  text,
  { kind: "binary" },
  { kind: "date" },
  ...units.map((unit) => ({ kind: "time", unit }) as const),
  ...units.map((unit) => ({ kind: "timestamp", unit, zoned: false }) as const),
  ...units.map((unit) => ({ kind: "timestamp", unit, zoned: true }) as const),
  { kind: "interval" },
  { kind: "uuid" },
  { kind: "json" },
  { kind: "list", item: int64 },
  { kind: "list", item: { kind: "list", item: int64 } },
  { kind: "struct", fields: [{ name: "a", type: int64 }] },
  { kind: "map", key: text, value: int64 },
];

/** DuckDB's types by name. Source: `duckdb_types()`. */
const duckDbNames = [
  ['"NULL"', "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"],
  ["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL(12,2)"],
  ["VARCHAR", "ENUM('a', 'b')", "BIT", "BIGNUM", "TIME WITH TIME ZONE", "BLOB", "GEOMETRY"],
  ["DATE", "TIME", "TIME_NS", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"],
  ["TIMESTAMP WITH TIME ZONE", "INTERVAL", "UUID", "JSON", "BIGINT[]", "BIGINT[3]", "BIGINT[][]"],
  ["STRUCT(a BIGINT)", "MAP(VARCHAR, BIGINT)"],
].flat();

/** Source: ClickHouse's documentation of data types; `Nullable`, `LowCardinality` and `SimpleAggregateFunction` are what is in them. */
const clickHouseNames = [
  ["Nothing", "Bool", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32"],
  ["UInt64", "UInt128", "Float32", "BFloat16", "Float64", "Decimal(12, 2)", "String", "Int256"],
  ["UInt256", "Decimal(76, 2)", "Enum8('a' = 1)", "Enum16('a' = 1)", "IPv4", "IPv6", "Time"],
  ["Time64(6)", "FixedString(4)", "Date", "Date32", "DateTime", "DateTime64(3)", "DateTime64(6)"],
  ["DateTime64(9)", "IntervalDay", "UUID", "JSON", "Array(Int64)", "Array(Array(Int64))"],
  ["Tuple(a Int64)", "Map(String, Int64)"],
].flat();

/** Source: Trino's documentation of data types. */
const trinoNames = [
  ["unknown", "boolean", "tinyint", "smallint", "integer", "bigint", "real", "double"],
  ["decimal(12, 2)", "varchar", "char(5)", "time(6) with time zone", "timestamp(12)", "ipaddress"],
  ["HyperLogLog", "varbinary", "date", "time(0)", "time(3)", "time(6)", "time(9)", "timestamp(0)"],
  ["timestamp(3)", "timestamp(6)", "timestamp(9)", "timestamp(0) with time zone"],
  ["timestamp(3) with time zone", "timestamp(6) with time zone", "timestamp(9) with time zone"],
  ["interval year to month", "interval day to second", "uuid", "json", "array(bigint)"],
  ["array(array(bigint))", "row(a bigint)", "map(varchar, bigint)"],
].flat();

/** Each engine's names with what they are here. ADBC drivers bring Arrow's types, not names. */
const sources: readonly (readonly (readonly [name: string, type: DataType])[])[] = [
  duckDbNames.map((name) => [name, duckDbType(name)]),
  clickHouseNames.map((name) => [name, clickHouseLayout(name)?.type ?? text]),
  starRocksTypes,
  trinoNames.map((name) => [name, trinoType(name)]),
];

const unions = [
  "DuckDB's `UNION` becomes a struct of the name of the member that is set (`tag`) and one field for",
  "each member. A union of its first member and a NULL is NULL: the form in which results leave DuckDB",
  "does not tell the two apart.",
];

const differences = [
  "The same value looks the same from every engine, in every protocol and form. A test asks each engine",
  "for one value of each of its types and compares it with DuckDB's; these are the cells that differ.",
];

/** The page. */
export function typesPage(): string {
  const rows = neutralTypes.map((type) => [
    code(typeName(type)),
    ...sources.map((names) => namesOf(names, type)),
    code(postgresTypeText(type)),
    code(mysqlTypeText(type)),
    code(trinoTypeText(type)),
    code(arrowTypeText(type)),
    code(clickHouseTypeText({ type, nullable: false })),
  ]);
  const engines = ["From DuckDB", "From ClickHouse", "From StarRocks", "From Trino"];
  return page([
    ["# Types"],
    introduction,
    table(
      ["Neutral", ...engines, "PostgreSQL", "MySQL", "Trino", "Flight SQL", "ClickHouse"],
      rows,
    ),
    unions,
    ["## Values that differ between engines"],
    differences,
    table(
      ["Engine", "Types", "Clients", "Why"],
      typeDifferences.map(({ engine, types, clients, reason }) => [
        engine,
        types.map(code).join(", "),
        clients.join(", "),
        reason,
      ]),
    ),
  ]);
}

function namesOf(
  source: readonly (readonly [name: string, type: DataType])[],
  type: DataType,
): string {
  const names = source.filter(([, found]) => typeName(found) === typeName(type));
  return names.map(([name]) => code(name)).join(", ") || "–";
}
