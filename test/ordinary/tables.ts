/**
 * The tables that ordinary queries are asked of: sizes around every border of the engine and of the way
 * here (64 arrays of a block, 2,048 rows of a vector), one column of each kind, NULLs in all of them.
 */

/** How a column's cells are compared. */
export type Kind =
  | "int"
  | "double"
  | "decimal"
  | "text"
  | "date"
  | "timestamp"
  | "boolean"
  | "uuid"
  | "huge";

export interface TableColumn {
  readonly name: string;
  readonly kind: Kind;
}

export const columns: readonly TableColumn[] = [
  { name: "id", kind: "int" },
  { name: "device", kind: "int" },
  { name: "small", kind: "int" },
  { name: "amount", kind: "decimal" },
  { name: "label", kind: "text" },
  { name: "day", kind: "date" },
  { name: "at", kind: "timestamp" },
  { name: "flag", kind: "boolean" },
  { name: "mark", kind: "uuid" },
  { name: "big", kind: "huge" },
];

const sizes = [0, 1, 2, 63, 64, 65, 100, 1_000, 2_047, 2_048, 2_049, 5_000] as const;

/** Names with their rows. `events` is long enough for filters of one row in each 2,048. */
export const tables: readonly { readonly name: string; readonly rows: number }[] = [
  ...sizes.map((rows) => ({ name: `t${rows}`, rows })),
  { name: "events", rows: 300_000 },
];

/** Makes them; the same text gives the same rows everywhere. */
export const tableStatements: readonly string[] = tables.map(
  ({ name, rows }) => `create table ${name} as select
    i::bigint as id,
    ((i * 7919) % 2048)::integer as device,
    case when i % 7 = 3 then null else (i % 100 - 50)::tinyint end as small,
    case when i % 11 = 5 then null else (i * 37 % 100000)::decimal(12, 2) / 8 end::decimal(14, 3) as amount,
    case when i % 13 = 1 then null when i % 97 = 0 then repeat('long ä€😀 ', 40 + i % 60)
      else 'row ' || (i % 500) end as label,
    case when i % 17 = 2 then null else date '1999-12-25' + (i % 20000)::integer end as day,
    case when i % 19 = 4 then null
      else timestamp '2001-02-03 04:05:06' + to_microseconds((i * 1000003) % 100000000000) end as at,
    case when i % 5 = 0 then null else i % 3 = 0 end as flag,
    case when i % 23 = 6 then null
      else ('00000000-0000-4000-8000-' || lpad((i % 1000000)::varchar, 12, '0'))::uuid end as mark,
    case when i % 29 = 7 then null else i::hugeint * 1000000000000000000000 - 5 end as big
    from range(${rows}) r(i)`,
);
