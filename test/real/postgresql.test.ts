/** PostgreSQL over its own protocol: the engine contract, types, the list of statements, logins, hosts. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { engineSuite } from "@gateway/engines/engine.suite.ts";
import { open } from "@gateway/engines/postgresql/adapter.ts";
import { postgresqlConfig } from "@gateway/engines/postgresql/config.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const url = new URL(process.env["GATEWAY_TEST_POSTGRES"] ?? "");
const auth = { type: "basic", username: url.username, password: "none" };

async function cluster(more: object = {}): Promise<Backend> {
  const config = postgresqlConfig.parse({
    engine: "postgresql",
    hosts: [url.host],
    auth,
    poolSize: 1,
    ...more,
  });
  return valueOf(await open("real", config, hostOf()));
}

const values: readonly Parameter[] = [
  { type: { kind: "boolean" }, value: true },
  { type: { kind: "integer", bits: 16, signed: true }, value: -32_768n },
  { type: { kind: "integer", bits: 32, signed: true }, value: -2_147_483_648n },
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n },
  { type: { kind: "float", bits: 32 }, value: -1.5 },
  { type: { kind: "float", bits: 64 }, value: 0.1 },
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "binary" }, value: new Uint8Array([0, 1, 255]) },
  { type: { kind: "date" }, value: -719_162n },
  { type: { kind: "time", unit: "us" }, value: 86_399_999_999n },
  { type: { kind: "timestamp", unit: "us", zoned: false }, value: -1n },
  { type: { kind: "timestamp", unit: "us", zoned: true }, value: 1_577_836_800_000_001n },
  { type: { kind: "interval" }, value: { months: -14, days: 3, nanoseconds: 4_000n } },
  { type: { kind: "uuid" }, value: "00112233-4455-6677-8899-aabbccddeeff" },
  {
    type: { kind: "list", item: { kind: "integer", bits: 32, signed: true } },
    value: [1n, null, 3n],
  },
];

engineSuite(
  "PostgreSQL, a real server",
  {
    endless: "select pg_sleep(1000)",
    flood: "select generate_series(1, 1000000000000) as i, 'row' as label",
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "select '\u00e9\u{1f600}' selec frm", position: 20 },
  },
  () => cluster(),
  { skip: [] },
);

describe("a real PostgreSQL", () => {
  let backend: Backend;
  let watcher: pg.Client;
  beforeAll(async () => {
    backend = await cluster({ poolSize: 2 });
    watcher = new pg.Client({ connectionString: url.href });
    await watcher.connect();
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
    await watcher.end();
  });

  it("says how much a statement would read", async () => {
    await watcher.query(`drop table if exists scanned, scanned_other;
      create table scanned (id int primary key, filler text);
      insert into scanned select i, repeat('x', 200) from generate_series(1, 20000) i;
      create table scanned_other (id int); analyze scanned`);
    const size = Number(
      (await watcher.query("select pg_table_size('scanned') as size")).rows[0]?.size,
    );
    expect(size).toBeGreaterThan(4_000_000);
    const asked = async (sql: string, parameters: readonly Parameter[] = []) =>
      valueOf(await scanOf(backend, identifiedOf(sql, parameters)));
    expect(await asked("select count(*) from scanned where filler = 'y'")).toEqual({ bytes: size });
    const twice = "with w as (select * from scanned) select * from w union all table scanned";
    expect(await asked(twice)).toEqual({ bytes: 2 * size });
    for (const writes of [
      "create table scanned_copy as select * from scanned",
      "insert into scanned_other select id from scanned",
      "delete from scanned where filler like '%y'",
      "declare c cursor for select * from scanned",
    ])
      expect(await asked(writes)).toEqual({ bytes: size });
    const key: Parameter = { type: { kind: "integer", bits: 32, signed: true }, value: 7n };
    const few = [
      asked("select * from scanned where id = $1", [key]),
      asked("select * from scanned limit 10"),
      asked("select * from scanned order by id limit 10"),
      asked("select s.* from scanned s join (values (1), (2)) v (id) using (id)"),
    ];
    for (const estimate of await Promise.all(few)) {
      if (!("bytes" in estimate)) throw new Error(estimate.unknown);
      expect(estimate.bytes).toBeGreaterThan(0);
      expect(estimate.bytes).toBeLessThan(size / 10);
    }
    expect(await asked("select 1")).toEqual({ bytes: 0 });
    expect(await asked("create table none (a int generated always as identity)")).toEqual({
      bytes: 0,
    });
    expect(await asked("explain analyze select * from scanned")).toHaveProperty("unknown");
    expect(await asked("reindex table scanned")).toHaveProperty("unknown");
    const { rows } = await watcher.query("select count(*)::int as left from scanned");
    expect(rows).toEqual([{ left: 20_000 }]);
  });

  it("asks for a plan of one statement, and says where it is wrong", async () => {
    const asked = async (sql: string) => await scanOf(backend, identifiedOf(sql));
    await watcher.query("drop table if exists scanned_kept; create table scanned_kept (a int)");
    expect(await asked("select 1; drop table scanned_kept")).toMatchObject({
      error: { code: "query.unsupported" },
    });
    expect(await asked("select 1 from scanned_kept where b = 1")).toMatchObject({
      error: { position: 34 },
    });
    expect((await watcher.query("table scanned_kept")).rows).toEqual([]);
  });

  it("lets a guard refuse what reads too much, in a transaction too", async () => {
    await watcher.query(`drop table if exists scan_guarded; create table scan_guarded as
      select i as id, repeat('x', 200) as filler from generate_series(1, 20000) i`);
    const guard = { name: "scans", type: "maxScanBytes", maxBytes: 1_000_000 };
    await using gateway = await gatewayOf(
      configOf({
        clusters: { local: { engine: "postgresql", hosts: [url.host], auth } },
        clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
        guardrails: { guards: [guard] },
      }),
    );
    const client = new pg.Client({
      host: "127.0.0.1",
      port: portOf(gateway, "postgresWire"),
      user: "ann",
    });
    await client.connect();
    const refused = {
      message: expect.stringMatching(/would read about \d+ bytes; at most 1000000/),
    };
    await expect(client.query("select * from scan_guarded")).rejects.toMatchObject(refused);
    const byId = "select id from scan_guarded where id = $1";
    await expect(client.query(byId, [1])).rejects.toMatchObject(refused);
    await watcher.query("create index on scan_guarded (id); analyze scan_guarded");
    expect((await client.query(byId, [1])).rows).toEqual([{ id: 1 }]);
    await client.query("begin");
    expect((await client.query(byId, [2])).rows).toEqual([{ id: 2 }]);
    await expect(client.query("delete from scan_guarded")).rejects.toMatchObject(refused);
    await client.query("rollback");
    await expect(client.query("copy scan_guarded to stdout")).rejects.toMatchObject(refused);
    const few = "copy (select id from scan_guarded where id < 4) to stdout";
    expect((await client.query(few)).rowCount).toBe(3);
    await client.query("create temp table own as select 1 as a");
    expect((await client.query("table own")).rows).toEqual([{ a: 1 }]);
    await client.end();
  });

  it("keeps every digit of a numeric", async () => {
    const sql =
      "select 123456789012345678901234567890.1234567890::numeric, (-1.5)::numeric(12,2), 0::numeric(38,10), 'NaN'::numeric";
    const { rows } = await ran(backend, sql);
    expect(rows).toEqual([["123456789012345678901234567890.1234567890", -150n, 0n, "NaN"]]);
  });

  it("reads types that have no neutral form as the server writes them", async () => {
    const sql = `select '{"a": 1}'::jsonb, array['x', null]::text[], '10.0.0.1'::inet, '[1,3)'::int4range,
      point '(1,2)', '{{1,2}}'::int[]::text, array[1.5]::numeric[], 'x'::"char"`;
    const { rows } = await ran(backend, sql);
    expect(rows).toEqual([
      ['{"a": 1}', ["x", null], "10.0.0.1", "[1,3)", "(1,2)", "{{1,2}}", "{1.5}", "x"],
    ]);
  });

  it.each([
    "select 'infinity'::date",
    "select '-infinity'::timestamptz",
    "select 'NaN'::numeric(5,2)",
    "select '{{1,2}}'::int[]",
  ])("refuses a value that other wires have no form for: %s", async (sql) => {
    expect(codeOf(await ran(backend, sql))).toBe("query.data");
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("leaves nothing of one session to the next", async () => {
    await ran(backend, "create schema if not exists away");
    const session = { schema: "away" };
    expect((await ran(backend, "select current_schema()", { session })).rows).toEqual([["away"]]);
    const hidden =
      "select set_config('search_path', 'away', false) into s; create temp table scratch (a int)";
    const block = `do $$ declare s text; begin ${hidden}; end $$`;
    expect(codeOf(await ran(backend, block))).toBeUndefined();
    for (let again = 0; again < 4; again += 1) {
      expect((await ran(backend, "select current_schema()")).rows).toEqual([["public"]]);
      expect(codeOf(await ran(backend, "select * from scratch"))).toBe("query.unknownObject");
    }
  });

  it.each([
    "create temp table t (a int)",
    "select pg_advisory_lock(1)",
    "listen c",
    "prepare p as select 1",
    "set work_mem = '1MB'",
    "select set_config('a.b', 'x', false)",
    "copy (select 1) to '/tmp/x'",
    "declare c cursor with hold for select 1",
  ])("refuses what its connection would keep: %s", async (sql) => {
    expect(codeOf(await ran(backend, sql))).toBe("query.unsupported");
  });

  it("takes a limit of the group to the server", async () => {
    const answer = await ran(backend, "select pg_sleep(1000)", { maxExecutionMs: 50 });
    expect(answer.last).toMatchObject({ error: { sqlState: "57014" } });
    expect((await ran(backend, "show statement_timeout")).rows).toEqual([["0"]]);
  });

  it("lists its statements by their tags, and ends a cancelled one in the server", async () => {
    const controller = new AbortController();
    const running = ran(backend, "select pg_sleep(1000)", { signal: controller.signal });
    await until(async () => valueOf(await backend.running(never)).tags.length === 1);
    expect(valueOf(await backend.running(never))).toEqual({
      tags: ["gateway/suite/0/suite"],
      complete: true,
      delayMs: 1_000,
    });
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    const sleeping =
      "select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep(1000)%' and pid <> pg_backend_pid()";
    expect((await watcher.query(sleeping)).rowCount).toBe(0);
  });

  it("ends in the server what runs under a tag", async () => {
    const running = ran(backend, "select pg_sleep(1000)");
    await until(async () => valueOf(await backend.running(never)).tags.length === 1);
    valueOf(await backend.end("gateway/suite/0/another", never));
    expect(valueOf(await backend.running(never)).tags).toHaveLength(1);
    valueOf(await backend.end("gateway/suite/0/suite", never));
    expect(codeOf(await running)).toBe("query.cancelled");
  });

  it("keeps PostgreSQL's own code, message, hint and place", async () => {
    const { last } = await ran(backend, "select idd from (select 1 as id) t");
    expect(last).toMatchObject({
      error: {
        code: "query.unknownObject",
        sqlState: "42703",
        message: 'column "idd" does not exist',
        position: 8,
      },
    });
  });

  it("begins a transaction with the modes that it is asked for", async () => {
    const begin = "begin isolation level serializable, read only, deferrable";
    const query = identifiedOf(begin, [], { dialect: "postgres" });
    await using lane = valueOf(await backend.begin(query, never));
    expect((await ran(lane, "show transaction_isolation")).rows).toEqual([["serializable"]]);
    expect(codeOf(await ran(lane, "create table never_made (a int)"))).toBe("query.transaction");
    expect(await lane.commit(never)).toMatchObject({ error: { code: "query.transactionAborted" } });
  });

  it.each([
    ["ends it in the server keeps nothing", "perform pg_sleep(1000)", false],
    [
      "comes too late is told of what was kept",
      "begin perform pg_sleep(1000); exception when query_canceled then null; end",
      true,
    ],
  ])("and a COMMIT whose cancel %s", async (_how, work, kept) => {
    await watcher.query(`drop table if exists committed; create table committed (a int);
      create or replace function slow() returns trigger language plpgsql as
        $$ begin ${work}; return null; end $$;
      create constraint trigger slow after insert on committed deferrable initially deferred
        for each row execute function slow()`);
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    expect(codeOf(await ran(lane, "insert into committed values (1)"))).toBeUndefined();
    const controller = new AbortController();
    const ending = lane.commit(controller.signal);
    const sleeps =
      "select 1 from pg_stat_activity where query = 'COMMIT' and wait_event = 'PgSleep'";
    await until(async () => (await watcher.query(sleeps)).rowCount === 1);
    controller.abort();
    expect((await ending).ok).toBe(kept);
    expect((await watcher.query("select from committed")).rowCount).toBe(kept ? 1 : 0);
  });

  it("goes back to a savepoint behind a failure", async () => {
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    valueOf(
      (await lane.divide?.(
        { kind: "savepoint", name: 'a "b"' },
        never,
        identifiedOf("").session,
      )) ?? {
        ok: false,
        error: none,
      },
    );
    expect(codeOf(await ran(lane, "select 1/0"))).toBe("query.data");
    expect(codeOf(await ran(lane, "select 1"))).toBe("query.transactionAborted");
    await lane.divide?.(
      { kind: "rollbackToSavepoint", name: 'a "b"' },
      never,
      identifiedOf("").session,
    );
    expect((await ran(lane, "select 1")).rows).toEqual([[1n]]);
    expect((await lane.commit(never)).ok).toBe(true);
  });

  it("comes back after its server connection was ended", async () => {
    const end =
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query like '%pg_sleep(2000)%'";
    const running = ran(backend, "select pg_sleep(2000)");
    await until(async () => (await watcher.query(end)).rowCount === 1);
    expect(codeOf(await running)).toBe("engine.broken");
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });
});

const none = { code: "internal.bug", message: "no savepoints" } as const;

describe("hosts", () => {
  it("are tried in their order, and one that is of another kind is passed over", async () => {
    await using second = await cluster({ hosts: ["127.0.0.1:1", url.host] });
    expect((await ran(second, "select 1")).rows).toEqual([[1n]]);
    await using primary = await cluster({ targetSessionAttrs: "read-write" });
    expect((await ran(primary, "select 1")).rows).toEqual([[1n]]);
    await using preferred = await cluster({ targetSessionAttrs: "prefer-standby" });
    expect((await ran(preferred, "select 1")).rows).toEqual([[1n]]);
    for (const targetSessionAttrs of ["standby", "read-only"]) {
      await using standby = await cluster({ targetSessionAttrs });
      expect(codeOf(await ran(standby, "select 1"))).toBe("cluster.connectFailed");
    }
  });
});

describe("a login", () => {
  it.each(["scram-sha-256", "md5"])(
    "by %s is proved, and a wrong one shows nothing, by no code either",
    async (how) => {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await lockedRole(client, how);
      const wrong = { type: "basic", username: "locked", password: "wrong-secret" };
      await using refused = await cluster({ auth: wrong });
      const { last } = await ran(refused, "select 1");
      expect(last).toMatchObject({ error: { code: "cluster.connectFailed" } });
      expect(JSON.stringify(last)).not.toMatch(/wrong-secret|sqlState/);
      expect(await refused.probe(never)).toBe("unhealthy");
      await using right = await cluster({ auth: { ...wrong, password: "right-secr\u00e9t" } });
      expect((await ran(right, "select current_user::text")).rows).toEqual([["locked"]]);
      await client.end();
    },
  );

  it("in clear is not made without TLS", async () => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await lockedRole(client, "password");
    const own = { type: "basic", username: "locked", password: "right-secr\u00e9t" };
    await using clear = await cluster({ auth: own });
    const { last } = await ran(clear, "select 1");
    expect(last).toMatchObject({ error: { detail: "GATEWAY_CLEARTEXT" } });
    await client.end();
  });
});

/** A role whose password is asked for in this way, on a server that trusts all others. */
async function lockedRole(client: pg.Client, how: string): Promise<void> {
  await client.query("drop role if exists locked");
  await client.query(`set password_encryption = '${how === "md5" ? "md5" : "scram-sha-256"}'`);
  await client.query("create role locked login password 'right-secr\u00e9t'");
  const { rows } = await client.query<{ readonly hba_file: string }>("show hba_file");
  const file = rows[0]?.hba_file ?? "";
  const lines = [`host all locked 127.0.0.1/32 ${how}`, "host all all 127.0.0.1/32 trust"];
  const list = lines.map((line) => `('${line}')`).join(", ");
  await client.query(`copy (values ${list}) to '${file}'`);
  await client.query("select pg_reload_conf()");
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function scanOf(backend: Backend, query: Identified) {
  if (backend.estimateScan === undefined) throw new Error("it can not say how much it would read");
  return await backend.estimateScan(query, never);
}
