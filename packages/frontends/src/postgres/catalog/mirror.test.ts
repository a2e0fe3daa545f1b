/** What a mirror answers and what it never lets happen, asked through a session as a client does. */
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterAll, describe, expect, it } from "vitest";
import { CatalogBench, tableOf, tables, threadsOfBundle } from "../rig/catalog.ts";

const bench = new CatalogBench();
afterAll(() => bench[Symbol.asyncDispose]());

const startMs = 60_000;

describe("a catalog statement", () => {
  it(
    "sees the tables, columns, keys and views of its scope, and no other catalog's",
    async () => {
      const listed = await bench.ask(
        "select table_name, table_type from information_schema.tables where table_schema = 'main' order by 1",
      );
      expect(listed.rows).toEqual([
        ["customers", "BASE TABLE"],
        ["orders", "BASE TABLE"],
        ["recent", "VIEW"],
      ]);
      const types = await bench.ask(
        "select attname, format_type(atttypid, atttypmod), attnotnull from pg_attribute where attrelid = 'orders'::regclass and attnum > 0 order by attnum",
      );
      expect(types.rows).toEqual([
        ["id", "bigint", "t"],
        ["customer", "integer", "f"],
        ["total", "numeric(12,2)", "f"],
        ["at", "timestamp with time zone", "f"],
        ["tags", "text[]", "f"],
        ["details", "json", "f"],
      ]);
      const keys = await bench.ask(
        "select contype, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'main.orders'::regclass order by 1",
      );
      expect(keys.rows).toEqual([
        ["f", "FOREIGN KEY (customer) REFERENCES customers(id)"],
        ["p", "PRIMARY KEY (id)"],
        ["u", "UNIQUE (customer, at)"],
      ]);
    },
    startMs,
  );

  it("is told the session's own user, database, path, process and version", async () => {
    const settings = new Map([["search_path", "shop, public"]]);
    const identity = { user: 'o\'neil "x"', groups: [], roles: [], method: "none" } as const;
    const session = bench.session({ identity, settings });
    const asked = await bench.ask(
      "select current_user, session_user, current_database(), current_setting('search_path'), pg_backend_pid(), current_setting('server_version_num'), version() ~ 'Query Gateway'",
      [],
      session,
    );
    expect(asked.rows).toEqual([
      ['o\'neil "x"', 'o\'neil "x"', "memory", "shop, public", "4711", "160000", "t"],
    ]);
    const databases = await bench.ask("select datname from pg_database order by 1");
    expect(databases.rows).toEqual([["memory"], ["other"]]);
    const roles = await bench.ask("select rolname from pg_roles where rolname !~ '^pg_'");
    expect(roles.rows).toEqual([["ann"]]);
  });

  it("takes values as text and in binary, and NULL", async () => {
    const sql = "select $1::text, $2::int4 + 1, $3::text from pg_am limit 1";
    const four = Uint8Array.of(0, 0, 0, 4);
    expect((await bench.ask(sql, ["é", four, null])).rows).toEqual([["é", "5", null]]);
    expect((await bench.ask(sql, ["only one"])).error).toMatch(/^08P01/);
  });

  it("gives PostgreSQL's own error for the client's own mistake", async () => {
    expect((await bench.ask("select nope from pg_class")).error).toBe(
      '42703 column "nope" does not exist',
    );
  });
});

describe("what only the engine knows", () => {
  it("is NULL or has no rows where it is a size or a statistic", async () => {
    const sizes = await bench.ask(
      "select pg_relation_size('orders'), pg_total_relation_size('orders'::regclass), pg_database_size(current_database()), pg_size_pretty(pg_table_size('orders')), pg_stat_get_live_tuples('orders'::regclass), pg_postmaster_start_time() from pg_am limit 1",
    );
    expect(sizes).toMatchObject({ error: undefined, rows: [[null, null, null, null, null, null]] });
    const joined = await bench.ask(
      "select c.relname, s.n_live_tup from pg_class c left join pg_stat_user_tables s on s.relid = c.oid where c.relname = 'orders'",
    );
    expect(joined.rows).toEqual([["orders", null]]);
    expect((await bench.ask("select * from pg_stat_database")).rows).toEqual([]);
    expect((await bench.ask("select * from pg_statio_user_tables")).rows).toEqual([]);
  });

  it.each([
    ["sessions", "select * from pg_stat_activity"],
    ["sessions by their function", "select * from pg_stat_get_activity(null)"],
    ["locks", "select * from pg_locks"],
    ["who waits for whom", "select pg_blocking_pids(1)"],
    ["the log's end", "select pg_current_wal_lsn()"],
  ])("is refused where it is about %s", async (_, sql) => {
    expect((await bench.ask(sql)).error).toMatch(/^42501/);
  });
});

describe("nobody", () => {
  it.each([
    ["reads a table's rows as none", "select count(*) from orders, pg_class", /^query.unsupported/],
    ["writes", "create table main.t (a int)", /^25006/],
    ["deletes", "delete from orders", /^25006/],
    ["reads the host's files", "select pg_read_file('/etc/passwd')", /^42501/],
    ["lists the host's folders", "select * from pg_ls_dir('/')", /^42501/],
    ["imports a large object", "select lo_import('/etc/passwd')", /^42501/],
    ["makes a large object", "select lo_from_bytea(0, 'x')", /^(25006|42501)/],
    ["copies to a program", "copy pg_class to program 'id'", /^42501/],
    ["copies to a file", "copy pg_class to '/tmp/x'", /^42501/],
    ["sleeps", "select pg_sleep(100)", /^42501/],
    ["locks", "select pg_advisory_lock(1)", /^42501/],
    ["notifies", "select pg_notify('a', 'b')", /^42501/],
    [
      "becomes somebody else",
      "select gateway_set_config('session_authorization', 'pg_gateway', random() > 2)",
      /^42501/,
    ],
    ["reads passwords", "select * from pg_authid", /^42501/],
    ["runs code", "do $$ begin perform 1; end $$", /^42501/],
    ["runs two statements", "select 1; select 2", /^42601/],
  ])("%s", async (_, sql, error) => {
    expect((await bench.ask(sql)).error).toMatch(error);
  });

  it("leaves anything behind for the next statement", async () => {
    await bench.ask("select set_config('role', 'pg_gateway', false)");
    await bench.ask("reset session authorization");
    await bench.ask("set search_path to nowhere");
    const asked = await bench.ask("select current_user, current_schema()");
    expect(asked.rows).toEqual([["ann", "main"]]);
    expect((await bench.ask("delete from orders")).error).toMatch(/^25006/);
  });
});

describe("a mirror", () => {
  it("lists again for a name it does not know, and after a change of tables", async () => {
    const before = bench.listings;
    expect((await bench.ask("select 'orders'::regclass")).error).toBeUndefined();
    expect(bench.listings).toBe(before);
    bench.listed = [...tables, tableOf("fresh")];
    const fresh = await bench.ask("select 'fresh'::regclass");
    expect(fresh).toMatchObject({ error: undefined, rows: [["fresh"]] });
    bench.listed = tables;
    bench.mirrors.changed();
    const listed = await bench.ask("select count(*) from pg_tables where tablename = 'fresh'");
    expect(listed.rows).toEqual([["0"]]);
    expect((await bench.ask("select 'orders'::regclass")).rows).toEqual([["orders"]]);
  });

  it("answers the same statement alike until tables change, and each user and moment for itself", async () => {
    const sql =
      "select tablename, current_user from pg_tables where schemaname = 'main' order by 1";
    const before = await bench.ask(sql);
    expect(await bench.ask(sql)).toEqual(before);
    const identity = { user: "bob", groups: [], roles: [], method: "none" } as const;
    const others = await bench.ask(sql, [], bench.session({ identity }));
    expect(others.rows[0]).toEqual(["customers", "bob"]);
    bench.listed = [...tables, tableOf("added")];
    bench.mirrors.changed();
    expect((await bench.ask(sql)).rows[0]).toEqual(["added", "ann"]);
    bench.listed = tables;
    bench.mirrors.changed();
    expect(await bench.ask(sql)).toEqual(before);
    const now = "select clock_timestamp() from pg_am limit 1";
    expect((await bench.ask(now)).rows).not.toEqual((await bench.ask(now)).rows);
  });

  it(
    "ends a statement that takes too long, and answers the next one",
    async () => {
      const sql = "select count(*) from pg_class a, pg_class b, pg_class c, pg_class d";
      expect((await bench.ask(sql)).error).toMatch(/^query.timeout/);
      expect((await bench.ask("select 'orders'::regclass")).rows).toEqual([["orders"]]);
    },
    startMs,
  );

  it(
    "is kept apart by what may be seen, and no more than two of them live",
    async () => {
      for (const scope of ["two", "three", "one"]) {
        bench.scope = scope;
        bench.listed = [tableOf(`in_${scope}`)];
        const seen = await bench.ask("select tablename from pg_tables where tablename ~ '^in_'");
        expect(seen.rows).toEqual([[`in_${scope}`]]);
      }
      expect(bench.mirrors.alive).toBe(2);
    },
    startMs,
  );
});

describe("a mirror at rest", () => {
  it(
    "is stopped after five minutes, and starts again for the next statement",
    async () => {
      const host = virtualHost(1, threadsOfBundle());
      await using resting = new CatalogBench("mirror", host);
      expect(resting.mirrors.alive).toBe(0);
      expect((await resting.ask("select 'orders'::regclass")).rows).toEqual([["orders"]]);
      await host.advance(299_000);
      expect(resting.mirrors.alive).toBe(1);
      await host.advance(2_000);
      expect(resting.mirrors.alive).toBe(0);
      expect((await resting.ask("select 'orders'::regclass")).rows).toEqual([["orders"]]);
      expect(resting.listings).toBe(2);
    },
    startMs,
  );
});

describe("the mode off", () => {
  it("refuses, and starts nothing", async () => {
    await using off = new CatalogBench("off");
    expect((await off.ask("select * from pg_class")).error).toMatch(/^query.unsupported/);
    expect(off.mirrors.alive).toBe(0);
  });
});
