/**
 * What a session leaves on a connection of a server: kept for it or refused, never lost, and never seen by another; in
 * each way of pooling.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let watcher: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("sessions");
  watcher = new pg.Client({ connectionString: server.href });
  await watcher.connect();
});
afterAll(async () => await watcher.end());

async function pooled(more: object): Promise<TestGateway> {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "sessions",
    auth: { type: "basic", username: server.username, password: "none" },
    poolSize: 3,
    ...more,
  };
  return await gatewayOf(configOf({ clusters: { local } }));
}

async function clientOf(gateway: TestGateway, more: object = {}): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: "ann",
    database: "sessions",
    ...more,
  });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function cell(client: pg.Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(sql);
  return Object.values(rows[0] ?? {})[0];
}

/** The server's own number: asked alone, it is the gateway's wherever connections are shared. */
const pidSql = "select 0 + pg_backend_pid()";
const stateOf = async (client: pg.Client, sql: string): Promise<unknown> =>
  await client.query(sql).then(
    () => "done",
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
  );

describe("in transaction mode", () => {
  let gateway: TestGateway;
  let ann: pg.Client;
  let bob: pg.Client;
  beforeAll(async () => {
    gateway = await pooled({});
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const both = async (work: () => Promise<void>): Promise<void> => {
    [ann, bob] = await Promise.all([clientOf(gateway), clientOf(gateway)]);
    try {
      await work();
    } finally {
      await Promise.all([ann.end(), bob.end()]);
    }
  };

  it.each([
    ["alone", ["create temp table kept (a int)"]],
    ["in a transaction", ["begin", "create temp table kept (a int)", "commit"]],
    ["by a block", ["do $$ begin create temp table kept (a int); end $$"]],
    ["in one text", ["create temp table kept (a int); insert into kept values (0)"]],
  ])("keeps a temporary table that was made %s, for its session alone", async (_how, sqls) => {
    await both(async () => {
      for (const sql of sqls) await ann.query(sql);
      for (let round = 0; round < 5; round += 1) {
        await ann.query("insert into kept values (1)");
        expect(await stateOf(bob, "select * from kept")).toBe("42P01");
      }
      expect(Number(await cell(ann, "select sum(a) from kept"))).toBe(5);
      await ann.query("begin");
      await ann.query("delete from kept");
      await ann.query("rollback");
      expect(Number(await cell(ann, "select sum(a) from kept"))).toBe(5);
      await ann.query("drop table kept");
      expect(await stateOf(ann, "select * from kept")).toBe("42P01");
    });
  });

  it("gives the connection back once nothing is left on it", async () => {
    await both(async () => {
      const three = await Promise.all([clientOf(gateway), clientOf(gateway)]);
      await ann.query("create temp table kept (a int)");
      await bob.query("listen c");
      await three[0].query("prepare p as select 7");
      expect(await cell(three[0], "execute p")).toBe(7);
      // All three connections are somebody's: the fourth session waits until one is free.
      const waiting = cell(three[1], "select 1");
      await three[0].query("deallocate p");
      expect(await waiting).toBe(1);
      await bob.query("unlisten *");
      await ann.query("discard all");
      expect(await stateOf(ann, "select * from kept")).toBe("42P01");
      const pids = new Set(await Promise.all([ann, bob, ...three].map((one) => cell(one, pidSql))));
      expect(pids.size).toBeLessThanOrEqual(3);
      await Promise.all(three.map((one) => one.end()));
    });
  });

  it("leaves a prepared transaction to whoever decides it", async () => {
    await both(async () => {
      await ann.query("create table if not exists decided (a int)");
      await ann.query("begin");
      await ann.query("insert into decided values (1)");
      expect((await ann.query("prepare transaction 'a''b'")).command).toBe("PREPARE");
      expect(await cell(bob, "select count(*)::int from decided")).toBe(0);
      await bob.query("commit prepared 'a''b'");
      expect(await cell(ann, "select count(*)::int from decided")).toBe(1);
      await ann.query("drop table decided");
    });
  });

  it("writes nothing and shows intervals as its session was told", async () => {
    await both(async () => {
      await ann.query("set default_transaction_read_only = on");
      await ann.query("set intervalstyle = 'iso_8601'");
      expect(await stateOf(ann, "create table unwritten (a int)")).toBe("25006");
      expect(await cell(ann, "select (interval '1 day')::text")).toBe("P1D");
      expect(await cell(bob, "select (interval '1 day')::text")).toBe("1 day");
      expect(await stateOf(bob, "create temp table written (a int) on commit drop")).toBe("done");
    });
  });

  it("tells a client at rest what it listens to", async () => {
    await both(async () => {
      const heard = new Promise<pg.Notification>((resolve) => {
        ann.once("notification", resolve);
      });
      await ann.query("listen news");
      await bob.query("notify news, 'first'");
      const { processId: others, ...first } = await heard;
      expect(first).toMatchObject({ channel: "news", payload: "first" });
      const own = (ann as unknown as { processID: number }).processID;
      expect(others).toBe((bob as unknown as { processID: number }).processID);
      expect(others).not.toBe(own);
      const more: (string | undefined)[] = [];
      ann.on("notification", ({ payload, processId }) => {
        more.push(processId === own ? payload : "of another");
      });
      await ann.query("begin");
      await ann.query("notify news, 'own'");
      await ann.query("commit");
      expect(more).toEqual(["own"]);
    });
  });

  it("tells what comes with the end of the transaction that asked for it", async () => {
    await both(async () => {
      const heard: (string | undefined)[] = [];
      ann.on("notification", ({ payload }) => heard.push(payload));
      for (const sql of ["begin", "listen news", "notify news, 'own'", "commit"])
        await ann.query(sql);
      await ann.query("select 1");
      expect(heard).toEqual(["own"]);
      for (const sql of ["begin", "listen more", "rollback", "unlisten news"]) await ann.query(sql);
      await bob.query("notify news, 'late'");
      await bob.query("notify more, 'never asked for'");
      await ann.query("select 1");
      expect(heard).toEqual(["own"]);
    });
  });

  it("keeps locks, cursors and settings of a session", async () => {
    await both(async () => {
      await ann.query("select pg_advisory_lock(7)");
      expect(await cell(bob, "select pg_try_advisory_lock(7)")).toBe(false);
      await ann.query("select pg_advisory_unlock(7)");
      expect(await cell(bob, "select pg_try_advisory_lock(7)")).toBe(true);
      await ann.query("begin");
      await ann.query("declare h cursor with hold for select generate_series(1, 3)");
      await ann.query("commit");
      expect(await cell(ann, "fetch 1 from h")).toBe(1);
      expect(await cell(ann, "fetch 1 from h")).toBe(2);
      expect(await stateOf(bob, "fetch 1 from h")).toBe("34000");
      await ann.query("do $$ begin perform set_config('own.setting', 'x', false); end $$");
      expect(await cell(ann, "select current_setting('own.setting', true)")).toBe("x");
      expect(await cell(bob, "select current_setting('own.setting', true)")).not.toBe("x");
    });
  });

  it("takes back within its transaction what was left there", async () => {
    await both(async () => {
      await ann.query("begin");
      await ann.query("prepare p as select 7");
      await ann.query("listen c");
      await ann.query("deallocate p");
      expect(
        Number(await cell(ann, "select count(*) from pg_prepared_statements where from_sql")),
      ).toBe(0);
      await ann.query("unlisten c");
      await ann.query("commit");
      expect(await stateOf(ann, "execute p")).toBe("26000");
      expect(Number(await cell(ann, "select count(*) from pg_listening_channels()"))).toBe(0);
    });
  });

  it("shows no session what a sequence gave another", async () => {
    await both(async () => {
      await ann.query("create table if not exists numbered (a serial, b int)");
      for (let round = 0; round < 6; round += 1) {
        await ann.query("insert into numbered (b) values (1)");
        expect(await stateOf(bob, "select lastval()")).toBe("55000");
      }
      await ann.query("begin");
      await ann.query("insert into numbered (b) values (1)");
      expect(Number(await cell(ann, "select lastval()"))).toBeGreaterThan(6);
      await ann.query("commit");
      await bob.query("begin isolation level serializable");
      expect(await stateOf(bob, "select lastval()")).toBe("55000");
      await bob.query("rollback");
    });
  });

  it("tells a client whose kept connection ends, also at rest", async () => {
    const one = await clientOf(gateway);
    await one.query("listen c");
    const ended = new Promise((resolve) => {
      one.once("end", () => resolve("ended"));
    });
    const pid = await cell(one, pidSql);
    await watcher.query("select pg_terminate_backend($1)", [pid]);
    expect(await ended).toBe("ended");
    const other = await clientOf(gateway);
    await other.query("create temp table kept (a int)");
    const running = stateOf(other, "select pg_sleep(100)");
    const busy = `select pid from pg_stat_activity where query like '%pg_sleep(100)%' and pid <> pg_backend_pid() and state = 'active'`;
    let found: number | undefined;
    while (found === undefined) found = (await watcher.query<{ pid: number }>(busy)).rows[0]?.pid;
    await watcher.query("select pg_terminate_backend($1)", [found]);
    expect(await running).not.toBe("done");
  });

  it("keeps a connection through COMMIT AND CHAIN", async () => {
    await both(async () => {
      await ann.query("begin");
      await ann.query("create temp table kept (a int)");
      await ann.query("commit and chain");
      await ann.query("insert into kept values (1)");
      await ann.query("commit");
      expect(await cell(ann, "select a from kept")).toBe(1);
    });
  });
});

describe("with pinning refused", () => {
  it("refuses what would be lost, and takes what ends with its transaction", async () => {
    await using gateway = await pooled({ pinning: "refuse" });
    const ann = await clientOf(gateway);
    const refused = "0A000";
    for (const sql of [
      "create temp table kept (a int)",
      "select pg_advisory_lock(1)",
      "listen c",
      "prepare p as select 1",
    ]) {
      expect([sql, await stateOf(ann, sql)]).toEqual([sql, refused]);
    }
    await ann.query("begin");
    expect(await stateOf(ann, "create temp table kept (a int)")).toBe(refused);
    await ann.query("rollback");
    await ann.query("begin");
    await ann.query("create temp table kept (a int) on commit drop");
    await ann.query("insert into kept values (1)");
    await ann.query("commit");
    await ann.end();
  });
});

describe("in session mode", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await pooled({ poolMode: "session" });
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  it("passes everything to the one connection of the session", async () => {
    const ann = await clientOf(gateway, { application_name: "mine" });
    const pid = await cell(ann, pidSql);
    await ann.query("set work_mem = '3MB'");
    expect(await cell(ann, "show work_mem")).toBe("3MB");
    await ann.query("begin");
    await ann.query("set local work_mem = '5MB'");
    expect(await cell(ann, "show work_mem")).toBe("5MB");
    await ann.query("rollback");
    expect(await cell(ann, "show work_mem")).toBe("3MB");
    expect(await cell(ann, "show application_name")).toBe("mine");
    await ann.query("create temp table kept (a int)");
    await ann.query("prepare p as select 5");
    expect(await cell(ann, "execute p")).toBe(5);
    await ann.query("deallocate p");
    expect(await stateOf(ann, "deallocate p")).toBe("26000");
    await ann.query("select set_config('search_path', 'pg_catalog', false)");
    expect(await cell(ann, "show search_path")).toBe("pg_catalog");
    await ann.query("reset all");
    expect(await cell(ann, "show search_path")).toBe('"$user", public');
    expect(await cell(ann, "show application_name")).toBe("mine");
    expect(await stateOf(ann, "set statement_timeout = 1; select pg_sleep(10)")).toBe("57014");
    await ann.query("discard all");
    expect(await stateOf(ann, "select * from kept")).toBe("42P01");
    expect(await cell(ann, pidSql)).toBe(pid);
    await ann.end();
  });

  it("tells the client the settings that its server reports", async () => {
    const ann = await clientOf(gateway);
    const told = new Map<string, string>();
    ann.connection.on("parameterStatus", ({ parameterName, parameterValue }) =>
      told.set(parameterName, parameterValue),
    );
    await ann.query("set timezone to 'Asia/Tokyo'");
    expect(told.get("TimeZone")).toBe("Asia/Tokyo");
    await ann.query("begin");
    await ann.query("set datestyle to 'SQL, DMY'");
    await ann.query("rollback");
    expect(told.get("DateStyle")).toBe("ISO, MDY");
    await ann.end();
  });

  it("hands a clean connection to the next session", async () => {
    const ann = await clientOf(gateway);
    await ann.query("set work_mem = '3MB'; set timezone = 'Asia/Tokyo'; listen c");
    await ann.query("create temp table kept (a int); select pg_advisory_lock(3)");
    await ann.end();
    const others = await Promise.all([clientOf(gateway), clientOf(gateway), clientOf(gateway)]);
    for (const one of others) {
      expect(await cell(one, "show work_mem")).toBe("4MB");
      expect(await cell(one, "show timezone")).not.toBe("Asia/Tokyo");
      expect(await stateOf(one, "select * from kept")).toBe("42P01");
      expect(await cell(one, "select count(*)::int from pg_listening_channels()")).toBe(0);
    }
    await Promise.all(others.map((one) => one.end()));
  });
});

describe("statements that connections keep prepared", () => {
  const preparedSql = "select string_agg(statement, ';') from pg_prepared_statements";
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await pooled({ preparedStatementsMax: 5, poolSize: 1 });
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  it("are one user's alone, and hold through a change of their table", async () => {
    const ann = await clientOf(gateway);
    const bob = await clientOf(gateway, { user: "bob" });
    await watcher.query("create table changed (a int)");
    const asked = { name: "all", text: "select * from changed where a is distinct from $1" };
    for (let turn = 0; turn < 3; turn += 1) await ann.query({ ...asked, values: [1] });
    expect(await cell(ann, preparedSql)).toBe(asked.text);
    expect(await cell(bob, preparedSql)).toBeNull();
    await ann.query({ ...asked, values: [1] });
    await watcher.query("alter table changed add b int; insert into changed values (2, 3)");
    expect((await ann.query({ ...asked, values: [1] })).rows).toEqual([{ a: 2, b: 3 }]);
    await Promise.all([ann.end(), bob.end()]);
  });

  it("are told apart in the server's list, and end with their client's connection", async () => {
    const [ann, other] = [await clientOf(gateway), await clientOf(gateway)];
    const asleep = ann
      .query({ name: "sleep", text: "select pg_sleep($1)", values: [60] })
      .catch((error: unknown) => error);
    const listed = `select application_name from pg_stat_activity
      where state = 'active' and query like '/* gateway/prepared/% */ select pg_sleep($1)'`;
    const name = await vi.waitUntil(() => cell(watcher, listed), { timeout: 60_000 });
    expect(name).toMatch(/^[\w-]+\/[\w-]+$/);
    const { processID } = ann as unknown as { readonly processID: number };
    const end = { text: "select pg_terminate_backend($1)", values: [processID] };
    expect((await other.query(end)).rows).toEqual([{ pg_terminate_backend: true }]);
    expect(await asleep).toMatchObject({ severity: "FATAL", code: "57P01" });
    await vi.waitUntil(async () => (await cell(watcher, listed)) === undefined, {
      timeout: 60_000,
    });
    await other.end();
  });
});
