/** PostgreSQL's types through its ADBC driver: each as PostgreSQL itself writes it, or refused, and none as something else. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresCluster } from "./adbcHost.ts";

/** Types of which the driver knows only the bytes, and how PostgreSQL writes them. */
const written = [
  ["'ok'::shown.mood", "ok"],
  ["'10.0.0.1/8'::inet", "10.0.0.1/8"],
  ["'10.0.0.0/8'::cidr", "10.0.0.0/8"],
  ["'08:00:2b:01:02:03'::macaddr", "08:00:2b:01:02:03"],
  ["point(1, 2)", "(1,2)"],
  ["int4range(1, 5)", "[1,5)"],
  ["B'101'", "101"],
  ["B'1010'::varbit", "1010"],
  ["'10:00:00+02'::timetz", "10:00:00+02"],
  ["'a b'::tsvector", "'a' 'b'"],
  ["'16/B374D848'::pg_lsn", "16/B374D848"],
  ["'<a/>'::xml", "<a/>"],
  ["row(1, 'x')", "(1,x)"],
  ["row(1, 2)::shown.pair", "(1,2)"],
  ["'NaN'::numeric", "NaN"],
  ["'pg_class'::regclass", "pg_class"],
  ["'$1.50'::money", "$1.50"],
  ["4294967295::oid", "4294967295"],
  ["'now'::regproc", "now"],
  ["'1 2'::int2vector", "1 2"],
  ["'1 4294967295'::oidvector", "1 4294967295"],
  ["''::\"char\"", ""],
] as const;

describe("a type of PostgreSQL", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await postgresCluster();
    await ran(backend, "create schema shown");
    await ran(backend, "create type shown.mood as enum ('ok', 'sad')");
    await ran(backend, "create type shown.pair as (a int, b int)");
    await ran(
      backend,
      "create table shown.priced (id bigserial, at inet, price numeric, day date)",
    );
  });
  afterAll(async () => {
    await ran(backend, "drop schema shown cascade");
    await backend[Symbol.asyncDispose]();
  });

  it("that its driver does not know arrives as its text", async () => {
    const sql = `select ${written.map(([expression]) => expression).join(", ")}`;
    const { rows, columns } = await ran(backend, sql);
    expect(rows).toEqual([written.map(([, text]) => text)]);
    expect(new Set(columns.map(({ type }) => type.kind))).toEqual(new Set(["text"]));
    expect(columns[1]?.engineType).toBe("INET");
  });

  it("is described as it arrives", async () => {
    const sql =
      "select 'ok'::shown.mood, '{10.0.0.1}'::inet[], 1::int8, '\\x00'::bytea, 1.5::numeric";
    const described = valueOf(await backend.describe(identifiedOf(sql), never));
    const { columns, rows } = await ran(backend, sql);
    expect(described.columns).toEqual(columns);
    expect(columns.map(({ numeric }) => numeric)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      "any",
    ]);
    expect(rows).toEqual([["ok", ["10.0.0.1"], 1n, new Uint8Array(1), "1.5"]]);
  });

  it("keeps boxes whole, whose arrays semicolons part", async () => {
    const boxes = "{(2,2),(0,0);(1,1),(0,0)}";
    expect((await ran(backend, `select '${boxes}'::box[]`)).rows).toEqual([[boxes]]);
  });

  it("keeps the names of columns, also where two have the same", async () => {
    const { columns, rows } = await ran(
      backend,
      'select 1::int8 as a, 2::int8 as a, 3::int8 as "B c"',
    );
    expect(columns.map(({ name }) => name)).toEqual(["a", "a", "B c"]);
    expect(rows).toEqual([[1n, 2n, 3n]]);
  });

  it("keeps the order of its rows, and the place of an error", async () => {
    const ordered = await ran(
      backend,
      "select i::int8 from generate_series(1, 5) i order by i desc",
    );
    expect(ordered.rows).toEqual([[5n], [4n], [3n], [2n], [1n]]);
    const { last } = await ran(backend, "select 1::int8, nothere");
    expect(last).toMatchObject({ error: { sqlState: "42703", position: 17 } });
  });

  it("arrives from RETURNING as well, and the change is made once", async () => {
    const sql =
      "insert into shown.priced (at, price) values ('10.0.0.1', 1.50) returning id, at, price";
    const { rows, last } = await ran(backend, sql);
    expect(rows).toEqual([[1n, "10.0.0.1", "1.50"]]);
    expect(last).toMatchObject({ kind: "done", updateType: "INSERT", updateCount: 1 });
    expect((await ran(backend, "select count(*) from shown.priced")).rows).toEqual([[1n]]);
  });

  it("arrives from a change in a WITH as well, and no number stands for something else", async () => {
    const made =
      "with made as (insert into shown.priced (at) values ('10.0.0.1') returning id, at)";
    expect((await ran(backend, `${made} select id, at from made`)).rows).toEqual([
      [2n, "10.0.0.1"],
    ]);
    const cost = `${made} select '$1.50'::money as cost, '{$1.50}'::money[] from made`;
    expect(await ran(backend, cost)).toMatchObject({ rows: [], last: { kind: "failed" } });
    const late = "insert into shown.priced (day) values ('infinity') returning day";
    expect(await ran(backend, late)).toMatchObject({ rows: [], last: { kind: "failed" } });
    expect((await ran(backend, "select count(*) from shown.priced")).rows).toEqual([[2n]]);
  });

  it("is a number where it is one, also of a type made over it", async () => {
    await ran(backend, "create domain shown.few as int check (value < 10)");
    await ran(backend, "create domain shown.fewer as shown.few");
    const { rows } = await ran(backend, "select 7::shown.fewer, '{1,4294967295}'::oid[], 1::int4");
    expect(rows).toEqual([[7n, ["1", "4294967295"], 1n]]);
  });

  it.each([
    ["an array of two dimensions", "select '{{1,2},{3,4}}'::int[]"],
    ["an array of texts with two dimensions", "select array[['a'], ['b']]"],
    ["an array that begins elsewhere", "select '[0:1]={1,2}'::int[]"],
    ["an infinite date", "select 'infinity'::date"],
    ["an infinite timestamp", "select '-infinity'::timestamp"],
    ["an infinite instant among others", "select unnest(array[now(), null, 'infinity'])"],
    ["a timestamp beyond what microseconds can count", "select '294276-01-01'::timestamp"],
    ["an infinite date in an array", "select array['infinity'::date]"],
  ])("can not be shown and is refused: %s", async (_what, sql) => {
    const answer = await ran(backend, sql);
    expect(answer.last).toMatchObject({ kind: "failed" });
    expect(answer.rows).toEqual([]);
    const text = sql.replace(/^select (.*)$/, "select ($1)::text");
    expect(codeOf(await ran(backend, text))).toBeUndefined();
  });

  it("takes the first and the last day that can be counted", async () => {
    const sql =
      "select '4714-11-24 BC'::date, '5874897-12-31'::date, '4714-11-24 BC'::timestamp, '{}'::int[], null::int[]";
    const { rows, last } = await ran(backend, sql);
    expect(last).toMatchObject({ kind: "done" });
    expect(rows[0]?.slice(3)).toEqual([[], null]);
  });
});

describe("a query that ran before", () => {
  let backend: Backend;
  /** Another client of the server. */
  let other: Backend;
  beforeAll(async () => {
    [backend, other] = [await postgresCluster(), await postgresCluster()];
  });
  afterAll(async () => {
    await ran(backend, "drop table if exists changing");
    for (const one of [backend, other]) await one[Symbol.asyncDispose]();
  });

  const sql = "select * from changing";
  async function changing(change: string) {
    await ran(backend, "drop table if exists changing");
    await ran(backend, "create table changing (a int8, b numeric)");
    await ran(backend, "insert into changing values (1, 1.50)");
    for (let time = 0; time < 2; time += 1) {
      expect((await ran(backend, sql)).rows).toEqual([[1n, "1.50"]]);
    }
    await ran(other, change);
    return await ran(backend, sql);
  }

  it.each([
    ["another column", "alter table changing add column c inet default '10.0.0.1'"],
    ["one column less", "alter table changing drop column a"],
    ["text in place of a number", "alter table changing alter column b type text using 'x'"],
  ])("is answered with %s that another client made", async (_what, change) => {
    const direct = await changing(change).then(async ({ rows, columns, last }) => {
      expect(last).toMatchObject({ kind: "done" });
      return { rows, columns: columns.map(({ name, numeric }) => [name, numeric]) };
    });
    // Its own cluster asks for the columns anew.
    const fresh = await ran(other, sql);
    expect(direct.rows).toEqual(fresh.rows);
    expect(direct.columns).toEqual(fresh.columns.map(({ name, numeric }) => [name, numeric]));
  });

  it("is refused once where a column is what its driver does not know by now", async () => {
    const change = "alter table changing alter column a type inet using '10.0.0.1'";
    expect(codeOf(await changing(change))).toBe("query.unsupported");
    expect((await ran(backend, sql)).rows).toEqual([["10.0.0.1", "1.50"]]);
  });

  it("means a transaction's own table there, and nowhere else", async () => {
    const named = "select * from shadowed";
    await ran(backend, "drop table if exists shadowed");
    await ran(backend, "create table shadowed (a int8)");
    await ran(backend, "insert into shadowed values (1)");
    expect((await ran(backend, named)).rows).toEqual([[1n]]);
    {
      await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
      await ran(lane, "create temporary table shadowed (a money) on commit drop");
      await ran(lane, "insert into shadowed values ('$1.50')");
      for (let time = 0; time < 2; time += 1) {
        expect((await ran(lane, named)).rows).toEqual([["$1.50"]]);
      }
    }
    expect((await ran(backend, named)).rows).toEqual([[1n]]);
    await ran(backend, "drop table shadowed");
  });
});

const text = (value: string | null): Parameter => ({ type: { kind: "text" }, value });

describe("a parameter without a type", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await postgresCluster();
    await ran(backend, "create type feeling as enum ('ok', 'sad')");
    await ran(
      backend,
      "create table typed (n numeric, j jsonb, i inet, f feeling, c char(3), b bit(3), a int[], d date, t text)",
    );
  });
  afterAll(async () => {
    await ran(backend, "drop table typed");
    await ran(backend, "drop type feeling");
    await backend[Symbol.asyncDispose]();
  });

  it("goes into a column of any type, as PostgreSQL would read it", async () => {
    const given = ["1.50", '{"a": 1}', "10.0.0.1", "sad", "ab", "101", "{1,2}", "2024-02-29", "x"];
    const sql = "insert into typed values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    const answer = await ran(backend, sql, { parameters: given.map(text) });
    expect(answer.last).toMatchObject({ kind: "done", updateCount: 1 });
    const shown = await ran(
      backend,
      "select n::text, j::text, host(i), f::text, c::text, b::text, a::text, d::text, t from typed",
    );
    expect(shown.rows).toEqual([
      ["1.50", '{"a": 1}', "10.0.0.1", "sad", "ab", "101", "{1,2}", "2024-02-29", "x"],
    ]);
  });

  it("is compared as the type of the other side, and NULL stays NULL", async () => {
    const found = await ran(backend, "select t from typed where f = $1 and n > $2", {
      parameters: [text("sad"), text("1")],
    });
    expect(found.rows).toEqual([["x"]]);
    const nothing = await ran(backend, "select t from typed where i = $1", {
      parameters: [text(null)],
    });
    expect(nothing.rows).toEqual([]);
    expect(codeOf(nothing)).toBeUndefined();
  });

  it("is described by a type in which its value can be sent", async () => {
    const sql = "select 1 from typed where n = $1 and i = $2 and a = $3 and f = $4";
    const { parameters } = valueOf(await backend.describe(identifiedOf(sql), never));
    expect(parameters.map(({ kind }) => kind)).toEqual(["decimal", "text", "list", "text"]);
  });

  it("names a relation by its name and by its number", async () => {
    const sql = "select $1::regclass::text, $2::regclass::text, $3::regclass::text";
    const parameters = ["pg_class", "1259", null].map(text);
    expect((await ran(backend, sql, { parameters })).rows).toEqual([
      ["pg_class", "pg_class", null],
    ]);
  });

  it("that has a wrong text fails with PostgreSQL's own code", async () => {
    const { last } = await ran(backend, "select t from typed where n = $1", {
      parameters: [text("x")],
    });
    expect(last).toMatchObject({ error: { code: "query.data", sqlState: "22P02" } });
  });
});
