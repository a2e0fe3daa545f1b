import { describe, expect, it } from "vitest";
import { catalogSubject } from "./catalogStatement.ts";

describe("catalogSubject", () => {
  it.each([
    "select * from pg_catalog.pg_class c, pg_type t where c.oid = t.typrelid",
    'SELECT * FROM "pg_catalog"."pg_class" JOIN information_schema.tables USING (x)',
    "select current_schema()",
    "select 'orders'::regclass::oid",
    "select cast('lower' as pg_catalog.regproc)",
    "select has_table_privilege('orders', 'select')",
    "with a as (select 1), b (x, y) as not materialized (select * from pg_class) select * from a, b",
    "with recursive t as (select oid from pg_roles union all select m.roleid from t join pg_auth_members m on true) select * from t",
    "(select relname from pg_class) union (select nspname from pg_namespace)",
    "select * from (select * from pg_attribute) a left join (pg_depend d join pg_class c on true) on a.x is distinct from d.y",
    "select extract(epoch from now()), x.n from information_schema._pg_expandarray('{1}'::int[]) x",
    "select * from pg_index i, lateral unnest(i.indkey) with ordinality k(a, b)",
    "select * from pg_class where relname = 'delete from orders' and relkind in ('r', 'v')",
    "select array(select rolname from pg_roles) as update, 1 as select from pg_tables",
    "table pg_catalog.pg_am",
  ])("takes %s", (sql) => {
    expect(catalogSubject(sql)).toBe("names");
  });

  it.each([
    "select 1",
    "select * from orders",
    "select * from pg_class, orders",
    "select * from pg_class join main.orders on true",
    "select * from (pg_class join orders on true)",
    "select * from pg_class where oid in (select id from orders)",
    "select (select count(*) from orders), current_database()",
    "select * from pg_class union table orders",
    "with pg_x as (select * from orders) select * from pg_class",
    "select * from pg_orders",
    "select * from tables where current_user = 'a'",
    "select * from other.information_schema.tables",
    "select * from main.pg_class",
    "select * from read_csv('/etc/passwd'), pg_class",
    "select * from duckdb_tables() where current_schema() = 'x'",
    "select own_function(current_schema())",
    "select * into kept from pg_class",
    "with gone as (delete from pg_class returning *) select * from gone",
    "with x as (select 1 from pg_class) insert into orders select * from x",
    "insert into orders select oid from pg_class",
    "select current_date, id from orders",
    "select * from pg_class; select * from pg_type",
    "select * from pg_class where x = 'open",
    "explain select * from pg_class",
    "select * from rows from (pg_class)",
    "select * from pg_class c join lateral (select * from orders) o on true",
    "select * from pg_class where a is not distinct from (select max(id) from orders)",
    "select extract(year from (select at from orders)) from pg_class",
  ])("leaves %s to the backend", (sql) => {
    expect(catalogSubject(sql)).toBeUndefined();
  });

  it.each([
    "select current_database(), current_user",
    "select current_database(), pg_backend_pid()",
    "select current_user, version()",
    "select current_setting('server_version') as v, session_user",
  ])("sees that %s asks about the session alone", (sql) => {
    expect(catalogSubject(sql)).toBe("session");
  });

  it.each([
    "select oid, pg_relation_size(oid) from pg_class",
    "select pg_size_pretty(pg_catalog.pg_database_size(datname)) from pg_database",
    "select * from pg_stat_activity where pid <> pg_backend_pid()",
    "select c.relname, n_live_tup from pg_class c left join pg_stat_user_tables s on s.relid = c.oid",
    "select mode from pg_catalog.pg_locks",
    "select pg_stat_get_numscans(indexrelid) from pg_index",
  ])("sees that %s asks about what only the engine knows", (sql) => {
    expect(catalogSubject(sql)).toBe("live");
  });

  it.each([
    "select pg_relation_size('orders')",
    "select pg_size_pretty(pg_database_size(current_database()))",
    "select pg_sleep(1)",
    "select pg_advisory_xact_lock(1)",
    "select * from pg_blocking_pids(1)",
  ])("leaves %s to the backend, which knows or refuses it", (sql) => {
    expect(catalogSubject(sql)).toBeUndefined();
  });

  it.each([
    "select pg_advisory_lock(1)",
    "select pg_try_advisory_lock_shared(1, 2)",
    "select pg_advisory_unlock(oid) from pg_class",
  ])("finds the lock of a session in %s", (sql) => {
    expect(catalogSubject(sql)).toBe("sessionLock");
  });

  it.each(["select pg_size_pretty(1::bigint)", "select pg_size_bytes('1 kB')"])(
    "takes %s, which asks about no size of the engine's",
    (sql) => expect(catalogSubject(sql)).toBe("names"),
  );
});
