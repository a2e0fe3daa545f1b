import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Database } from "../database.ts";
import { driverSuite, hostOf } from "./driver.suite.ts";
import { connectPglite, openPglite } from "./pglite.ts";

const host = hostOf();

driverSuite({ name: "PGlite", listens: true, open: () => openedAt(":memory:") });

describe("openPglite on a folder", () => {
  let root: string;
  let path: string;
  let database: Database;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "pglite-test-"));
    // Deeper than the address of a socket can be long.
    path = join(root, "deep".repeat(30), "db");
    database = await openedAt(path);
  }, 60_000);

  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });

  it("makes the folder and its socket the owner's alone", async () => {
    const names = await readdir(path);
    expect(names.toSorted()).toEqual(["data", "socket.1"]);
    const modes = await Promise.all(["", "socket.1"].map((name) => stat(join(path, name))));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);
  });

  it("refuses to open what another one has open", async () => {
    expect(await openPglite({ path, host })).toEqual(err({ code: "inUse", path }));
  });

  it("takes back a folder that others could read", async () => {
    const open = join(root, "open");
    await mkdir(open, { mode: 0o755 });
    const own = await openedAt(open);
    await own[Symbol.asyncDispose]();
    expect((await stat(open)).mode & 0o777).toBe(0o700);
  }, 30_000);

  it("begins with the data that the build made, as every new database does", async () => {
    await using other = await openedAt(":memory:");
    const sql = "select system_identifier from pg_control_system()";
    // Chosen when a data folder is made, never afterwards.
    expect(await other.run(sql)).toEqual(await database.run(sql));
  }, 30_000);

  it("keeps what was written when it is opened again", async () => {
    await database.script("create table kept (i int); insert into kept values (1)");
    await database[Symbol.asyncDispose]();
    database = await openedAt(path);
    const answer = await database.run("select * from kept");
    expect(answer.ok && answer.value.rows).toEqual([["1"]]);
  }, 30_000);

  it("lets in a command of the same host, also while it runs a transaction of its own", async () => {
    const client = await connected(path);
    await client.script("create table visited (i int)");
    const outcome = await client.transaction(async (statements) => {
      await statements.run("insert into visited values ($1)", [1]);
      return ok("done");
    });
    expect(outcome).toEqual(ok("done"));
    const answer = await database.run("select * from visited");
    expect(answer.ok && answer.value.rows).toEqual([["1"]]);
    await client[Symbol.asyncDispose]();
  });

  it("rolls back the transaction of a command that hung up, and goes on", async () => {
    await database.script("create table hung (i int)");
    const client = await connected(path);
    const outcome = await client.transaction(async (statements) => {
      await statements.run("insert into hung values (1)");
      await client[Symbol.asyncDispose]();
      return ok("never");
    });
    expect(outcome).toEqual(err({ kind: "unreachable", code: "ECONNRESET" }));
    const answer = await database.run("select * from hung");
    expect(answer.ok && answer.value.rows).toEqual([]);
  });

  it("wakes its listeners for what a command notifies", async () => {
    let wake = (): void => {};
    const next = (): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve;
      });
    const first = next();
    await using _listener = database.listen?.("moved", () => wake());
    await first;
    const second = next();
    await using client = await connected(path);
    expect((await client.run("notify moved")).ok).toBe(true);
    await second;
  });
});

describe("openPglite when its thread ends", () => {
  it("starts another one on the same data, and wakes listeners, but loses the transaction", async () => {
    const root = await mkdtemp(join(tmpdir(), "pglite-crash-"));
    const { threads, crash } = crashingThreads();
    const opened = await openPglite({ path: join(root, "db"), host: { ...host, threads } });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    const database = opened.value;
    await database.script("create table crash (i int); insert into crash values (1)");
    let wakes = 0;
    await using _listener = database.listen?.("moved", () => {
      wakes += 1;
    });
    const outcome = await database.transaction(async (statements) => {
      await statements.run("insert into crash values (2)");
      await crash();
      const after = await statements.run("insert into crash values (3)");
      expect(after).toEqual(err({ kind: "unreachable", code: "threadEnded" }));
      wakes = 0;
      return ok("never");
    });
    expect(outcome).toEqual(err({ kind: "unreachable", code: "threadEnded" }));
    const answer = await database.run("select i from crash");
    expect(answer.ok && answer.value.rows).toEqual([["1"]]);
    expect(wakes).toBe(1);
    await database[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  }, 60_000);

  it("does not put an empty database in the place of one that was in memory", async () => {
    const { threads, crash } = crashingThreads();
    const opened = await openPglite({ path: ":memory:", host: { ...host, threads } });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    await using database = opened.value;
    await crash();
    expect(await database.run("select 1")).toEqual(
      err({ kind: "unreachable", code: "threadEnded" }),
    );
  }, 60_000);
});

describe("openPglite when it is told to renew its thread", () => {
  it("goes on with the same data in another one, wakes listeners, and has statements wait", async () => {
    const root = await mkdtemp(join(tmpdir(), "pglite-renew-"));
    const { threads, started } = crashingThreads();
    const opened = await openPglite({ path: join(root, "db"), host: { ...host, threads } });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    const database = opened.value;
    await database.script("create table renewed (i int); insert into renewed values (1)");
    let wakes = 0;
    await using _listener = database.listen?.("moved", () => {
      wakes += 1;
    });
    expect((await database.run("select 1")).ok).toBe(true);
    wakes = 0;
    const renewed = database.renew?.();
    const answer = await database.run("select i from renewed");
    expect(answer.ok && answer.value.rows).toEqual([["1"]]);
    await renewed;
    expect(started()).toBe(2);
    expect(wakes).toBe(1);
    await database[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  }, 60_000);

  it("keeps the one that has everything in memory", async () => {
    await using database = await openedAt(":memory:");
    await database.script("create table renewed (i int)");
    await database.renew?.();
    expect((await database.run("select i from renewed")).ok).toBe(true);
  }, 60_000);
});

describe("an embedded database that was written to", () => {
  let root: string;
  let database: Database;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "pglite-upkeep-"));
    const opened = await openPglite({
      path: join(root, "db"),
      host: { ...host, clock: fastClock },
    });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    database = opened.value;
    await database.script("create table big (i int, t text)");
    for (let part = 0; part < 10; part += 1) {
      await database.run(
        `insert into big select i, repeat(md5(i::text), 8) from generate_series(1, 25000) i`,
      );
    }
  }, 60_000);

  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });

  // Looked at from outside: a question would keep the database from having nothing to do.
  it("keeps the log of its writes short by itself", async () => {
    const log = join(root, "db", "data", "pg_wal");
    const first = "000000010000000000000001";
    await until(async () => !(await readdir(log)).includes(first));
    expect((await readdir(log)).length).toBeLessThan(14);
  }, 30_000);

  it("gives the room of deleted rows back, and keeps the others", async () => {
    expect(await numberOf("select pg_relation_size('big')")).toBeGreaterThan(64 * 1024 * 1024);
    await database.run("delete from big where i > 1000");
    await until(async () => (await bytesIn(join(root, "db", "data", "base"))) < 50_000_000);
    expect(await numberOf("select count(*) from big")).toBe(10_000);
  }, 30_000);

  async function numberOf(sql: string): Promise<number> {
    const answer = await database.run(sql);
    return answer.ok ? Number(answer.value.rows[0]?.[0]) : Number.NaN;
  }
});

describe("connectPglite", () => {
  it("says that nobody holds the folder", async () => {
    const path = join(tmpdir(), "pglite-nobody");
    expect(await connectPglite({ path })).toEqual(err({ code: "notRunning", path }));
  });
});

/** A minute is some milliseconds. */
const fastClock = {
  ...host.clock,
  nowMs: () => host.clock.nowMs() * 1_000,
  timer: (ms: number, fire: () => void) => host.clock.timer(ms / 1_000, fire),
};

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) =>
    entry.isFile()
      ? // A file may go while it is looked at.
        await stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        )
      : 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function openedAt(path: string): Promise<Database> {
  const opened = await openPglite({ path, host });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return opened.value;
}

async function connected(path: string): Promise<Database> {
  const client = await connectPglite({ path });
  if (!client.ok) throw new Error(client.error.code);
  return client.value;
}

/** Real threads, the newest of which can be ended from outside. */
function crashingThreads(): {
  readonly threads: Threads;
  readonly started: () => number;
  readonly crash: () => Promise<void>;
} {
  let newest: Thread | undefined;
  let count = 0;
  return {
    started: () => count,
    threads: {
      start: (name, threadData) => {
        count += 1;
        newest = host.threads.start(name, threadData);
        return newest;
      },
    },
    crash: async () => {
      await newest?.terminate();
    },
  };
}
