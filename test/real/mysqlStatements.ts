/**
 * Statements by chance for servers of MySQL's family: programs of a session, each a list of steps. They follow
 * from the seed alone, so the same program runs direct and through.
 */

import { columns, functions } from "./mysqlTexts.ts";

/** One statement, with values where it is to be prepared. */
export interface Step {
  readonly sql: string;
  /** Present: prepared, and run with these. */
  readonly values?: readonly (string | number | null | Buffer | Date)[];
}

/** Numbers between 0 and 1 that follow from the seed. */
export type Chance = () => number;

function pick<T>(chance: Chance, of: readonly T[]): T {
  return of[Math.floor(chance() * of.length)] as T;
}

const names = Object.keys(columns);

/** The table that all steps are about. */
export const table = "made_t";

/** Statements before each program: the table anew, with two rows that are known. */
export const opening: readonly string[] = [
  `drop table if exists ${table}`,
  `create table ${table} (id int not null auto_increment primary key, ${names
    .map((name) => `${name} ${columns[name]?.type ?? ""}`)
    .join(", ")}, uq int unique) default charset utf8mb4`,
  `insert into ${table} (c_int, c_text, c_dec, uq) values (1, 'one', 1.5, 1), (2, 'two', -2.25, 2)`,
];

/** The steps of one program. */
export function programOf(chance: Chance, length: number): readonly Step[] {
  return Array.from({ length }, () => pick(chance, kinds)(chance));
}

type Kind = (chance: Chance) => Step;

function value(chance: Chance, name: string): string {
  return chance() < 0.15 ? "null" : pick(chance, columns[name]?.values ?? ["null"]);
}

function some(chance: Chance, count: number): readonly string[] {
  return [...new Set(Array.from({ length: count }, () => pick(chance, names)))];
}

const insert: Kind = (chance) => {
  const into = some(chance, 3);
  const verb = pick(chance, ["insert into", "insert into", "insert ignore into", "replace into"]);
  const row = () => `(${into.map((name) => value(chance, name)).join(", ")})`;
  const rows = chance() < 0.3 ? `${row()}, ${row()}` : row();
  return { sql: `${verb} ${table} (${into.join(", ")}) values ${rows}` };
};

const insertUnique: Kind = (chance) => {
  const more = pick(chance, ["", "", " on duplicate key update c_int = c_int + 1"]);
  return {
    sql: `insert into ${table} (uq, c_int) values (${pick(chance, ["1", "2", "3"])}, 9)${more}`,
  };
};

const insertPrepared: Kind = (chance) => ({
  sql: `insert into ${table} (c_int, c_dec, c_double, c_text, c_bin, c_date) values (?, ?, ?, ?, ?, ?)`,
  values: [
    pick(chance, [7, -7, null]),
    pick(chance, ["1.25", "-0.001", "abc", null]),
    pick(chance, [0.1, 1e21, null]),
    pick(chance, ["it's", "\0", "\\", "ä😀", null]),
    pick(chance, [Buffer.from([0, 255, 39, 92]), null]),
    pick(chance, ["2024-02-29", "2024-02-31", null]),
  ],
});

const read: Kind = (chance) => {
  const list = some(chance, 4).join(", ");
  return { sql: `select id, ${list} from ${table} order by id limit 20` };
};

const readPrepared: Kind = (chance) => {
  const list = some(chance, 4).join(", ");
  return {
    sql: `select id, ${list} from ${table} where id >= ? order by id limit 20`,
    values: [pick(chance, [0, 1, 2, 99])],
  };
};

const aggregate: Kind = (chance) => {
  const name = pick(chance, names);
  const what = pick(chance, [
    "sum",
    "min",
    "max",
    "avg",
    "count",
    "count(distinct",
    "bit_or",
    "std",
  ]);
  const call = what.includes("(") ? `${what} ${name})` : `${what}(${name})`;
  const group = chance() < 0.4 ? ` group by c_enum order by c_enum` : "";
  return { sql: `select ${call} as a, count(*) as n from ${table}${group}` };
};

const update: Kind = (chance) => {
  const name = pick(chance, names);
  const where = pick(chance, ["id = 1", "id <= 2", "id = 99", "uq is null", "c_int > 0"]);
  return { sql: `update ${table} set ${name} = ${value(chance, name)} where ${where}` };
};

const remove: Kind = (chance) => ({
  sql: `delete from ${table} where ${pick(chance, ["id = 2", "id > 12", "id = 99", "c_text = 'x'"])}`,
});

const expression: Kind = (chance) => {
  const list = Array.from({ length: 1 + Math.floor(chance() * 3) }, () => pick(chance, functions));
  // A comment up to the end of the line would hide what follows.
  const sorted = list.toSorted((a, b) => Number(a.includes("--")) - Number(b.includes("--")));
  const only = sorted.filter((text, at) => !text.includes("--") || at === sorted.length - 1);
  return { sql: `select ${only.join(", ")}` };
};

const expressionPrepared: Kind = (chance) => ({
  ...expression(chance),
  values: [],
});

const parameters: Kind = (chance) =>
  pick<Step>(chance, [
    {
      sql: "select ? as a, ? as b",
      values: [pick(chance, ["x", "", "ä\0", null]), pick(chance, [1, -5, null])],
    },
    { sql: "select ? + 1 as a", values: [pick(chance, ["12", 3])] },
    { sql: "select concat(?, ?) as a", values: ["a", pick(chance, ["b", null])] },
    { sql: "select hex(?) as a", values: [Buffer.from([0, 1, 255])] },
    { sql: "select ? = 'A' as a", values: ["a"] },
    { sql: "select id from made_t where c_text = ? or c_int = ? order by id", values: ["one", 2] },
    { sql: "select id from made_t order by id limit ?", values: ["1"] },
    { sql: "select date_add(?, interval ? day) as a", values: ["2024-02-28", 2] },
  ]);

const modes = [
  "",
  "ONLY_FULL_GROUP_BY",
  "STRICT_ALL_TABLES",
  "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE",
  "NO_UNSIGNED_SUBTRACTION",
  "PIPES_AS_CONCAT",
  "PAD_CHAR_TO_FULL_LENGTH",
  "ALLOW_INVALID_DATES",
  "ERROR_FOR_DIVISION_BY_ZERO",
  "ANSI_QUOTES",
  "NO_BACKSLASH_ESCAPES",
  "no_such_mode",
];

const variable: Kind = (chance) => ({
  sql: pick(chance, [
    () => `set sql_mode = '${pick(chance, modes)}'`,
    () => `set session sql_mode = '${pick(chance, modes)}'`,
    () => "set sql_mode = default",
    () =>
      `set time_zone = '${pick(chance, ["+02:00", "-05:30", "+00:00", "SYSTEM", "Mars/Base"])}'`,
    () => `set group_concat_max_len = ${pick(chance, ["4", "1024"])}`,
    () => `set div_precision_increment = ${pick(chance, ["2", "4", "9"])}`,
    () => "set div_precision_increment = default",
    () => "set sql_safe_updates = 1",
    () => "set sql_safe_updates = 0",
    () => "set foreign_key_checks = 0",
    () => "set no_such_variable = 1",
    () => "set names utf8mb4",
    () =>
      `set names utf8mb4 collate ${pick(chance, ["utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci"])}`,
    () => "set names no_such_set",
    () => "set collation_connection = utf8mb4_bin",
    () => "set timestamp = 1700000000",
    () => "set timestamp = default",
    () => "set autocommit = 1",
    () => "set @v = 5",
    () => "set @v = 'text'",
    () => "set @v = 1.5",
    () => "set max_length_for_sort_data = 2000",
    () => "set sql_select_limit = 1",
    () => "set sql_select_limit = default",
    () => "set global max_connections = 7",
    () => "set session transaction isolation level read committed",
    () => "set session transaction isolation level repeatable read",
  ])(),
});

const asked: Kind = (chance) => ({
  sql: pick(chance, [
    "select @@sql_mode",
    "select @@session.sql_mode as m, @@autocommit as a",
    "select @@div_precision_increment",
    "select @@group_concat_max_len",
    "select @@time_zone",
    "select @@collation_connection",
    "select @@character_set_results",
    "select @@transaction_isolation",
    "select @@tx_isolation",
    "select @@version",
    "select version()",
    "select @@no_such_variable",
    "select @@global.sql_mode",
    "select @@lower_case_table_names",
    "select @@foreign_key_checks, @@unique_checks",
    "select @v",
    "select @never",
    "select @v + 1",
    "select @v := 3",
    "select id into @v from made_t limit 1",
    "select now() = current_timestamp",
    "select unix_timestamp(now()) = 1700000000",
    "select @@warning_count",
    "select group_concat(c_text order by id) from made_t",
    "select 1/3",
    "select @@max_length_for_sort_data",
    "show variables like 'sql_mode'",
    "show variables like 'div_prec%'",
    "show session variables where variable_name = 'version'",
    "select @@character_set_server, @@collation_server, @@character_set_database",
    "select @@system_time_zone",
  ]),
});

const about: Kind = (chance) => ({
  sql: pick(chance, [
    `show create table ${table}`,
    `show columns from ${table}`,
    `show full columns from ${table} like 'c_b%'`,
    `show index from ${table}`,
    `describe ${table}`,
    `desc ${table} c_enum`,
    "show tables like 'made%'",
    "show warnings",
    "show errors",
    "show count(*) warnings",
    "show databases like 'demo'",
    `show create table no_such_t`,
    "show collation like 'utf8mb4_b%'",
    "show character set like 'utf8mb4'",
    "show engines",
    "show triggers",
    `explain select * from ${table}`,
    `select column_name, data_type, column_type, is_nullable from information_schema.columns where table_schema = database() and table_name = '${table}' order by ordinal_position`,
    `select table_name, table_type, engine, table_collation from information_schema.tables where table_name = '${table}'`,
    "select constraint_name, constraint_type from information_schema.table_constraints where table_name = 'made_t' order by 1",
    `show table status like 'no_such%'`,
    "show procedure status like 'x'",
    "show plugins like 'x'",
    "show privileges like 'x'",
    "show open tables like 'x'",
    "show events",
  ]),
});

const wrong: Kind = (chance) => ({
  sql: pick(chance, [
    "selec 1",
    "select",
    "select * from no_such_t",
    `select no_such from ${table}`,
    `insert into ${table} (id) values (1)`,
    `insert into ${table} (id, id) values (1, 1)`,
    "select 1 from",
    "use no_such_db",
    "drop table no_such_t",
    "drop table if exists no_such_t",
    `create table ${table} (a int)`,
    `select id, count(*) from ${table}`,
    "call no_such()",
    `alter table ${table} drop column no_such`,
    "select (select 1 union select 2)",
    "select 'open",
    "select 1; select 2",
    "kill 99999999",
    "select * from made_t where id = (select id from made_t)",
    `insert into ${table} (c_json) values ('{')`,
    `update ${table} set id = 1 where id = 2`,
    "savepoint s",
    "rollback to no_such",
    "lock tables made_t read",
    "create temporary table tmp_t (a int)",
    "do sleep(0)",
    "handler made_t open",
    "prepare p from 'select 1'",
    "execute p",
    "truncate no_such_t",
    "select get_lock('a', 0)",
    "signal sqlstate '45000' set message_text = 'own'",
    "analyze table made_t",
    "checksum table made_t",
  ]),
});

const transaction: Kind = (chance) => ({
  sql: pick(chance, [
    "begin",
    "start transaction",
    "commit",
    "rollback",
    "start transaction read only",
    "start transaction with consistent snapshot",
  ]),
});

/** Each as often as it stands here. */
const kinds: readonly Kind[] = [
  insert,
  insert,
  insert,
  insert,
  insertUnique,
  insertPrepared,
  read,
  read,
  read,
  readPrepared,
  readPrepared,
  readPrepared,
  readPrepared,
  aggregate,
  aggregate,
  update,
  update,
  remove,
  expression,
  expression,
  expression,
  expressionPrepared,
  expressionPrepared,
  parameters,
  parameters,
  variable,
  variable,
  asked,
  asked,
  about,
  about,
  wrong,
  wrong,
  transaction,
];
