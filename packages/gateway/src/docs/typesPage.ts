/** `docs/reference/types.md`: what a value is on its way from an engine to each client. */
import { typeName } from "@gateway/core/type/name.ts";
import type { DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { typeOfName as duckDbType } from "@gateway/engines/duckDb/types.ts";
import { mysqlTypeText } from "@gateway/frontends/mysql/types.ts";
import { postgresTypeText } from "@gateway/frontends/postgres/types.ts";
import { typeText as trinoTypeText } from "@gateway/frontends/trino/types.ts";
import { code, page, table } from "./markdown.ts";

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

const unions = [
  "DuckDB's `UNION` becomes a struct of the name of the member that is set (`tag`) and one field for",
  "each member.",
];

/** The page. */
export function typesPage(): string {
  const rows = neutralTypes.map((type) => [
    code(typeName(type)),
    fromDuckDb(type),
    code(postgresTypeText(type)),
    code(mysqlTypeText(type)),
    code(trinoTypeText(type)),
  ]);
  return page([
    ["# Types"],
    introduction,
    table(["Neutral", "From DuckDB", "PostgreSQL", "MySQL", "Trino"], rows),
    unions,
  ]);
}

function fromDuckDb(type: DataType): string {
  const names = duckDbNames.filter((name) => typeName(duckDbType(name)) === typeName(type));
  return names.map((name) => code(name)).join(", ") || "–";
}
