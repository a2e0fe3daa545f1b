/** `CommandGetXdbcTypeInfo`: the types that a column of a result may have, as ODBC and JDBC number them. */
import { ok } from "@gateway/core/result.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import { madeSource, type Source } from "../run/source.ts";

const text: DataType = { kind: "text" };
const integer: DataType = { kind: "integer", bits: 32, signed: true };
const boolean: DataType = { kind: "boolean" };

const columns: readonly Column[] = [
  columnOf("type_name", text, false),
  columnOf("data_type", integer, false),
  columnOf("column_size", integer),
  columnOf("literal_prefix", text),
  columnOf("literal_suffix", text),
  columnOf("create_params", { kind: "list", item: text }),
  columnOf("nullable", integer, false),
  columnOf("case_sensitive", boolean, false),
  columnOf("searchable", integer, false),
  columnOf("unsigned_attribute", boolean),
  columnOf("fixed_prec_scale", boolean, false),
  columnOf("auto_increment", boolean),
  columnOf("local_type_name", text),
  columnOf("minimum_scale", integer),
  columnOf("maximum_scale", integer),
  columnOf("sql_data_type", integer, false),
  columnOf("datetime_subcode", integer),
  columnOf("num_prec_radix", integer),
  columnOf("interval_precision", integer),
];

interface TypeRow {
  readonly name: string;
  /** The number in `XdbcDataType`. */
  readonly code: number;
  readonly size: number;
  readonly quoted?: boolean;
  readonly radix?: number;
  readonly scaleMax?: number;
  readonly params?: readonly string[];
  /** The general type of moments in time, and which of them it is. */
  readonly moment?: { readonly code: number; readonly subcode: number };
}

const rows: readonly TypeRow[] = [
  { name: "BOOLEAN", code: -7, size: 1 },
  { name: "TINYINT", code: -6, size: 3, radix: 10 },
  { name: "SMALLINT", code: 5, size: 5, radix: 10 },
  { name: "INTEGER", code: 4, size: 10, radix: 10 },
  { name: "BIGINT", code: -5, size: 19, radix: 10 },
  { name: "REAL", code: 7, size: 24, radix: 2 },
  { name: "DOUBLE", code: 8, size: 53, radix: 2 },
  {
    name: "DECIMAL",
    code: 3,
    size: 38,
    radix: 10,
    scaleMax: 38,
    params: ["precision", "scale"],
  },
  { name: "VARCHAR", code: 12, size: 2_147_483_647, quoted: true },
  { name: "VARBINARY", code: -3, size: 2_147_483_647, quoted: true },
  { name: "DATE", code: 91, size: 10, quoted: true, moment: { code: 9, subcode: 1 } },
  { name: "TIME", code: 92, size: 15, quoted: true, moment: { code: 9, subcode: 2 } },
  { name: "TIMESTAMP", code: 93, size: 29, quoted: true, moment: { code: 9, subcode: 3 } },
];

/** Nullable, and usable in every condition. */
const nullable = 1n;
const searchable = 3n;

/** All types, or the one of that number. */
export function typeInfo(code: number | undefined): Source {
  const wanted = rows
    .filter((row) => code === undefined || row.code === code)
    .toSorted((a, b) => a.code - b.code);
  return madeSource(columns, async () => ok(batchOf(columns, wanted.map(cells))));
}

function cells(row: TypeRow): readonly Value[] {
  const quote = row.quoted === true ? "'" : null;
  return [
    row.name,
    BigInt(row.code),
    BigInt(row.size),
    quote,
    quote,
    row.params ?? null,
    nullable,
    row.name === "VARCHAR",
    searchable,
    row.radix === undefined ? null : false,
    false,
    row.radix === undefined ? null : false,
    row.name,
    row.scaleMax === undefined ? null : 0n,
    number(row.scaleMax),
    number(row.moment?.code ?? row.code),
    number(row.moment?.subcode),
    number(row.radix),
    null,
  ];
}

function number(value: number | undefined): Value {
  return value === undefined ? null : BigInt(value);
}
