/** Connections of many callers in few processes: DuckDB's driver, with a database for each connection. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess, Threads } from "@gateway/core/port/threads.ts";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { hostOf, never } from "../../rig/backend.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { DriverThread, ProcessLimits } from "./driverThread.ts";
import { duckDbDriver } from "../../duckDb/library/library.ts";
import { SharedProcesses } from "./home.ts";

const patient: ProcessLimits = { cancelMs: 5_000, cancelAgainMs: 50, connectMs: 20_000 };
const flood = "select i from range(100000000000) t(i)";
const busy = "select count(*) from range(60000000) t(i) where i % 3 = 5";

const folder = mkdtempSync(join(tmpdir(), "gateway-shared-"));
let started: ChildProcess[] = [];
let open: DriverThread[] = [];
let crashes: string[] = [];

afterEach(async () => {
  await Promise.all(open.map((thread) => thread.end()));
  [started, open, crashes] = [[], [], []];
});

describe("processes of several connections", () => {
  it("start as they are needed, and end with the last connection", async () => {
    const processes = sharedBy(2);
    const seats = [await seat(processes), await seat(processes), await seat(processes)];
    expect([processes.count, started.length]).toEqual([2, 2]);
    await seats[0]?.end();
    const next = await seat(processes);
    expect(started).toHaveLength(2);
    await Promise.all([...seats, next].map((one) => one.end()));
    expect(processes.count).toBe(0);
    expect(crashes).toEqual([]);
  });

  it("keep what each connection has to itself, whichever thread serves it", async () => {
    const processes = sharedBy(4);
    const seats = await Promise.all([1, 2, 3, 4].map(() => seat(processes)));
    for (const one of seats) await one.ask("create table kept as select 0 as n");
    const asked = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 8, maxLength: 40 });
    const counts = [0, 0, 0, 0];
    await fc.assert(
      fc.asyncProperty(asked, async (order) => {
        // Those of different seats run at once, those of one behind each other.
        const turns = seats.map(async (one, at) => {
          for (const _ of order.filter((who) => who === at)) {
            await one.ask("update kept set n = n + 1");
            counts[at] = (counts[at] ?? 0) + 1;
          }
          return await one.ask("select n from kept");
        });
        expect(await Promise.all(turns)).toEqual(counts.map((count) => [[count]]));
      }),
      { numRuns: 20 },
    );
    expect(started).toHaveLength(1);
  });

  it("carry a transaction over requests that other threads serve", async () => {
    const processes = sharedBy(3);
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => seat(processes)));
    await one?.ask("create table kept as select 1 as n");
    expect(await one?.thread.ask({ kind: "begin", statements: [] })).toMatchObject({ ok: true });
    await one?.ask("update kept set n = 2");
    const beside = Promise.all([two?.ask(busy), three?.ask(busy)]);
    expect(await one?.ask("select n from kept")).toEqual([[2]]);
    await beside;
    expect(await one?.thread.ask({ kind: "end", how: "rollback" })).toMatchObject({ ok: true });
    expect(await one?.ask("select n from kept")).toEqual([[1]]);
  });

  it("close what a connection has open when its seat is left, and go on with the others", async () => {
    const path = join(folder, "left.duckdb");
    const processes = sharedBy(2);
    const [holds, stays] = [await seat(processes, path), await seat(processes)];
    await holds.ask("create table kept as select 7 as n");
    await expect(seat(sharedBy(1), path)).rejects.toThrow(/lock/i);
    await holds.end();
    const other = await seat(sharedBy(1), path);
    expect(await other.ask("select n from kept")).toEqual([[7]]);
    expect(await stays.ask("select 1")).toEqual([[1]]);
    expect(processes.count).toBe(1);
  });

  it("end for all when they crash, and whoever asks next has another", async () => {
    const processes = sharedBy(2);
    const seats = [await seat(processes), await seat(processes)];
    const asked = seats.map((one) => one.ask(flood));
    started[0]?.kill();
    for (const answer of asked) expect(await answer).toBe("crashed");
    expect(seats.map(({ thread }) => thread.alive)).toEqual([false, false]);
    expect(await (await seat(processes)).ask("select 1")).toEqual([[1]]);
    expect(crashes).toEqual(["signal SIGKILL"]);
  });

  it("that hang are left by everybody, and ended when the others have their answers", async () => {
    const deaf = { cancelMs: 20, cancelAgainMs: 10, connectMs: 20_000 };
    const processes = sharedBy(3, deaf);
    const [hangs, works, rests] = await Promise.all([1, 2, 3].map(() => seat(processes)));
    const cancelled = new AbortController();
    const hung = hangs?.ask(flood, cancelled.signal);
    const answer = works?.ask(busy);
    cancelled.abort();
    await ended(() => rests?.thread.alive === false);
    // Who comes now does not come here.
    expect(await (await seat(processes)).ask("select 1")).toEqual([[1]]);
    expect(started).toHaveLength(2);
    expect(await answer).toEqual([[0]]);
    expect(await hung).toMatch(/cancelled|crashed/);
    await ended(() => processes.count === 1);
    expect(crashes).toEqual(["it did not end what was cancelled"]);
  });
});

/** Processes that hear no cancel when the limits say that nobody waits for one. */
function sharedBy(max: number, limits = patient): SharedProcesses {
  const { threads, clock } = hostOf();
  const library = duckDbDriver();
  if (!library.ok) throw new Error(library.error);
  const plan = {
    threads: watched(threads, limits.cancelMs < 1_000),
    clock,
    library: library.value,
  };
  return new SharedProcesses(plan, limits, { max, onCrash: (how) => crashes.push(how) });
}

function watched(threads: Threads, deaf: boolean): Threads {
  const spawn = (...given: Parameters<NonNullable<Threads["spawn"]>>): ChildProcess => {
    const child = threads.spawn?.(...given);
    if (child === undefined) throw new Error("no processes");
    started.push(child);
    if (!deaf) return child;
    const isCancel = (message: unknown): boolean => JSON.stringify(message).includes('"cancel"');
    return { ...child, post: (message) => isCancel(message) || child.post(message) };
  };
  return { ...threads, spawn };
}

interface TestSeat {
  readonly thread: DriverThread;
  /** Rows, or the failure's code. */
  ask(sql: string, signal?: AbortSignal): Promise<readonly (readonly Value[])[] | string>;
  end(): Promise<void>;
}

async function seat(processes: SharedProcesses, path = ":memory:"): Promise<TestSeat> {
  const thread = processes.thread();
  open.push(thread);
  const database = { options: [["path", path]], setup: [], ofSeat: true } as const;
  const opened = await thread.ask({ kind: "openDatabase", database });
  if (!opened.ok) throw new Error(opened.error.message);
  if (opened.value.kind !== "opened") throw new Error("no database");
  const { address } = opened.value.opened;
  const connected = await thread.ask({ kind: "connect", database: address, before: [] });
  if (!connected.ok) throw new Error(connected.error.message);
  return { thread, ask: (sql, signal) => rowsOf(thread, sql, signal), end: () => thread.end() };
}

async function rowsOf(
  thread: DriverThread,
  sql: string,
  signal = never,
): Promise<readonly (readonly Value[])[] | string> {
  const before = { parameters: [], database: undefined, before: [], expected: undefined };
  const stream = thread.execute({ sql, ...before }, signal);
  const rows: (readonly Value[])[] = [];
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value.ok ? rows : step.value.error.code;
    if (step.value.kind !== "batch" || sql === flood) continue;
    const batch = columnarOf(step.value.batch);
    for (let row = 0; row < batch.rows; row += 1) {
      rows.push(batch.columns.map((column) => plain(valueAt(column, row))));
    }
  }
}

/** Counts are small here. */
function plain(value: Value): Value {
  return typeof value === "bigint" ? Number(value) : value;
}

async function ended(what: () => boolean): Promise<void> {
  await expect.poll(what, { timeout: 15_000, interval: 5 }).toBe(true);
}

process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
