/**
 * Statements that Trino's clients send, from a seed: each script is one session of some statements. What it
 * asks has one answer whatever runs beside it: the clock, chance and ids of queries are in none.
 */
import { chanceOf, Draw } from "../ordinary/chance.ts";
import { errors, expressions, functions, listings, tables, types } from "./trinoWords.ts";

/** The statements of a session, in which `{way}` is a schema of its own. */
export function scriptOf(seed: number): readonly string[] {
  const pick = new Pick(chanceOf(seed));
  return pick.one(families)(pick);
}

type Family = (pick: Pick) => readonly string[];

class Pick extends Draw {
  /** A value of any type; now and then NULL, within others, or made by a function. */
  value(depth = 0): string {
    const inner = () => this.value(depth + 1);
    switch (this.below(depth > 2 ? 6 : 12)) {
      case 0:
        return `cast(null as ${this.one(types)})`;
      case 1:
        return "null";
      case 6:
        return `array[${this.one(expressions)}, null]`;
      case 7:
        return `row(${inner()}, ${inner()})`;
      case 8:
        return `map(array['k', '${this.below(99)}'], array[${this.one(expressions)}, null])`;
      case 9:
        return `coalesce(null, ${inner()})`;
      case 10:
        return `if(${this.below(2)} = 1, ${inner()})`;
      case 11:
        return this.one(functions);
      default:
        return this.one(expressions);
    }
  }
}

const values: Family = (pick) => {
  const columns = Array.from({ length: 1 + pick.below(5) }, (_, at) => `${pick.value()} as c${at}`);
  return [`select ${columns.join(", ")}`];
};

const listed: Family = (pick) => [pick.one(listings)];

const failing: Family = (pick) => [pick.one(errors)];

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Values that parameters are given, and statements with as many places. */
const parameters: Family = (pick) => {
  const given = Array.from({ length: 1 + pick.below(4) }, () => pick.value());
  const places = given.map((_, at) => `? as p${at}`).join(", ");
  const [first = "null"] = given;
  const statement = pick.one([
    `select ${places}`,
    `select ${places} -- why?\n`,
    `select * from (values (${given.map(() => "?").join(", ")})) as t`,
    `select typeof(?)${", ?".repeat(given.length - 1)}`,
  ]);
  const using = given.join(", ");
  switch (pick.below(5)) {
    case 0:
      return [`execute immediate ${quoted(statement)} using ${using}`];
    case 1:
      return [`EXECUTE IMMEDIATE ${quoted(statement)} USING ${using}, ${first}`];
    case 2:
      return [
        `prepare "My p" from ${statement}`,
        'describe input "My p"',
        'describe output "My p"',
        `execute "My p" using ${using}`,
        'deallocate prepare "My p"',
        `execute "My p" using ${using}`,
      ];
    default:
      return [`prepare p from ${statement}`, `execute p using ${using}`];
  }
};

const prepared: Family = (pick) => {
  const table = pick.one(tables);
  const key = table.split(".").at(-1)?.[0] ?? "n";
  return [
    ...pick.one([
      [
        `PREPARE q FROM select * from ${table} where ${key}_comment < ? order by 1 limit 3`,
        "DESCRIBE INPUT q",
        "DESCRIBE OUTPUT q",
        `EXECUTE q USING '${pick.one(["c", "m", "z"])}'`,
        "EXECUTE q USING 1",
        "EXECUTE q",
      ],
      ["prepare s from show schemas from tpch like 'tin%'", "execute s", "describe output s"],
      [
        "prepare s from select 1",
        "prepare s from select 2 as two",
        "execute s",
        "deallocate prepare s",
      ],
      [
        "prepare s from create table {way}.by_prepared (a integer)",
        "execute s",
        "execute s",
        "drop table by_prepared",
      ],
      ["prepare s from insert into nowhere values (?)", "describe input s", "execute s using 1"],
      ["prepare s from selec 1", "execute s", "deallocate prepare s"],
      [
        "prepare s from prepare t from select 1",
        "prepare s from execute t",
        "prepare from select 1",
      ],
      ["execute immediate 'select 1 / ?' using 0", "execute immediate 'selec ?' using 0"],
      ["execute immediate 'select 7'", "execute immediate 'show catalogs'", "execute immediate ''"],
      ["deallocate prepare nothing", "execute nothing using 1", "describe input nothing"],
      [
        "prepare s from select ? + 1, ? || 'x', ?",
        "describe input s",
        "execute s using 1, 'a', null",
      ],
      ["prepare s from explain select ?", "execute s using 1"],
      ["prepare s from select * from nation limit ?", "describe input s", "execute s using 2"],
    ]),
  ];
};

/** Tables of the schema that the session has for its own. */
const changing: Family = (pick) => {
  const name = `t${pick.below(3)}`;
  const columns = pick.some(types, 4).map((type, at) => `c${at} ${type}`);
  const nulls = columns.map(() => "null").join(", ");
  return [
    `drop table if exists ${name}`,
    `create table ${name} (${columns.join(", ")})`,
    `insert into ${name} values (${nulls})`,
    ...pick.some(
      [
        `select * from ${name}`,
        `show create table ${name}`,
        `describe ${name}`,
        `show columns from ${name} like 'c%'`,
        `insert into ${name} select * from ${name}`,
        `create table ${name} (a integer)`,
        `create table if not exists ${name} (a integer)`,
        `alter table ${name} rename to ${name}_b`,
        `drop table if exists ${name}_b`,
        `alter table ${name} add column more varchar`,
        `alter table ${name} drop column c0`,
        `comment on table ${name} is 'What it is'`,
        `comment on column ${name}.c0 is null`,
        `delete from ${name}`,
        `delete from ${name} where c0 is null`,
        `truncate table ${name}`,
        `update ${name} set c0 = null`,
        `analyze ${name}`,
        `show stats for ${name}`,
        `create or replace view v as select * from ${name}`,
        "select * from v",
        "show create view v",
        "drop view if exists v",
        `create table ${name}_c as select 1 as a, 'x' as b`,
        `drop table ${name}_c`,
        `merge into ${name} t using (values 1) s (a) on false when matched then delete`,
        `grant select on ${name} to user bob`,
        `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns where table_schema = '{way}' and table_name = '${name}' order by ordinal_position`,
        `select * from system.jdbc.columns where table_cat = 'memory' and table_schem = '{way}' and table_name = '${name}'`,
        `select * from system.metadata.table_comments where catalog_name = 'memory' and schema_name = '{way}' and table_name = '${name}'`,
        "create schema {way}_more",
        "drop schema {way}_more",
        "create or replace function {way}.twice(x bigint) returns bigint return x * 2",
        "select {way}.twice(21)",
        "show create function {way}.twice",
        "drop function if exists {way}.twice(bigint)",
      ],
      5,
    ),
  ];
};

const sessions: Family = (pick) => [
  ...pick.one([
    [
      "set session query_max_run_time = '9m'",
      "show session like 'query_max_run_time'",
      "reset session query_max_run_time",
      "show session like 'query_max_run_time'",
    ],
    ["set session join_distribution_type = 'BROADCAST'", "select 1", "show session like 'join_d%'"],
    [
      "set session query_priority = 1 + 1",
      "show session like 'query_priority'",
      "reset session query_priority",
    ],
    [
      "set session nothing_known = 1",
      "reset session nothing_known",
      "set session memory.nothing = 1",
    ],
    ["set session query_priority = 'x'", "set session query_priority ="],
    [
      "set time zone 'Asia/Tokyo'",
      "select current_timezone(), timestamp '2024-01-01 00:00 UTC'",
      "set time zone local",
      "select current_timezone()",
    ],
    [
      "set time zone interval '-08:00' hour to minute",
      "select current_timezone()",
      "set time zone interval '2' hour",
      "select current_timezone()",
    ],
    ["set time zone 'Nowhere/Land'", "select current_timezone()", "set time zone '+25:00'"],
    [
      "use tpch.tiny",
      "show tables",
      "select current_catalog, current_schema",
      "select count(*) from nation",
      "use memory.{way}",
    ],
    ["use nowhere.x", "use tpch.nowhere", "use nothing", "select current_schema"],
    [
      "set path {way}",
      "select current_path",
      "set path memory.{way}, system.builtin",
      "select current_path",
      "set path 'x'",
    ],
    [
      "set role all",
      "set role none",
      "set role nobody",
      "set role admin in memory",
      "show current roles",
      "show roles",
    ],
    ["set session authorization bob", "reset session authorization", "select current_user"],
    ["with session query_max_run_time = '8m' select 1", "with session nothing_known = 1 select 1"],
    ["select current_user, current_catalog, current_schema, current_path, current_timezone()"],
  ]),
];

const transactions: Family = (pick) => {
  const begin = pick.one([
    "start transaction",
    "start transaction isolation level serializable",
    "start transaction isolation level read uncommitted, read write",
    "start transaction read only",
    "start transaction read only, read only",
  ]);
  const writes = [
    "create table {way}.in_transaction (a integer)",
    "insert into {way}.in_transaction values 1",
  ];
  const within = pick.some(
    [
      "select count(*) from tpch.tiny.nation",
      "select * from nowhere",
      "select 1 / 0",
      "select 1",
      "show schemas from tpch",
      "prepare p from select 1",
      "set session query_priority = 2",
      "use tpch.tiny",
      ...writes,
    ],
    3,
  );
  const last = pick.one([[], [], [begin], writes]);
  // A second beginning is refused by the gateway itself, which leaves the transaction as it is. Trino ends it, so a
  // COMMIT would be answered otherwise.
  const isRefused = last[0] === begin;
  const end = isRefused
    ? "rollback"
    : pick.one(["commit", "rollback", "commit work", "rollback work"]);
  const behind = [end, "use memory.{way}", "drop table if exists in_transaction"];
  return [begin, ...within, ...last, end, "select 2", ...behind];
};

const queries: Family = (pick) => {
  const table = pick.one(tables);
  const other = pick.one(tables);
  return [
    pick.one([
      `select * from ${table} order by 1, 2, 3 limit ${pick.below(40)}`,
      `select count(*), count(distinct comment) from (select ${table.split(".").at(-1)?.[0]}_comment as comment from ${table}) x`,
      `select * from ${table} where false`,
      `with a as (select * from ${table} limit 0) select count(*) from a union all select 1`,
      `table ${table} order by 1, 2 fetch first 2 rows only`,
      `select * from ${table} tablesample bernoulli (0)`,
      `explain (type validate) select * from ${table}`,
      `explain (type io, format json) select * from ${table}`,
      `explain select count(*) from ${table}`,
      `show stats for ${table}`,
      `show stats for (select * from ${table})`,
      `describe ${table}`,
      `show create table ${table}`,
      `select a.* from ${table} a full join (select 1 as one from ${other} limit 1) b on false order by 1, 2, 3 limit 5`,
      `values (${pick.value()}), (${pick.value()})`,
      `select x, y from unnest(array[1, null, 3], array['a', 'b']) with ordinality as t(x, y, z)`,
      `select grouping(n), n, sum(x) from (values (1, ${pick.below(9)}), (null, 2)) t(n, x) group by rollup(n) order by 1, 2`,
    ]),
  ];
};

const families: readonly Family[] = [
  values,
  values,
  listed,
  listed,
  failing,
  parameters,
  parameters,
  prepared,
  changing,
  sessions,
  transactions,
  queries,
];
