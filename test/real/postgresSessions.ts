/** Scripts whose statements know of one another: settings, transactions, what is temporary. */
import { changes } from "./postgresChanges.ts";
import type { Scripted, Shape } from "./postgresPick.ts";
import { parameters } from "./postgresQueries.ts";

/** What a session sets and shows. */
export const settings: Shape = (pick) => {
  const name = pick.one([
    "search_path",
    "datestyle",
    "statement_timeout",
    "timezone",
    "work_mem",
    "transaction_isolation",
    "extra_float_digits",
    "client_encoding",
    "standard_conforming_strings",
    "intervalstyle",
    "bytea_output",
    "integer_datetimes",
    "max_identifier_length",
    "default_transaction_isolation",
    "lock_timeout",
    "nothere",
    "transaction_read_only",
    "server_encoding",
    "row_security",
    "enable_seqscan",
  ]);
  const value = pick.one([
    "'1s'",
    "0",
    "'public'",
    "'UTC'",
    "'Asia/Tokyo'",
    "'4MB'",
    "'serializable'",
    "default",
    "on",
    "'x y z'",
    "'iso, mdy'",
    "'postgres'",
    "'hex'",
  ]);
  const read = pick.one([
    `show ${name}`,
    `select current_setting('${name}')`,
    `select current_setting('${name}', true)`,
  ]);
  return pick.one<() => readonly Scripted[]>([
    () => [pick.plain(read)],
    () => [
      pick.plain(`set ${name} = ${value}`),
      pick.plain(read),
      pick.plain(
        `select ${pick.literal("timestamptz")}, ${pick.literal("interval")}, ${pick.literal("bytea")}`,
      ),
      pick.plain(`reset ${name}`),
    ],
    () => [
      pick.plain(
        `select set_config('${name}', ${value.startsWith("'") ? value : `'${value}'`}, ${pick.one(["true", "false"])})`,
      ),
      pick.plain(read),
      pick.plain(`reset ${name}`),
    ],
    () => [
      pick.plain("begin"),
      pick.plain(`set local ${name} = ${value}`),
      pick.plain(read),
      pick.plain(pick.one(["commit", "rollback"])),
      pick.plain(read),
      pick.plain(`reset ${name}`),
    ],
    () => [
      pick.plain(`select set_config('search_path', 'public', false) from parent where id < 3`),
      pick.plain("show search_path"),
      pick.plain("reset search_path"),
    ],
    () => [
      pick.plain(`select set_config('my.own', 'x', false)`),
      pick.plain("select current_setting('my.own', true)"),
      pick.plain("reset my.own"),
    ],
    () => [
      pick.plain(`set timezone = 'Asia/Tokyo'`),
      pick.plain(`select ${pick.literal("timestamptz")}, '2024-01-01'::timestamptz`),
      ...parameters(pick),
      pick.plain("reset timezone"),
    ],
  ])();
};

/** Transactions with whatever may be in them. */
export const transactions: Shape = (pick) => {
  const begin = pick.one([
    "begin",
    "start transaction",
    "begin isolation level repeatable read",
    "begin read only",
    "begin isolation level serializable",
    "begin transaction isolation level read committed, read write",
    "begin read only deferrable",
  ]);
  const inside = pick
    .times(6, () =>
      pick.one<() => readonly Scripted[]>([
        () => changes(pick),
        () => changes(pick),
        () => parameters(pick),
        () => [pick.plain("savepoint a")],
        () => [pick.plain("rollback to a")],
        () => [pick.plain("release a")],
        () => [pick.plain("select 1 / 0")],
        () => [pick.plain("show transaction_isolation")],
        () => [pick.plain("show transaction_read_only")],
        () => [pick.plain("begin")],
        () => [
          pick.plain(`create temp table scratch on commit drop as select ${pick.literal()} as a`),
          pick.plain("select a from scratch"),
        ],
        () => [pick.plain("select count(*), sum(n) from changed")],
        () => [
          pick.plain("declare cur cursor for select id, name from parent order by id"),
          pick.plain("fetch 2 from cur"),
          pick.plain("move 1 in cur"),
          pick.plain("fetch cur"),
          pick.plain("close cur"),
        ],
      ])(),
    )
    .flat();
  const modes = pick.one(["repeatable read", "serializable", "read committed"]);
  const told = pick.below(4) === 0 ? [pick.plain(`set transaction isolation level ${modes}`)] : [];
  return [
    pick.plain(begin),
    ...told,
    ...inside,
    pick.plain(pick.one(["commit", "rollback", "end", "abort", "commit and chain"])),
    pick.plain("rollback"),
  ];
};

/** What would be lost between two statements, or behind a transaction. */
export const lost: Shape = (pick) => [
  ...pick.one([[], [pick.plain("begin")]]),
  pick.plain(
    pick.one([
      "create table pg_temp.scratch (a int)",
      "create temp table scratch (a int) on commit delete rows",
      "do $$ begin create temp table scratch (a int); end $$",
      "create temp table scratch (a int)",
      "select 1 as a into temp scratch",
      "create temp view scratch as select 1 as a",
      "create temp sequence scratched",
    ]),
  ),
  ...pick.one([[], [pick.plain("commit")]]),
  pick.plain("select a from scratch"),
  pick.plain("rollback"),
  pick.plain("drop table if exists scratch"),
  pick.plain("drop view if exists scratch"),
  pick.plain("drop sequence if exists scratched"),
];
