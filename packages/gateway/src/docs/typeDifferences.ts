/** Values that look different from an engine than from DuckDB, and why. A test of the engines' types holds this list complete and true. */

/** A protocol and its form. */
export type ClientForm =
  | "PostgreSQL text"
  | "PostgreSQL binary"
  | "MySQL text"
  | "MySQL prepared"
  | "Trino";

/** All of them. */
export const clientForms: readonly ClientForm[] = [
  "PostgreSQL text",
  "PostgreSQL binary",
  "MySQL text",
  "MySQL prepared",
  "Trino",
];

/** What differs, for each of the types in each of the forms. */
export interface TypeDifference {
  readonly engine: "ClickHouse" | "StarRocks" | "Trino" | "ADBC";
  /** The engine's own names. */
  readonly types: readonly string[];
  readonly clients: readonly ClientForm[];
  readonly reason: string;
}

const unitDigits =
  "as many digits behind the second as the type has; DuckDB counts its times and instants in microseconds";
const nestedText = "text on the MySQL wire, as StarRocks writes it";

/** The list. */
export const typeDifferences: readonly TypeDifference[] = [
  {
    engine: "ClickHouse",
    types: ["DateTime", "DateTime64(0)"],
    clients: ["MySQL text", "Trino"],
    reason: unitDigits,
  },
  {
    engine: "ClickHouse",
    types: ["DateTime64(1)", "DateTime64(3)"],
    clients: ["MySQL text", "MySQL prepared", "Trino"],
    reason: unitDigits,
  },
  {
    engine: "ClickHouse",
    types: ["DateTime64(9)"],
    clients: ["PostgreSQL text", "Trino"],
    reason: "an instant, with its zone behind it; DuckDB's nanoseconds are a wall clock",
  },
  {
    engine: "StarRocks",
    types: ["BOOLEAN"],
    clients: ["PostgreSQL text", "PostgreSQL binary", "Trino"],
    reason: "a `TINYINT` on the MySQL wire: `1`, not true",
  },
  {
    engine: "StarRocks",
    types: ["LARGEINT"],
    clients: ["PostgreSQL binary"],
    reason: "text on the MySQL wire, so no number of PostgreSQL's binary format",
  },
  {
    engine: "StarRocks",
    types: ["ARRAY"],
    clients: ["PostgreSQL text", "PostgreSQL binary"],
    reason: nestedText,
  },
  {
    engine: "StarRocks",
    types: ["ARRAY", "MAP", "STRUCT"],
    clients: ["Trino"],
    reason: nestedText,
  },
  {
    engine: "Trino",
    types: ["time(0)", "time(3)"],
    clients: ["MySQL text", "Trino"],
    reason: unitDigits,
  },
  {
    engine: "Trino",
    types: ["timestamp(3) with time zone"],
    clients: ["MySQL text", "MySQL prepared"],
    reason: unitDigits,
  },
  {
    engine: "Trino",
    types: ["timestamp(4)", "timestamp(3) with time zone"],
    clients: ["Trino"],
    reason: "Trino's own cells, untouched: its digits, and the zone that it wrote",
  },
];
