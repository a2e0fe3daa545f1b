/** Statements that change tables, make them, or can not be read. */
import { columnOf, type Pick, type Scripted, type Shape, type Valued } from "./postgresPick.ts";

/** What a change is made of. */
interface Drawn {
  readonly pick: Pick;
  readonly id: number;
  readonly type: string;
  readonly value: Valued;
}

const statements: readonly ((drawn: Drawn) => Scripted)[] = [
  ({ pick, type, value }) =>
    pick.valued(`insert into every (${columnOf(type)}) values ($1) returning ${columnOf(type)}`, [
      value,
    ]),
  ({ pick, type, value }) =>
    pick.valued(`insert into every (${columnOf(type)}) values ($1)`, [value]),
  ({ pick, id }) => pick.plain(`insert into changed (u, parent) values (${id}, ${id})`),
  ({ pick, id }) =>
    pick.plain(
      `insert into changed (u, n) values (${id}, ${pick.one(["1.5", "1000", "'NaN'", "1.005", "null"])}) returning *`,
    ),
  ({ pick, id }) =>
    pick.plain(
      `insert into changed (u, v) values (${id + 100}, ${pick.one(["'abc'", "'abcd'", "null", "'x'"])}) on conflict (u) do update set v = excluded.v returning id > 0, v`,
    ),
  ({ pick, id }) =>
    pick.plain(
      `insert into changed (u) select u from changed where u < ${id} on conflict do nothing`,
    ),
  ({ pick }) => pick.plain(`insert into changed (d) values (null)`),
  ({ pick }) => pick.plain(`insert into changed (p) values (${pick.one(["1", "0", "-1"])})`),
  ({ pick }) => pick.plain(`insert into changed (x) values (1)`),
  ({ pick, id }) => pick.plain(`update changed set n = n + 1 where u < ${id}`),
  ({ pick, id }) =>
    pick.plain(
      `update changed set m = ${pick.one(["'sad'", "'glad'", "null"])} where u = ${id} returning m, n`,
    ),
  ({ pick, id }) =>
    pick.plain(
      `update changed c set v = null from parent p where p.id = c.parent and p.id = ${id} returning c.*, p.*`,
    ),
  ({ pick, id }) => pick.plain(`delete from changed where u > ${id + 100} returning u`),
  ({ pick, id }) => pick.plain(`delete from parent where id = ${id}`),
  ({ pick, id }) =>
    pick.plain(
      `with gone as (delete from changed where u = ${id} returning u, n) select * from gone`,
    ),
  ({ pick, id }) =>
    pick.plain(
      `with made as (insert into changed (u) values (${id + 200}) returning n, '$1.50'::money as cost) select * from made`,
    ),
  ({ pick, id }) =>
    pick.plain(
      `with made as (insert into changed (u) values (${id + 300}) returning u) insert into parent select u, null from made`,
    ),
  ({ pick, id }) =>
    pick.valued(`update changed set n = $1 where u = $2 returning n`, [
      { type: "numeric", text: pick.one(["1.25", "x", "1e3", null]) },
      { type: "int4", text: `${id}` },
    ]),
  ({ pick, id }) =>
    pick.valued(`insert into changed (u, m, d) values ($1, $2, $3) returning u, m, d`, [
      { type: "int4", text: `${id + 400}` },
      { type: "mood", text: pick.one(["ok", "bad"]) },
      { type: "date", text: pick.text("date") },
    ]),
  ({ pick, id }) =>
    pick.plain(
      `merge into parent p using (values (${id})) s(id) on p.id = s.id when matched then update set name = name when not matched then insert values (s.id, 'made ' || s.id)`,
    ),
  ({ pick, id }) =>
    pick.plain(`create table made_${id} as select * from parent limit ${pick.below(4)}`),
  ({ pick, id }) => pick.plain(`drop table if exists made_${id}`),
  ({ pick }) => pick.plain(`drop table nothere`),
  ({ pick, id }) => pick.plain(`create table made_${id} (a int default 1, b text)`),
  ({ pick, id }) => pick.plain(`alter table made_${id} add column z${pick.below(3)} int`),
  ({ pick }) => pick.plain(`create index on changed (u)`),
  ({ pick, id }) => pick.plain(`select * into made_${id} from parent`),
  ({ pick, id }) => pick.plain(`truncate made_${id}`),
  ({ pick }) => pick.plain(`comment on table parent is 'said'`),
  ({ pick }) => pick.plain(`analyze parent`),
  ({ pick }) => pick.plain(`create or replace view seen as select id, name from parent`),
  ({ pick }) => pick.plain(`grant select on parent to public`),
  ({ pick }) => pick.plain(`do $$ begin perform 1; end $$`),
  ({ pick, id }) => pick.plain(`call called(${id})`),
  ({ pick }) => pick.plain(`explain (costs off) select * from parent where id = 1`),
  ({ pick }) => pick.plain(`create sequence if not exists counted`),
  ({ pick }) => pick.plain(`select setval('counted', 5)`),
  ({ pick }) => pick.plain(`select nextval('counted')`),
  ({ pick }) => pick.plain(`lock table parent`),
  ({ pick }) => pick.plain(`refresh materialized view nothere`),
  ({ pick }) => pick.plain(`selec 1`),
  ({ pick }) => pick.plain(`select 1 from`),
  ({ pick }) => pick.plain(`select 'open`),
  ({ pick }) => pick.plain(`insert into parent values (1, 2, 3)`),
  ({ pick }) => pick.plain(`insert into nothere values (1)`),
  ({ pick }) => pick.plain(`select a from parent`),
  ({ pick }) => pick.plain(`select id from parent p, changed c`),
  ({ pick }) => pick.plain(`select count(*) from parent group by id having id`),
  () => ({ sql: "-- nothing", form: "simple", binaryRows: false, values: [] }),
];

/** A statement that changes something, or is wrong. */
export const changes: Shape = (pick) => {
  const type = pick.type();
  const drawn = { pick, type, value: pick.value(type), id: pick.below(40) };
  return [pick.one(statements)(drawn)];
};
