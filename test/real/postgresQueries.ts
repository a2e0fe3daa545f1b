/** Queries with values of every type: literals, columns, functions, aggregates, sets, parameters. */
import { columnOf, quoted, type Shape, type Valued } from "./postgresPick.ts";

/** Queries: literals. */
export const literals: Shape = (pick) => {
  const columns = pick.times(6, () => pick.literal());
  return [pick.plain(`select ${columns.join(", ")}`)];
};

/** Queries: arrays. */
export const arrays: Shape = (pick) => {
  const type = pick.type();
  const items = pick.times(3, () => pick.literal(type)).join(", ");
  const made = pick.one([
    `array[${items}]`,
    `array[[${items}], [${items}]]`,
    `array_agg(x) from unnest(array[${items}]) x`,
    `x from unnest(array[${items}]) x`,
    `array_append(array[${items}], null)`,
    `array_fill(${pick.literal(type)}, array[2], array[3])`,
    `'{}'::${type}[]`,
    `(array[${items}])[1]`,
    `array[${items}]::text`,
    `array_to_json(array[${items}])`,
  ]);
  return [pick.plain(`select ${made}`)];
};

/** Queries: columns. */
export const columns: Shape = (pick) => {
  const chosen = pick.times(4, () => pick.column());
  const filter = pick.one(["", ` where ${pick.column()} is not null`, " limit 3", " offset 2"]);
  return [pick.plain(`select ${chosen.join(", ")} from every${filter}`)];
};

/** Queries: conversions. */
export const conversions: Shape = (pick) => [
  pick.plain(`select ${pick.literal()}::${pick.type()}${pick.one(["", "", " as x"])}`),
];

/** Queries: calls. */
export const calls: Shape = (pick) => {
  const a = pick.literal();
  const b = pick.one([pick.literal(), a]);
  const call = pick.one([
    `${a} ${pick.one(["+", "-", "*", "/", "%", "=", "<", "||", "&&", "@>", "->", "->>", "~", "&", "<<", "^"])} ${b}`,
    `coalesce(${a}, ${b})`,
    `nullif(${a}, ${b})`,
    `greatest(${a}, ${b})`,
    `${pick.one(["abs", "round", "length", "upper", "lower", "sqrt", "reverse", "md5", "to_json", "to_jsonb", "pg_typeof", "quote_literal", "trunc", "sign", "ascii", "host", "lower", "isempty", "bit_length", "-", "@", "~", "not ", "array_dims", "justify_interval", "jsonb_typeof", "unnest", "hashtext", "pg_column_size", "format_type", "to_char"])}(${a})`,
    `to_char(${a}, ${quoted(pick.one(["YYYY-MM-DD HH24:MI:SS.US TZ", "999,999.99", "FM0000", "J"]))})`,
    `extract(${pick.one(["epoch", "year", "dow", "microseconds", "timezone"])} from ${a})`,
    `date_trunc('${pick.one(["day", "month", "century", "nothing"])}', ${a})`,
    `${a} at time zone '${pick.one(["UTC", "America/New_York", "+05:30", "Nowhere"])}'`,
    `case when ${pick.literal("bool")} then ${a} else ${b} end`,
    `row(${a}, ${b})`,
    `(${a}) is ${pick.one(["null", "not null", "true", "unknown", "distinct from null"])}`,
    `(${a}) in (${b}, ${pick.literal()})`,
    `format('%s %L', ${a}, ${b})`,
    `jsonb_build_object('k', ${a}, 'l', ${b})`,
    `(select ${a})`,
    `exists (select ${a})`,
    `concat(${a}, ${b})`,
    `generate_series(1, 3), ${a}`,
    `raised(${quoted(pick.one(["22012", "P0001", "23505", "40001", "0A000", "57014"]))})`,
    "told()",
    "1 / (1 - 1)",
    "nothere",
    "nothere()",
    "sqrt(-1)",
    "'x'::mood",
    "current_setting('nothere')",
    "(select 1 union all select 2)",
  ]);
  return [pick.plain(`select ${call}`)];
};

/** Queries: aggregates. */
export const aggregates: Shape = (pick) => {
  const name = pick.one([
    "count",
    "min",
    "max",
    "sum",
    "avg",
    "array_agg",
    "json_agg",
    "jsonb_agg",
    "bool_and",
    "stddev",
    "bit_or",
    "every",
    "string_agg",
  ]);
  const column = pick.column();
  const argument = name === "string_agg" ? `${column}::text, ','` : column;
  const more = pick.one([
    "",
    " filter (where true)",
    " over ()",
    " over (order by c1 nulls first)",
    " filter (where false)",
  ]);
  return [pick.plain(`select ${name}(${argument})${more} from every`)];
};

/** Queries: sets. */
export const sets: Shape = (pick) => {
  const type = pick.type();
  const one = pick.literal(type);
  const two = pick.literal(type);
  return [
    pick.plain(
      pick.one([
        `values (${one}, ${pick.literal()}), (${two}, null)`,
        `select ${one} as a union all select ${two}`,
        `select ${one} as a union select ${pick.literal()}`,
        `with w(a) as (select ${one}), v as materialized (select * from w) select * from v, w`,
        `with recursive r(i) as (select 1 union all select i + 1 from r where i < 4) select i, ${one} from r`,
        `select distinct on (1) ${one}, ${two}`,
        `select 1 as a, ${one} as a, ${two} as "A b"`,
        `select from parent where id < ${pick.below(4)}`,
        `select * from (select ${one}) t right join (select ${two}) u on true`,
        `select t, t.* from pair_of() t`,
        `select p from parent p order by id limit 2`,
        `table seen`,
        `select name, count(*) over (order by id) from parent order by id limit ${pick.below(5)}`,
        `select * from json_to_recordset('[{"a":1},{"a":null}]') as x(a ${type})`,
        `select ${one} where false`,
        `select row_to_json(e) from every e limit 1`,
      ]),
    ),
  ];
};

/** Queries: parameters. */
export const parameters: Shape = (pick) => {
  const first = pick.value();
  const second = pick.value();
  const { type } = first;
  const [sql, values] = pick.one<readonly [string, readonly Valued[]]>([
    [`select $1::${type}`, [first]],
    [`select $1::${type}, $2::${second.type}, $1::${type} is null`, [first, second]],
    [`select $1::${type}::text`, [first]],
    [`select $1::${type} = $1::${type}`, [first]],
    [`select pg_typeof($1::${type}), $1::${type}::text`, [first]],
    [`select $1`, [first]],
    [`select coalesce($1, ${pick.literal(type)})`, [first]],
    [`select count(*) from every where ${columnOf(type)} = $1`, [first]],
    [
      `select ${columnOf(type)} from every where ${columnOf(type)} is not distinct from $1 limit 2`,
      [first],
    ],
    [`select array[$1::${type}, null]`, [first]],
    [`select $1::${type}[]`, [{ type: `${type}[]`, text: listText(first.text) }]],
    [`select $1 || 'x', length($1)`, [{ type: "text", text: first.text }]],
    [`select name from parent where id = $1`, [{ type: "int4", text: `${pick.below(25)}` }]],
    [`select name from parent where id = any($1)`, [{ type: "int4[]", text: "{1,2,NULL}" }]],
    [
      `select $1::int4 + 1, $2 || ''`,
      [
        { type: "int4", text: pick.text("int4") },
        { type: "text", text: first.text },
      ],
    ],
    [
      `select i from generate_series(1, 9) i limit $1`,
      [{ type: "int8", text: `${pick.below(5)}` }],
    ],
    [`select $1::${type}`, [second]],
    [`select jsonb_build_object('a', $1::${type})`, [first]],
  ]);
  return [pick.valued(sql, values)];
};

function listText(text: string | null): string {
  return text === null
    ? "{NULL}"
    : `{"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}",NULL}`;
}
