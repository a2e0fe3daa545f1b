/** Statements of PostgreSQL from a seed: values of every kind, functions, changes, errors, transactions. */
import { chanceOf } from "../ordinary/chance.ts";
import { changes } from "./postgresChanges.ts";
import { Pick, quoted, type Scripted, type Shape } from "./postgresPick.ts";
import {
  aggregates,
  arrays,
  calls,
  columns,
  conversions,
  literals,
  parameters,
  sets,
} from "./postgresQueries.ts";
import { lost, settings, transactions } from "./postgresSessions.ts";
import { texts } from "./postgresTexts.ts";

/** What both servers have before the first script. */
export const prepared = `
create type mood as enum ('ok', 'sad', 'it''s "so"');
create type pair as (a int, b text);
create domain positive as int check (value > 0);
create domain label as varchar(5) not null;
create table parent (id int primary key, name text unique);
create table changed (id serial primary key, parent int references parent, n numeric(6,2) check (n < 1000),
  m mood default 'ok', v varchar(3), u int unique, d date not null default '2024-01-01', p positive, x int generated always as (u * 2) stored,
  exclude using btree (v with =));
create table every (${Object.keys(texts)
  .map((type, index) => `c${index} ${type}`)
  .join(", ")});
create view seen as select id, name from parent;
insert into parent select i, 'name ' || i from generate_series(1, 20) i;
insert into changed (parent, n, u) select i, i / 3.0, i from generate_series(1, 20) i;
${everyRows()}
create function pair_of() returns setof pair language sql as $$ select 1, 'x' union all select null, null $$;
create function raised(code text) returns int language plpgsql as $$ begin
  raise exception 'raised %', code using errcode = code, detail = 'the detail', hint = 'the hint'; end $$;
create function told() returns int language plpgsql as $$ begin raise notice 'told'; return 1; end $$;
create procedure called(inout a int) language plpgsql as $$ begin a := a + 1; end $$;
`;

function everyRows(): string {
  const all = Object.entries(texts);
  const longest = Math.max(...all.map(([, values]) => values.length));
  const rows = Array.from({ length: longest + 1 }, (_, row) =>
    all.map(([, values]) => (row === longest ? "null" : quoted(values[row % values.length] ?? ""))),
  );
  return `insert into every values ${rows.map((row) => `(${row.join(", ")})`).join(",\n")};`;
}

/** A script: statements that follow one another on one connection. */
export function scriptOf(seed: number): readonly Scripted[] {
  const pick = new Pick(chanceOf(seed));
  return pick.one(shapes)(pick);
}

const several: Shape = (pick) => {
  const statements = pick.times(
    3,
    () => pick.one([literals, changes, conversions])(pick)[0]?.sql ?? "select 1",
  );
  return [{ sql: statements.join(";"), form: "simple", binaryRows: false, values: [] }];
};

const shapes: readonly Shape[] = [
  literals,
  literals,
  literals,
  arrays,
  arrays,
  columns,
  columns,
  conversions,
  conversions,
  calls,
  calls,
  calls,
  aggregates,
  sets,
  sets,
  parameters,
  parameters,
  parameters,
  parameters,
  changes,
  changes,
  changes,
  settings,
  transactions,
  several,
  lost,
];
