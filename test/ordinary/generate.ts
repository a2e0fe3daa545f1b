/**
 * Ordinary queries of many shapes, from a seed: what people write every day, not what somebody thought of
 * while writing the code. Every query has one result whatever the engine's threads do, but for the order of
 * its rows where it has no ORDER BY.
 */
import { chanceOf, Draw } from "./chance.ts";
import { events, listed, ordered, tables, type Listed } from "./tables.ts";

/** The query of a seed. */
export function ordinaryQuery(seed: number): string {
  const pick = new Pick(chanceOf(seed));
  return shapes[shapeOf(seed)](pick, seed);
}

/** The name of the shape that a seed has. */
export function shapeOf(seed: number): ShapeName {
  // Now and then a whole table, so that every size and every column comes, whatever the chance.
  if (seed % wholeEvery === 0) return "whole";
  return new Pick(chanceOf(seed ^ 0x5bd1e995)).one(drawn);
}

/** A filter of rows of a table `x`, as the shapes have them. */
export function ordinaryFilter(seed: number): string {
  return new Pick(chanceOf(seed)).filter();
}

class Pick extends Draw {
  /** Columns of one kind or of several; most often those that people have most. */
  columns(most: number): readonly Listed[] {
    const count = 1 + this.below(most);
    return Array.from({ length: count }, () => this.one<Listed>(listed[this.one(kinds)]));
  }

  /** Most often a small one: what is right in 100 rows goes wrong at the borders of more, if at all. */
  table(rowsMax = 5_000): string {
    const large = rowsMax > 100 && this.below(12) === 0;
    const inReach = tables.filter(({ rows }) => rows <= rowsMax && rows > 100 === large);
    return this.one(inReach).name;
  }

  /** Of every selectivity: no row, one, a few, half of them, all. */
  filter(): string {
    const numbers = [0, 1, 5, 63, 64, 65, 499, 1_023, 2_047];
    return this.one([
      "true",
      "false",
      `device = ${this.one(numbers)}`,
      `device < ${this.one(numbers)}`,
      `id % ${this.one([2, 3, 63, 64, 65, 1_000])} = 0`,
      `id between ${this.below(100)} and ${this.below(3_000)}`,
      "label is null",
      `label like 'row ${this.below(10)}%'`,
      "flag",
      "not flag and small > 0",
      `amount > ${this.below(5_000)}.125`,
      `day >= date '${2000 + this.below(40)}-06-15'`,
      this.one([
        `mark in (select mark from ${this.table(100)})`,
        `exists (select 1 from ${this.table(100)} o where o.id = x.device)`,
      ]),
    ]);
  }
}

const kinds = ["common", "common", "common", "scalars", "scalars", "nested", "made"] as const;

type Shape = (pick: Pick, seed: number) => string;

/** Columns under names of their own, so that one may stand twice. */
function list(chosen: readonly Listed[], of = "x", name = "c"): string {
  return chosen.map((column, index) => `${column(of)} as ${name}${index}`).join(", ");
}

const wholeEvery = 200;
const wholeSizes = [0, 1, 63, 64, 65, 2_047, 2_048, 2_049, 5_000] as const;

/** Every row of a table, by turns: each size comes at each ninth time. */
const whole: Shape = (pick, seed) => {
  const turn = Math.floor(seed / wholeEvery);
  const rows = wholeSizes[turn % wholeSizes.length] ?? 0;
  return `select x.id, ${list(pick.columns(2))} from t${rows} x`;
};

const filtered: Shape = (pick) => {
  const chosen = pick.columns(pick.one([2, 3, 6]));
  const second = pick.below(5) === 0 ? ` and ${pick.filter()}` : "";
  return `select ${list(chosen)} from ${pick.table(2_049)} x where ${pick.filter()}${second}`;
};

/** One row in each 2,048 of many vectors, or a few from their begin. */
const scanned: Shape = (pick) => {
  const chosen = Array.from({ length: 3 }, () => pick.one(listed.common));
  const narrow = pick.one(["x.device = 5", "x.device in (5, 63)", "x.id % 9999 = 7", "x.id < 65"]);
  return `select ${list(chosen)} from ${events.name} x where ${narrow}`;
};

const sorted: Shape = (pick) => {
  const chosen = pick.columns(6);
  const nulls = pick.one(["", " nulls first", " desc", " desc nulls last"]);
  const limit = `limit ${pick.below(pick.one([10, 100, 3_000]))} offset ${pick.below(70)}`;
  const order = `order by x.${pick.one(ordered)}${nulls}, x.id`;
  return `select ${list(chosen)} from ${pick.table()} x where ${pick.filter()} ${order} ${limit}`;
};

const united: Shape = (pick) => {
  const chosen = pick.columns(4);
  const word = pick.one([" union all ", " union all ", " union ", " except ", " intersect "]);
  const branches = pick.below(10) === 0 ? pick.one([63, 64, 65, 70]) : pick.one([2, 3, 4]);
  const branch = (): string =>
    `select ${list(chosen)} from ${pick.table(100)} x where ${pick.filter()}`;
  return Array.from({ length: branches }, branch).join(word);
};

const recursive: Shape = (pick) => {
  const rows = pick.below(12) === 0 ? 900 : pick.one([1, 30, 63, 64, 65]);
  const step = 1 + pick.below(3);
  return `with recursive r(n, t) as (
    select 1::bigint, 'a' union all select n + ${step}, t || chr(97 + (n % 26)::integer) from r where n < ${rows * step} and length(t) < 950)
    select n, t, n % 2 = 0, case when n % 5 = 0 then null else n * 100000000000 end::hugeint from r`;
};

const joined: Shape = (pick) => {
  const left = pick.columns(4);
  const right = pick.columns(3);
  const how = pick.one(["join", "left join", "right join", "full join", "semi join", "anti join"]);
  const on = pick.one(["x.id = y.id", "x.device = y.device", "x.id = y.id + 64"]);
  const one = how === "semi join" || how === "anti join";
  const shown = one ? list(left) : `${list(left)}, ${list(right, "y", "r")}`;
  return `select ${shown} from ${pick.table(2_049)} x ${how} ${pick.table(2_049)} y on ${on}`;
};

const aggregates = [
  "count(*)",
  "sum(x.amount)::decimal(30, 3)",
  "max(x.label)",
  "min(x.day)",
  "count(distinct x.device)",
  "sum(x.big)::hugeint",
  "avg(x.device)",
  "list(x.mark order by x.id)",
  "max(x.pair)",
  "histogram(x.small)",
] as const;

const grouped: Shape = (pick) => {
  const keys = pick.some(["x.device", "x.small", "x.flag", "x.label", "x.mood"], 2).join(", ");
  const by = pick.one([
    `group by ${keys}`,
    `group by ${keys}`,
    `group by rollup (${keys})`,
    `group by cube (${keys})`,
  ]);
  const found = pick.some(aggregates, 3).join(", ");
  return `select ${keys}, ${found} from ${pick.table(1_000)} x where ${pick.filter()} ${by}`;
};

const windowed: Shape = (pick) => {
  const chosen = pick.columns(3);
  const over = `over (partition by x.${pick.one(["flag", "small", "device"])} order by x.id)`;
  return `select ${list(chosen)}, row_number() ${over}, lag(x.label) ${over}, sum(x.small) ${over}::bigint
    from ${pick.table(2_049)} x where ${pick.filter()}`;
};

/** Values that the engine puts together as it goes. */
const nested: Shape = (pick) => {
  const value = pick.one([
    "[x.id, x.device, null]",
    "{'a': x.label, 'b': x.day}",
    "map {x.label: x.id}",
    "[{'k': x.flag, 'v': [x.small]}]",
    "list_transform(range(x.id % 5), e -> e * 2)",
    "array_value(x.id, 2::bigint)",
    "to_json(x.pair)",
    "map_entries(x.counts)",
    "x.grid[1]",
    "x.deep.w",
    "list_filter(x.numbers, e -> e > 0)",
  ]);
  return `select x.id, ${value} as v, len([x.id]) from ${pick.table(2_049)} x
    where x.label is not null and ${pick.filter()}`;
};

const unnested: Shape = (pick) => {
  return `select x.id, unnest(range(x.id % ${pick.one([1, 2, 5])}))::bigint as u from ${pick.table(2_049)} x where ${pick.filter()}`;
};

const wide: Shape = (pick) => {
  const count = pick.one([20, 20, 30, 64]);
  const chosen = Array.from({ length: count }, () => pick.columns(1)).flat();
  return `select ${list(chosen)} from ${pick.table(65)} x`;
};

const long: Shape = (pick) => {
  const size = pick.one([1_000, 10_000, 65_535, 65_536]);
  return `select x.id, repeat('ä' || x.id, ${Math.floor(size / 4)}) from ${pick.table(65)} x where x.id % 9 = 0`;
};

const valued: Shape = (pick) => {
  const row = (): string =>
    `(${pick.below(1_000)}, ${pick.one(["null", "'a'", "''", "'ä''€'"])}, ${pick.one(["true", "false", "null"])})`;
  const rows = Array.from({ length: pick.one([1, 2, 3, 63, 64, 65]) }, row).join(", ");
  return `select a::bigint, b::varchar, c::boolean from (values ${rows}) v(a, b, c)`;
};

/** Few rows out of many chunks, made as they are asked for. */
const sparse: Shape = (pick) => {
  const rows = pick.one([2_048, 20_480, 133_120]);
  const every = pick.one([2_048, 2_047, 500, 1_000]);
  return `select i::bigint, i % 7 = 0, (i / 3)::decimal(18, 3) from range(${rows}) r(i) where i % ${every} = ${pick.below(every)}`;
};

const nestedQueries: Shape = (pick) => {
  const chosen = pick.columns(3);
  return `with w as (select * from ${pick.table(1_000)} x where ${pick.filter()})
    select ${list(chosen)}, (select count(*) from w o where o.device <= x.device % 50), (select max(label) from w)
    from w x where x.id < 300`;
};

/** No table at all: what tools ask to see whether somebody is there, and small sums. */
const plain: Shape = (pick) => {
  const number = pick.below(1_000_000);
  const constants = pick.some(constantsOf(number), 2);
  return `select ${number}::bigint, ${constants.join(", ")}`;
};

function constantsOf(number: number): readonly string[] {
  return [
    "'a'",
    "''",
    "'ä€😀'",
    "'it''s'",
    "true",
    "false",
    "null",
    "null::boolean",
    `(${number} / 8)::decimal(18, 3)`,
    `date '2024-02-29' + ${number % 5_000}`,
    `${number} / 3.0e0`,
    `-${number}e-12::real`,
    `timestamptz '2024-02-29 23:59:59.9+05:30'`,
    `interval '${number} seconds'`,
    `[${number}, null, -1]`,
    `{'a': ${number}, 'b': ['x', null, '']}`,
    `map {'k': [{'v': ${number}}]}`,
    `encode('ä' || chr(0) || ${number})`,
    `'{"a": [${number}]}'::json`,
  ];
}

const distinct: Shape = (pick) => {
  const chosen = pick.columns(3);
  const from = pick.table(2_049);
  return pick.one([
    `select distinct ${list(chosen)} from ${from} x where ${pick.filter()}`,
    `select distinct on (x.device) x.device, ${list(chosen)} from ${from} x order by x.device, x.id`,
    `select x.device, ${list(chosen)} from ${from} x qualify row_number() over (partition by x.small order by x.id) = 1`,
  ]);
};

const shapes = {
  whole,
  filtered,
  scanned,
  plain,
  sorted,
  sparse,
  nested,
  valued,
  joined,
  distinct,
  unnested,
  grouped,
  windowed,
  united,
  nestedQueries,
  long,
  wide,
  recursive,
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;

export const shapeNames = Object.keys(shapes) as readonly ShapeName[];

/** How often each comes, of a hundred: mostly what people ask most. */
const shares: readonly (readonly [share: number, shape: ShapeName])[] = [
  [24, "filtered"],
  [41, "plain"],
  [5, "sorted"],
  [4, "sparse"],
  [4, "nested"],
  [3, "valued"],
  [3, "joined"],
  [3, "distinct"],
  [2, "unnested"],
  [2, "grouped"],
  [2, "windowed"],
  [1, "united"],
  [1, "nestedQueries"],
  [2, "long"],
  [1, "scanned"],
  [1, "wide"],
  [1, "recursive"],
];

const drawn: readonly ShapeName[] = shares.flatMap(([share, shape]) =>
  Array.from({ length: share }, () => shape),
);
