/**
 * Ordinary queries of many shapes, from a seed: what people write every day, not what somebody thought of
 * while writing the code. Every query has one result whatever the engine's threads do, but for the order of
 * its rows where it has no ORDER BY.
 */
import { columns, tables, type Kind, type TableColumn } from "./tables.ts";

/** A query and the kinds of its columns. */
export interface Ordinary {
  readonly sql: string;
  readonly kinds: readonly Kind[];
}

/** A stream of numbers below 1 that a seed decides (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The query of a seed. */
export function ordinaryQuery(seed: number): Ordinary {
  const pick = new Pick(chanceOf(seed));
  return pick.one(shapes)(pick);
}

class Pick {
  readonly #chance: () => number;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  below(end: number): number {
    return Math.floor(this.#chance() * end);
  }

  one<T>(things: readonly T[]): T {
    const thing = things[this.below(things.length)];
    if (thing === undefined) throw new Error("nothing to choose from");
    return thing;
  }

  some<T>(things: readonly T[], most: number): readonly T[] {
    const count = 1 + this.below(most);
    return Array.from({ length: count }, () => this.one(things));
  }

  table(rowsMax = 5_000): string {
    return this.one(tables.filter(({ rows }) => rows <= rowsMax)).name;
  }

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
      `mark in (select mark from ${this.table(100)})`,
      `exists (select 1 from ${this.table(100)} o where o.id = x.device)`,
    ]);
  }
}

type Shape = (pick: Pick) => Ordinary;

/** Columns under names of their own, so that one may stand twice. */
function listed(chosen: readonly TableColumn[], of = "x"): string {
  return chosen.map(({ name }, index) => `${of}.${name} as c${index}`).join(", ");
}

function kindsOf(chosen: readonly TableColumn[]): readonly Kind[] {
  return chosen.map(({ kind }) => kind);
}

const filtered: Shape = (pick) => {
  const chosen = pick.some(columns, pick.one([2, 4, 10]));
  const from = pick.table(pick.below(40) === 0 ? 300_000 : 2_049);
  const narrow = from === "events" ? "device = 5 and " : "";
  const where = `${narrow}${pick.filter()} and ${pick.filter()}`;
  return { sql: `select ${listed(chosen)} from ${from} x where ${where}`, kinds: kindsOf(chosen) };
};

const sorted: Shape = (pick) => {
  const chosen = pick.some(columns, 6);
  const nulls = pick.one(["", " nulls first", " desc", " desc nulls last"]);
  const limit = `limit ${pick.below(pick.one([10, 100, 3_000]))} offset ${pick.below(70)}`;
  const order = `order by x.${pick.one(columns).name}${nulls}, x.id`;
  const sql = `select ${listed(chosen)} from ${pick.table()} x where ${pick.filter()} ${order} ${limit}`;
  return { sql, kinds: kindsOf(chosen) };
};

const united: Shape = (pick) => {
  const chosen = pick.some(columns, 4);
  const word = pick.one([" union all ", " union all ", " union ", " except ", " intersect "]);
  const branches = pick.below(10) === 0 ? pick.one([63, 64, 65, 70]) : pick.one([2, 3, 4]);
  const branch = (): string =>
    `select ${listed(chosen)} from ${pick.table(100)} x where ${pick.filter()}`;
  return { sql: Array.from({ length: branches }, branch).join(word), kinds: kindsOf(chosen) };
};

const recursive: Shape = (pick) => {
  const rows = pick.below(12) === 0 ? 900 : pick.one([1, 30, 63, 64, 65]);
  const step = 1 + pick.below(3);
  const sql = `with recursive r(n, t) as (
    select 1::bigint, 'a' union all select n + ${step}, t || chr(97 + (n % 26)::integer) from r where n < ${rows * step} and length(t) < 950)
    select n, t, n % 2 = 0, case when n % 5 = 0 then null else n * 100000000000 end::hugeint from r`;
  return { sql, kinds: ["int", "text", "boolean", "huge"] };
};

const joined: Shape = (pick) => {
  const left = pick.some(columns, 4);
  const right = pick.some(columns, 3);
  const how = pick.one(["join", "left join", "right join", "full join", "semi join", "anti join"]);
  const on = pick.one(["x.id = y.id", "x.device = y.device", "x.id = y.id + 64"]);
  const one = how === "semi join" || how === "anti join";
  const shown = one ? [] : right.map(({ name }, index) => `y.${name} as r${index}`);
  const list = [listed(left), ...shown].join(", ");
  const sql = `select ${list} from ${pick.table(2_049)} x ${how} ${pick.table(2_049)} y on ${on}`;
  return { sql, kinds: [...kindsOf(left), ...(one ? [] : kindsOf(right))] };
};

const grouped: Shape = (pick) => {
  const keys = pick.some(
    columns.filter(({ name }) => ["device", "small", "flag", "label"].includes(name)),
    1 + pick.below(2),
  );
  const names = keys.map(({ name }) => `x.${name}`);
  const by = pick.one([
    `group by ${names.join(", ")}`,
    `group by rollup (${names.join(", ")})`,
    `group by cube (${names.join(", ")})`,
  ]);
  const sql = `select ${listed(keys)}, count(*), sum(x.amount)::decimal(30, 3), max(x.label), min(x.day), count(distinct x.device), sum(x.big)::hugeint
    from ${pick.table()} x where ${pick.filter()} ${by}`;
  return { sql, kinds: [...kindsOf(keys), "int", "decimal", "text", "date", "int", "huge"] };
};

const windowed: Shape = (pick) => {
  const chosen = pick.some(columns, 3);
  const over = `over (partition by x.${pick.one(["flag", "small", "device"])} order by x.id)`;
  const sql = `select ${listed(chosen)}, row_number() ${over}, lag(x.label) ${over}, sum(x.small) ${over}::bigint
    from ${pick.table(2_049)} x where ${pick.filter()}`;
  return { sql, kinds: [...kindsOf(chosen), "int", "text", "int"] };
};

/** Nested values are compared by their text, which both sides make in the engine. */
const nested: Shape = (pick) => {
  const value = pick.one([
    "[x.id, x.device, null]",
    "{'a': x.label, 'b': x.day}",
    "map {x.label: x.id}",
    "[{'k': x.flag, 'v': [x.small]}]",
    "list_transform(range(x.id % 5), e -> e * 2)",
    "array_value(x.id, 2::bigint)",
  ]);
  const sql = `select x.id, (${value})::varchar as v, len([x.id]) from ${pick.table(2_049)} x
    where x.label is not null and ${pick.filter()}`;
  return { sql, kinds: ["int", "text", "int"] };
};

const unnested: Shape = (pick) => {
  const sql = `select x.id, unnest(range(x.id % ${pick.one([1, 2, 5])}))::bigint as u from ${pick.table()} x where ${pick.filter()}`;
  return { sql, kinds: ["int", "int"] };
};

const wide: Shape = (pick) => {
  const count = pick.one([20, 20, 30, 64]);
  const chosen = Array.from({ length: count }, () => pick.one(columns));
  const sql = `select ${listed(chosen)} from ${pick.table(100)} x`;
  return { sql, kinds: kindsOf(chosen) };
};

const long: Shape = (pick) => {
  const size = pick.one([1_000, 10_000, 65_535, 65_536]);
  const sql = `select x.id, repeat('ä' || x.id, ${Math.floor(size / 4)}) from ${pick.table(65)} x where x.id % 9 = 0`;
  return { sql, kinds: ["int", "text"] };
};

const valued: Shape = (pick) => {
  const row = (): string =>
    `(${pick.below(1_000)}, ${pick.one(["null", "'a'", "''", "'ä''€'"])}, ${pick.one(["true", "false", "null"])})`;
  const rows = Array.from({ length: pick.one([1, 2, 3, 63, 64, 65]) }, row).join(", ");
  const sql = `select a::bigint, b::varchar, c::boolean from (values ${rows}) v(a, b, c)`;
  return { sql, kinds: ["int", "text", "boolean"] };
};

/** Few rows out of many chunks, made as they are asked for. */
const sparse: Shape = (pick) => {
  const rows = pick.one([2_048, 20_480, 131_072]);
  const every = pick.one([2_048, 2_047, 500, 1_000]);
  const sql = `select i::bigint, i % 7 = 0, (i / 3)::decimal(18, 3) from range(${rows}) r(i) where i % ${every} = ${pick.below(every)}`;
  return { sql, kinds: ["int", "boolean", "decimal"] };
};

const nestedQueries: Shape = (pick) => {
  const chosen = pick.some(columns, 3);
  const sql = `with w as (select * from ${pick.table(1_000)} x where ${pick.filter()})
    select ${listed(chosen)}, (select count(*) from w o where o.device <= x.device % 50), (select max(label) from w)
    from w x where x.id < 300`;
  return { sql, kinds: [...kindsOf(chosen), "int", "text"] };
};

/** No table at all: what tools ask to see whether somebody is there, and small sums. */
const plain: Shape = (pick) => {
  const number = pick.below(1_000_000);
  const sql = `select ${number}::bigint, '${pick.one(["a", "", "ä€😀", "it''s"])}', ${pick.one(["true", "false", "null::boolean"])}, (${number} / 8)::decimal(18, 3), date '2024-02-29' + ${pick.below(5_000)}`;
  return { sql, kinds: ["int", "text", "boolean", "decimal", "date"] };
};

const distinct: Shape = (pick) => {
  const chosen = pick.some(columns, 3);
  const from = pick.table(2_049);
  const sql = pick.one([
    `select distinct ${listed(chosen)} from ${from} x where ${pick.filter()}`,
    `select distinct on (x.device) x.device, ${listed(chosen)} from ${from} x order by x.device, x.id`,
    `select x.device, ${listed(chosen)} from ${from} x qualify row_number() over (partition by x.small order by x.id) = 1`,
  ]);
  const first: readonly Kind[] = sql.startsWith("select distinct x") ? [] : ["int"];
  return { sql, kinds: [...first, ...kindsOf(chosen)] };
};

/** How often each comes, of a hundred: mostly what people ask most. */
const shares: readonly (readonly [share: number, shape: Shape])[] = [
  [36, filtered],
  [12, plain],
  [9, sorted],
  [7, sparse],
  [6, nested],
  [5, valued],
  [4, joined],
  [4, distinct],
  [3, unnested],
  [3, grouped],
  [3, windowed],
  [2, united],
  [2, nestedQueries],
  [2, long],
  [1, wide],
  [1, recursive],
];

const shapes: readonly Shape[] = shares.flatMap(([share, shape]) =>
  Array.from({ length: share }, () => shape),
);
