/**
 * The tables that ordinary queries are asked of: sizes around every border of the engine and of the way
 * here (64 arrays of a block, 2,048 rows of a vector), a column of each type of the engine that a client
 * can see, flat and nested, and NULLs in all of them.
 */

/** A column: its name, and the expression of its value in row `i`. */
type TableColumn = readonly [name: string, value: string];

/** What filters, joins and orders ask for; NULL in each so-many-th row, each column by a divisor of its own. */
const common: readonly TableColumn[] = [
  ["id", "i::bigint"],
  ["device", "((i * 7919) % 2048)::integer"],
  ["small", sometimes(7, "(i % 100 - 50)::tinyint")],
  ["amount", sometimes(11, "((i * 37 % 100000)::decimal(12, 2) / 8)::decimal(14, 3)")],
  [
    "label",
    `case when i % 13 = 1 then null when i % 97 = 0 then repeat('long ä€😀 ', 40 + i % 60)
      else 'row ' || (i % 500) end`,
  ],
  ["day", sometimes(17, "date '1999-12-25' + (i % 20000)::integer")],
  ["at", sometimes(19, moment("timestamp"))],
  ["flag", sometimes(5, "i % 3 = 0")],
  [
    "mark",
    sometimes(23, "('00000000-0000-4000-8000-' || lpad((i % 1000000)::varchar, 12, '0'))::uuid"),
  ],
  ["big", sometimes(29, "i::hugeint * 1000000000000000000000 - 5")],
];

/** Floats of every layout: with and without an exponent, the smallest and the largest, and no numbers. */
const floats = `case i % 9 when 0 then i / 8.0 when 1 then i * 1e15 when 2 then -i * 1.1e-7 when 3 then i / 7.0e0
  when 4 then 'nan'::double when 5 then '-inf'::double when 6 then -0.0e0 when 7 then i * 1.5e30 else i * 1000003.0 end`;

const scalars: readonly TableColumn[] = [
  ["short", sometimes(31, "(i * 13 % 65536 - 32768)::smallint")],
  ["byte", sometimes(37, "(i % 256)::utinyint")],
  ["word", sometimes(41, "(i * 17 % 65536)::usmallint")],
  ["dword", sometimes(43, "(4294967295 - i)::uinteger")],
  ["qword", sometimes(3, "18446744073709551615::ubigint - i::ubigint")],
  ["vast", sometimes(47, "340282366920938463463374607431768211455::uhugeint - i::uhugeint")],
  [
    "far",
    sometimes(
      9,
      "case when i % 2 = 0 then 9223372036854775807 - i else i - 9223372036854775807 end",
    ),
  ],
  ["ratio", sometimes(53, floats)],
  ["level", sometimes(59, `(${floats})::real`)],
  ["tenth", sometimes(6, "(i % 2000 - 999)::decimal(4, 0) / 10")],
  ["share", sometimes(4, "(i % 1999 - 999)::decimal(4, 1)")],
  ["price", sometimes(61, "(i * 7 % 10000000 - 500)::decimal(9, 2) / 100")],
  ["cents", sometimes(8, "(i * 7 - 500)::decimal(9, 2)")],
  ["exact", sometimes(67, "(i * 1000003)::decimal(18, 6)")],
  ["wide", sometimes(71, "(1234567890123456789012345678::decimal(38, 10) - i)::decimal(38, 10)")],
  [
    "clock",
    sometimes(
      73,
      "time '00:00:00' + to_microseconds((i * 86399) % 86400 * 1000000 + i % 3 * 1500)",
    ),
  ],
  [
    "zoned_clock",
    sometimes(
      79,
      "(lpad((i % 24)::varchar, 2, '0') || ':05:06.5' || case i % 3 when 0 then '+00' when 1 then '+05:30' else '-08' end)::timetz",
    ),
  ],
  ["moment", sometimes(83, `(${moment("timestamp")})::timestamptz`)],
  ["at_s", sometimes(10, `(${moment("timestamp")})::timestamp_s`)],
  ["at_ms", sometimes(12, `(${moment("timestamp")})::timestamp_ms`)],
  ["at_ns", sometimes(14, `make_timestamp_ns(1000000000000000000 + i * 1000003)`)],
  ["before", sometimes(15, "timestamp '1234-05-06 07:08:09.5' + to_seconds(i * 100000)")],
  [
    "span",
    sometimes(
      89,
      "to_months((i % 30 - 15)::integer) + to_days((i % 7 - 3)::integer) + to_microseconds((i % 5 - 2) * 3723004005)",
    ),
  ],
  ["bytes", sometimes(16, "encode(i::varchar || chr(0) || 'ä') || '\\xFF\\x00'::blob")],
  [
    "mood",
    sometimes(18, "(case i % 3 when 0 then 'sad' when 1 then 'so, so' else 'glücklich' end)::mood"),
  ],
  ["bits", sometimes(20, "(('1' || repeat('01', (i % 9)::integer)))::bit")],
  [
    "doc",
    sometimes(21, `('{"id": ' || i || ', "text": "a\\"b\\\\ä", "list": [1, null, {}]}')::json`),
  ],
  ["digits", sometimes(22, "(i::varchar || repeat('7', 50))::bignum")],
];

const nested: readonly TableColumn[] = [
  ["tags", sometimes(24, `['a', null, 'NULL', '', 'x,y', 'q"\\', i::varchar][1:(i % 8)::integer]`)],
  ["numbers", sometimes(25, "case when i % 3 = 0 then [] else [i, null, -i]::bigint[] end")],
  ["grid", sometimes(26, "[[i::integer, null], [], null, [7]]")],
  ["triple", `(${sometimes(27, "[i, null, 2]")})::bigint[3]`],
  [
    "pair",
    sometimes(
      28,
      "{'a': 'row \"' || i || '\\', 'b': case when i % 2 = 0 then date '2024-02-29' end}",
    ),
  ],
  [
    "deep",
    sometimes(
      30,
      `{'k': i % 2 = 0, 'v': [i::hugeint, null], 'w': {'x y': i / 4.0e0, 't': time '01:02:03.5', 'at': ${moment("timestamp")}}, 'm': map {i: [{'z': null::integer}]}}`,
    ),
  ],
  ["counts", sometimes(32, "map {'row ' || i: i, 'q\"': null}")],
  [
    "named",
    sometimes(33, "map {i::integer: {'price': (i / 8)::decimal(10, 3)}, (-1 - i)::integer: null}"),
  ],
  [
    "choice",
    sometimes(
      34,
      "case when i % 2 = 0 then union_value(num := i)::union(num bigint, str varchar) else 'text'::union(num bigint, str varchar) end",
    ),
  ],
];

/** A value that a query may list, of a row of the table that goes by `of`. */
export type Listed = (of: string) => string;

const plain = ([name]: TableColumn): Listed => {
  return (of) => `${of}.${name}`;
};

/** What a query may list, by kind: what is right in a column must be right inside of another value as well. */
export const listed = {
  common: common.map(plain),
  scalars: scalars.map(plain),
  nested: nested.map(plain),
  made: [
    () => "null",
    ...[...common, ...scalars].flatMap(([name]): Listed[] => [
      (of) => `[${of}.${name}, null]`,
      (of) => `{'v': ${of}.${name}, 'l': [[${of}.${name}]]}`,
      (of) => `map {coalesce(${of}.id, -1): ${of}.${name}}`,
    ]),
  ],
} as const satisfies Record<string, readonly Listed[]>;

/** Columns that have an order, for ORDER BY. */
export const ordered: readonly string[] = common.map(([name]) => name);

/** Every name of a stored column. */
export const stored: readonly string[] = [...common, ...scalars, ...nested].map(([name]) => name);

const sizes = [0, 1, 2, 63, 64, 65, 100, 1_000, 2_047, 2_048, 2_049, 5_000] as const;

/** Names with their rows. */
export const tables: readonly { readonly name: string; readonly rows: number }[] = sizes.map(
  (rows) => ({ name: `t${rows}`, rows }),
);

/** More than 64 vectors, for filters of one row in each of them; it has the common columns only. */
export const events = { name: "events", rows: 300_000 } as const;

/** Makes them; the same text gives the same rows everywhere. */
export const tableStatements: readonly string[] = [
  "create type mood as enum ('sad', 'so, so', 'glücklich')",
  // The largest is made, and the others are its first rows.
  tableOf("t5000", [...common, ...scalars, ...nested], 5_000),
  ...tables
    .filter(({ rows }) => rows < 5_000)
    .map(({ name, rows }) => `create table ${name} as from t5000 where id < ${rows} order by id`),
  tableOf(events.name, common, events.rows),
];

function tableOf(name: string, columns: readonly TableColumn[], rows: number): string {
  const values = columns.map(([column, value]) => `${value} as ${column}`);
  return `create table ${name} as select ${values.join(",\n    ")} from range(${rows}) r(i)`;
}

function sometimes(divisor: number, value: string): string {
  return `case when i % ${divisor} = ${divisor >> 1} then null else ${value} end`;
}

function moment(type: string): string {
  return `${type} '2001-02-03 04:05:06' + to_microseconds((i * 1000003) % 100000000000)`;
}
