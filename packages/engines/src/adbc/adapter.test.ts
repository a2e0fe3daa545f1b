/** The engine contract through a real ADBC driver (DuckDB's own), in a thread and in a process, and what a process is for. */
import { readFile } from "node:fs/promises";
import { pid, platform } from "node:process";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ChildProcess, Threads } from "@gateway/core/port/threads.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { duckDbDriver } from "../duckDb/library/library.ts";
import { engineSuite } from "../engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../rig/backend.ts";
import { backendOf, open } from "./adapter.ts";
import { adbcConfig } from "./config.ts";
import { databaseOptions } from "./options.ts";
import { profileOf } from "./profile.ts";

const values: readonly Parameter[] = [
  { type: { kind: "boolean" }, value: true },
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n },
  { type: { kind: "integer", bits: 128, signed: true }, value: -(2n ** 127n) + 1n },
  { type: { kind: "float", bits: 64 }, value: 0.1 },
  { type: { kind: "decimal", precision: 38, scale: 10 }, value: 123456789012345678901234567890n },
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "binary" }, value: new Uint8Array([0, 1, 255]) },
  { type: { kind: "timestamp", unit: "us", zoned: true }, value: 1_577_836_800_000_001n },
  { type: { kind: "interval" }, value: { months: -14, days: 3, nanoseconds: 4_000n } },
  { type: { kind: "uuid" }, value: "00112233-4455-6677-8899-aabbccddeeff" },
  { type: { kind: "list", item: { kind: "text" } }, value: ["a", null] },
];

const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";

const samples = {
  endless,
  flood: "select i, 'row ' || i as label from range(1000000000000) t(i)",
  createTable: "create table suite_t (id integer, label varchar)",
  dropTable: "drop table suite_t",
  echo: "select $1",
  values,
  broken: { sql: "select '\u00e9\u{1f600}' selec from", position: 20 },
};

engineSuite("ADBC, a driver in a thread", samples, () => inThread(), { skip: [] });
engineSuite("ADBC, a driver in a process", samples, () => inProcess(hostOf()), { skip: [] });

describe("a driver's process", () => {
  let host: Watched;
  let backend: Backend;
  beforeAll(async () => {
    host = watchedHost();
    backend = await inProcess(host, { size: 2 });
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("takes its own statement down when it crashes, and nobody else's", async () => {
    const doomed = backend.execute(identifiedOf(samples.flood), never);
    await doomed.next();
    const [victim] = host.children.splice(0);
    const other = backend.execute(identifiedOf(samples.flood), never);
    expect((await other.next()).value).toMatchObject({ kind: "columns" });
    victim?.kill();
    const events = [];
    for await (const event of doomed) events.push(event);
    expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "engine.crashed" } });
    expect((await other.next()).value).toMatchObject({ kind: "batch" });
    await other.return();
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("is killed when a cancel is not answered, and its place is taken by a new one", async () => {
    await using deaf = await inProcess(host, { size: 1, cancelMs: 50, stubborn: true });
    const controller = new AbortController();
    const stream = deaf.execute(identifiedOf(samples.flood), controller.signal);
    await stream.next();
    controller.abort();
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    expect((await ran(deaf, "select 1")).rows).toEqual([[1n]]);
  });

  it("is killed when it does not connect in time, and the cluster counts as unreachable", async () => {
    await using mute = await inProcess(host, { size: 1, connectMs: 50, mute: true });
    expect(codeOf(await ran(mute, "select 1"))).toBe("cluster.connectFailed");
    expect(await mute.probe(never)).toBe("unhealthy");
  });

  it.skipIf(platform !== "linux")("has nothing of the gateway's environment", async () => {
    await ran(backend, "select 1");
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    const environments: string[] = [];
    for (const child of children.trim().split(" ")) {
      const line = await readFile(`/proc/${child}/cmdline`, "utf8").catch(() => "");
      if (!line.includes("adbcProcess")) continue;
      environments.push(await readFile(`/proc/${child}/environ`, "utf8"));
    }
    expect(environments.length).toBeGreaterThan(0);
    for (const one of environments) expect(one).not.toMatch(/(^|\0)(PATH|HOME)=/);
  });
});

describe("ADBC with DuckDB's driver", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await inThread();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("lets nobody at the files of the host or at the settings", async () => {
    for (const sql of [
      "select * from read_csv('/etc/hostname')",
      "copy (select 1) to '/tmp/never.csv'",
      "attach '/tmp/never.db'",
      "set enable_external_access = true",
      "select * from query('select 1')",
    ]) {
      expect([sql, codeOf(await ran(backend, sql))]).toEqual([sql, "query.permission"]);
    }
  });

  it("stands where the session stands, and tells USE as a change of it", async () => {
    await ran(backend, "create schema away");
    const session = { schema: "away" };
    const { rows } = await ran(backend, "select current_schema()", { session });
    expect(rows).toEqual([["away"]]);
    const events = [];
    for await (const event of backend.execute(identifiedOf("use away"), never)) events.push(event);
    expect(events).toMatchObject([
      { kind: "session", change: { kind: "catalog", catalog: "memory", schema: "away" } },
      { kind: "done", updateType: "USE" },
    ]);
    expect(await ran(backend, "select current_schema()")).toMatchObject({ rows: [["main"]] });
  });

  it("lists what it runs, completely, because it lives in this process", async () => {
    const stream = backend.execute(identifiedOf(samples.flood), never);
    await stream.next();
    expect(valueOf(await backend.running(never))).toEqual({
      tags: ["gateway/suite/0/suite"],
      complete: true,
      delayMs: 0,
    });
    await stream.return();
    expect(valueOf(await backend.running(never)).tags).toEqual([]);
  });
});

describe("a driver that is not there", () => {
  it("is answered with the places that were looked at", async () => {
    const config = adbcConfig.parse({
      engine: "adbc",
      driver: "postgresql",
      uri: "postgresql://localhost/db",
    });
    const host: Host = { ...hostOf(), libraryFolders: ["/nowhere/drivers"] };
    const opened = await open("missing", config, host);
    expect(opened).toMatchObject({ ok: false, error: { code: "cluster.connectFailed" } });
    expect(opened.ok ? "" : opened.error.detail).toContain("/nowhere/drivers");
  });
});

let clusters = 0;

async function inThread(): Promise<Backend> {
  const config = adbcConfig.parse({ engine: "adbc", driver: "duckdb", poolSize: 1 });
  return valueOf(await open(`adbc${(clusters += 1)}`, config, hostOf()));
}

interface ProcessOf {
  readonly size?: number;
  readonly cancelMs?: number;
  readonly connectMs?: number;
  /** Its children hear no cancel. */
  readonly stubborn?: boolean;
  /** Its children answer nothing. */
  readonly mute?: boolean;
}

async function inProcess(host: Host, of: ProcessOf = {}): Promise<Backend> {
  const { size = 1, cancelMs = 5_000, connectMs = 20_000, stubborn = false, mute = false } = of;
  const library = driverOf();
  const profile = { ...profileOf("duckdb"), isolated: true };
  const config = adbcConfig.parse({ engine: "adbc", driver: "duckdb" });
  const cluster = `adbc${(clusters += 1)}`;
  return backendOf(
    {
      cluster,
      profile,
      library,
      size,
      limits: { cancelMs, cancelAgainMs: 250, connectMs, idleMs: 300_000 },
      shared: { key: cluster, settings: "" },
      options: () => databaseOptions(cluster, profile, config, host.egress),
    },
    undefined,
    stubborn || mute ? { ...host, threads: deafThreads(host, { mute }) } : host,
  );
}

function driverOf() {
  const driver = duckDbDriver();
  if (!driver.ok) throw new Error(driver.error);
  return driver.value;
}

interface Watched extends Host {
  /** In the order they were started. */
  readonly children: ChildProcess[];
}

/** A host that remembers the processes it started. */
function watchedHost(): Watched {
  const host = hostOf();
  const children: ChildProcess[] = [];
  const spawn = (...given: Parameters<NonNullable<Threads["spawn"]>>): ChildProcess => {
    const child = host.threads.spawn?.(...given);
    if (child === undefined) throw new Error("no processes");
    children.push(child);
    return child;
  };
  return { ...host, children, threads: { ...host.threads, spawn } };
}

/** Real processes to which some messages never come: all of them, or a cancel and what goes with it. */
function deafThreads({ threads }: Host, { mute }: { readonly mute: boolean }): Host["threads"] {
  const spawn = (...given: Parameters<NonNullable<Threads["spawn"]>>): ChildProcess => {
    const child = threads.spawn?.(...given);
    if (child === undefined) throw new Error("no processes");
    const post = (message: unknown): void => {
      const cancels = typeof message === "object" && message !== null && "kind" in message;
      if (!(cancels && message.kind === "cancel")) child.post(message);
    };
    const line: ChildProcess["line"] = (index, reader) => {
      const opened = child.line(index, reader);
      return mute ? { ...opened, write: () => {} } : opened;
    };
    return { ...child, post, line };
  };
  return { ...threads, spawn };
}
