/** Commands of MySQL's protocol by chance, in an order that no driver would pick. */
import { Buffer } from "node:buffer";
import { Chance } from "@gateway/wire/http/rig/responses.ts";

export const opening = [
  "drop table if exists called",
  "create table called (a int primary key auto_increment, b varchar(20), c double)",
  "insert into called (b, c) values ('one', 1.5), (null, null)",
] as const;

/** How an answer is read: some commands have none, and one answers with a text. */
export type Reading = "result" | "prepared" | "none" | "fetched" | "listed" | "text";

export interface Command {
  readonly shown: string;
  readonly reading: Reading;
  /** Its bytes; a statement's id is the server's own. */
  readonly bytes: (ids: readonly number[]) => Buffer;
}

/** Without `autocommit = 0`: of a statement that reads no table a server tells no transaction, and the gateway began one. */
const texts: readonly [string, ...string[]] = [
  "select 1",
  "select 'x' as a, null as b, 2.50 as c",
  "select 1/0",
  "selec",
  "",
  "select a, b, c from called order by a",
  "insert into called (b, c) values ('two', 2)",
  "update called set b = 'changed' where a = 1",
  "update called set b = b",
  "delete from called where a = 99",
  "select * from missing",
  "begin",
  "start transaction read only",
  "commit",
  "rollback",
  "savepoint s",
  "rollback to s",
  "release savepoint s",
  "set autocommit = 1",
  "set @x = 5",
  "set @y = @x + 1, @x = 7",
  "select last_insert_id() + 0",
  "select 'abc' + 1",
  "do 1",
  "create temporary table own (a int)",
  "insert into own values (1)",
  "select * from own",
  "drop temporary table if exists own",
  "set sql_mode = ''",
  "use demo",
  "use missing",
  "lock tables called read",
  "unlock tables",
];
const several: readonly [string, ...string[]] = [
  "select 1; select 2",
  "insert into called (b) values ('m'); select 2",
  "select 1; selec",
  "begin; select 1; commit",
  "select 1;",
];
const kept: readonly [string, ...string[]] = [
  "select ? as a",
  "select ?, ?",
  "select a, b from called where a = ? or b = ?",
  "insert into called (b) values (?)",
  "select a from called order by a",
  "select 1",
  "set @z = ?",
  "selec ?",
  "select * from missing where a = ?",
  "update called set c = ? where a = 1",
];

export function commandsOf(seed: number): readonly Command[] {
  const chance = new Chance(seed);
  const all: Command[] = [];
  for (let count = 4 + chance.below(16); count > 0; count -= 1) all.push(...stepOf(chance));
  return all;
}

function stepOf(chance: Chance): readonly Command[] {
  const at = chance.below(3);
  switch (chance.below(16)) {
    case 0:
      return [fixed("ping", 0x0e, "result")];
    case 1:
      return [named("init db", 0x02, chance.pick(["demo", "missing", ""]), "result")];
    case 2:
      return [named("query", 0x03, chance.pick(several), "result")];
    case 3:
    case 4:
      return [named("prepare", 0x16, chance.pick(kept), "prepared")];
    case 5:
    case 6:
    case 7: {
      const prepare = named("prepare", 0x16, chance.pick(kept), "prepared");
      return [prepare, executed(-1, chance)];
    }
    case 8:
      return [executed(at, chance)];
    case 9: {
      const rows = chance.below(3);
      return [
        of(`fetch ${at} ${rows}`, "fetched", (ids) => [0x1c, ...u32(idOf(ids, at)), ...u32(rows)]),
      ];
    }
    case 10:
      return [of(`reset ${at}`, "result", (ids) => [0x1a, ...u32(idOf(ids, at))])];
    case 11:
      return [of(`close ${at}`, "none", (ids) => [0x19, ...u32(idOf(ids, at))])];
    case 12:
      if (chance.below(4) === 0) return [fixed("reset connection", 0x1f, "result")];
      return [setOption(chance.below(3))];
    default:
      return [named("query", 0x03, chance.pick(texts), "result")];
  }
}

/** An Execute with as many values as chance has it, all texts or NULL, and sometimes a cursor. */
function executed(at: number, chance: Chance): Command {
  const values = Array.from({ length: chance.below(3) }, () => chance.pick(["1", "x", null, ""]));
  const cursor = chance.below(6) === 0 ? 1 : 0;
  const shown = `execute ${at} ${JSON.stringify(values)} ${cursor}`;
  return of(shown, "result", (ids) => {
    const head = [0x17, ...u32(idOf(ids, at)), cursor, ...u32(1)];
    if (values.length === 0) return head;
    const nulls = values.reduce(
      (bits, value, index) => bits | (value === null ? 1 << index : 0),
      0,
    );
    const types = values.flatMap(() => [253, 0]);
    const cells = values.flatMap((value) =>
      value === null ? [] : [value.length, ...Buffer.from(value)],
    );
    return [...head, nulls, 1, ...types, ...cells];
  });
}

function of(
  shown: string,
  reading: Reading,
  bytes: (ids: readonly number[]) => readonly number[],
): Command {
  return { shown, reading, bytes: (ids) => Buffer.from(bytes(ids)) };
}

/** 0 and 1 turn several statements in one text on and off. */
function setOption(option: number): Command {
  return of(`set option ${option}`, "listed", () => [0x1b, option, 0]);
}

function fixed(shown: string, code: number, reading: Reading): Command {
  return of(shown, reading, () => [code]);
}

function named(shown: string, code: number, text: string, reading: Reading): Command {
  return of(`${shown} ${text}`, reading, () => [code, ...Buffer.from(text)]);
}

/** -1 is the newest; what was never prepared has an id that no server gives. */
function idOf(ids: readonly number[], at: number): number {
  return ids.at(at) ?? 4_000;
}

function u32(value: number): readonly number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return [...bytes];
}
