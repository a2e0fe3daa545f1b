/** PostgreSQL through its real ADBC driver, in a process: the engine contract, types, the list of statements, logins. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { engineSuite } from "@gateway/engines/engine.suite.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterOf, driverFolder, listedNames, unknownLibrary } from "./adbcHost.ts";

const url = new URL(process.env["GATEWAY_TEST_POSTGRES"] ?? "");
const uri = `postgresql://${url.host}${url.pathname}`;
const auth = {
  type: "basic",
  username: url.username,
  password: url.password === "" ? "none" : url.password,
};
const cluster = (more: object = {}): Promise<Backend> =>
  clusterOf({ driver: "postgresql", uri, auth, ...more });

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

const flood = "select generate_series(1, 1000000000000) as i, 'row' as label";

engineSuite(
  "ADBC, PostgreSQL",
  {
    endless: "select pg_sleep(1000)",
    flood,
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "select '\u00e9\u{1f600}' selec frm", position: 20 },
  },
  () => cluster(),
  { skip: [] },
);

describe("PostgreSQL behind its driver", () => {
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

  it("keeps every digit of a numeric, as text with its name", async () => {
    const sql = "select 123456789012345678901234567890.1234567890::numeric as n";
    const { rows, columns } = await ran(backend, sql);
    expect(rows).toEqual([["123456789012345678901234567890.1234567890"]]);
    expect(columns[0]).toMatchObject({ type: { kind: "text" }, engineType: "NUMERIC" });
  });

  it("reads nested and unusual types", async () => {
    const sql = `select '{"a": 1}'::jsonb, array['x', null]::text[],
      'happy'::name, '10.0.0.1'::inet::text, null::int`;
    const { last, rows } = await ran(backend, sql);
    expect(last).toMatchObject({ kind: "done", stats: { rows: 1 } });
    expect(rows[0]?.[0]).toBe('{"a": 1}');
  });

  it("answers statements that COPY can not carry", async () => {
    expect((await ran(backend, "show search_path")).rows).toEqual([['"$user", public']]);
    expect((await ran(backend, "explain select 1")).rows.length).toBeGreaterThan(0);
    expect((await ran(backend, "select 1; -- the end")).rows).toEqual([[1n]]);
    expect((await ran(backend, "select 1 -- the end")).rows).toEqual([[1n]]);
  });

  it("leaves nothing of one session to the next", async () => {
    await ran(backend, "create schema if not exists away");
    const session = { schema: "away" };
    expect((await ran(backend, "select current_schema()", { session })).rows).toEqual([["away"]]);
    // In words that nobody reads before they run.
    const hidden =
      "execute 'select set_config(''search_path'', ''away'', false)'; execute 'create temp table scratch (a int)'";
    const block = `do $$ begin ${hidden}; end $$`;
    expect(codeOf(await ran(backend, block))).toBeUndefined();
    for (let again = 0; again < 4; again += 1) {
      expect((await ran(backend, "select current_schema()")).rows).toEqual([["public"]]);
      expect(codeOf(await ran(backend, "select * from scratch"))).toBe("query.unknownObject");
    }
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
    expect(JSON.stringify(last)).not.toContain("gateway/");
    expect(codeOf(await ran(backend, "select 1/0"))).toBe("query.data");
  });

  it("begins a read-only transaction when it is asked for one", async () => {
    const query = identifiedOf("begin read only", [], { dialect: "postgres" });
    await using lane = valueOf(await backend.begin(query, never));
    expect(codeOf(await ran(lane, "create table never_made (a int)"))).toBe("query.transaction");
    expect(await lane.commit(never)).toMatchObject({ error: { code: "query.transactionAborted" } });
  });

  it("lists by the driver itself what it lists by SQL, and more exactly where a name says too little", async () => {
    await ran(backend, "create schema shown");
    await ran(
      backend,
      "create table shown.t (id bigint primary key, label varchar(10), at timestamptz, price numeric, flag boolean)",
    );
    await ran(backend, "create view shown.v as select id, label from shown.t");
    await ran(
      backend,
      "create table shown.listed (id integer references shown.t (id), tags text[])",
    );
    const folder = await mkdtemp(join(tmpdir(), "adbc-unknown-"));
    const library = join(driverFolder, "libadbc_driver_postgresql.so");
    const driver = await unknownLibrary(library, folder);
    await using byDriver = await clusterOf({ driver, uri: url.href });
    const shownOf = async (one: Backend) => {
      const tables = valueOf(await one.listTables(identifiedOf("show tables"), never));
      return tables.filter(({ schema }) => schema === "shown");
    };
    const found = await shownOf(byDriver);
    const isPlain = ({ name }: { readonly name: string }): boolean => name !== "listed";
    const wanted = (await shownOf(backend)).filter(isPlain);
    expect(listedNames(found.filter(isPlain))).toEqual(listedNames(wanted));
    expect(wanted).toHaveLength(2);
    expect(found.find(({ name }) => name === "listed")).toMatchObject({
      columns: [{ name: "id" }, { name: "tags", type: { kind: "list", item: { kind: "text" } } }],
      keys: [{ kind: "foreign", columns: ["id"], table: "t", tableColumns: ["id"] }],
    });
    expect(byDriver.catalogs).toContain("postgres");
    await ran(backend, "drop schema shown cascade");
    await rm(folder, { recursive: true });
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

describe("a PostgreSQL login", () => {
  it("that is refused makes the cluster unreachable, and shows no password", async () => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await lockedRole(client);
    const wrong = { type: "basic", username: "locked", password: "wrong-secret" };
    await using refused = await cluster({ auth: wrong });
    const { last } = await ran(refused, "select 1");
    expect(last).toMatchObject({ error: { code: "cluster.connectFailed" } });
    expect(JSON.stringify(last)).not.toContain("wrong-secret");
    expect(await refused.probe(never)).toBe("unhealthy");
    await using right = await cluster({ auth: { ...wrong, password: "right-secret" } });
    expect((await ran(right, "select current_user::text")).rows).toEqual([["locked"]]);
    await client.end();
  });
});

describe("a server that accepts and never answers", () => {
  let silent: Server;
  let port: number;
  beforeAll(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
  });
  afterAll(() => void silent.close());

  it("holds nobody longer than the limit, and a cancel ends it at once", async () => {
    await using mute = await cluster({ uri: `postgresql://127.0.0.1:${port}/x` });
    const controller = new AbortController();
    const reached = once(silent, "connection");
    const waiting = ran(mute, "select 1", { signal: controller.signal });
    await reached;
    controller.abort();
    expect(codeOf(await waiting)).toBe("query.cancelled");
    expect(codeOf(await ran(mute, "select 1"))).toBe("cluster.connectFailed");
  });
});

/** A role whose password is asked for, on a server that trusts all others. */
async function lockedRole(client: pg.Client): Promise<void> {
  await client.query("drop role if exists locked");
  await client.query("create role locked login password 'right-secret'");
  const { rows } = await client.query<{ readonly hba_file: string }>("show hba_file");
  const file = rows[0]?.hba_file ?? "";
  const lines = ["host all locked 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust"];
  const list = lines.map((line) => `('${line}')`).join(", ");
  await client.query(`copy (values ${list}) to '${file}'`);
  await client.query("select pg_reload_conf()");
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
