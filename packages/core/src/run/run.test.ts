import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import { batchOf, columnOf } from "../type/build.ts";
import type { DoneEvent, ResultEvent, ResultStream } from "../query/event.ts";
import type { Pin } from "../query/pin.ts";
import type { Dialect } from "../sql/dialect.ts";
import { runQuery } from "./run.ts";
import { planeOf, queryOf, type Execute, type PlaneOptions, type TestPlane } from "./rig/plane.ts";

const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
const columnsEvent = { kind: "columns", columns } as const;

describe("runQuery", () => {
  it("passes positions, columns and batches on in order and ends with done", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(3) }, positions: [2, 1] });
    const events = await allOf(plane, "select n");
    expect(events.map(shown)).toEqual(["queued 2", "queued 1", "columns", "batch 3", "done"]);
    expect(plane.records).toMatchObject([
      {
        status: "finished",
        rowsReturned: 3,
        clusterGroup: "main",
        cluster: "main",
        engine: "duckDb",
        revision: "1.1.test",
      },
    ]);
  });

  it("records what the engine was given only where it is not the client's own text", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    await allOf(plane, "select n");
    const translating = planeOf({ clusters: { main: rowsOf(1) }, engineSql: "SELECT N" });
    await allOf(translating, "select n");
    const [same, translated] = [plane.records[0], translating.records[0]];
    expect(same).toMatchObject({
      sql: "select n",
      sourceDialect: "postgres",
      targetDialect: "duckdb",
      backendIdentityMode: "serviceAccount",
      policyActions: [],
      engineStats: {},
    });
    expect(same?.translatedSql).toBeUndefined();
    expect(translated).toMatchObject({ sql: "select n", translatedSql: "SELECT N" });
    // Hashes belong to whoever writes the record.
    expect([same?.sqlHash, same?.digestHash]).toEqual([undefined, undefined]);
  });

  it("says that it runs as soon as it has its slot, before the engine gave anything", async () => {
    const plane = planeOf({ clusters: { main: untilAborted }, positions: [1] });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    await stream.next();
    expect(plane.live.list()).toMatchObject([{ state: "queued", cluster: undefined }]);
    expect((await stream.next()).value).toMatchObject({ kind: "progress", state: "running" });
    expect(plane.live.list()).toMatchObject([{ state: "running", cluster: "main" }]);
    await stream.return();
    expect(plane.slots.size).toBe(0);
  });

  it("gives slot and record back before the last event leaves", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    for await (const event of stream) {
      if (event.kind !== "done") continue;
      expect(plane.slots.size).toBe(0);
      expect(plane.records).toHaveLength(1);
      break;
    }
    expect(plane.records).toHaveLength(1);
  });

  it("cancels the engine and keeps one record when the client leaves in the middle", async () => {
    let closed = false;
    const endless: Execute = async function* () {
      try {
        yield columnsEvent;
        for (;;) yield { kind: "batch", batch: batchOf(columns, [[1n]]) };
      } finally {
        closed = true;
      }
    };
    const plane = planeOf({ clusters: { main: endless } });
    for await (const event of runQuery(queryOf("select n"), plane, new AbortController().signal)) {
      if (event.kind === "batch") break;
    }
    expect(closed).toBe(true);
    expect(plane.slots.size).toBe(0);
    expect(plane.live.list()).toEqual([]);
    expect(plane.records).toMatchObject([{ status: "cancelled", errorCode: "query.cancelled" }]);
  });

  it("answers a bug in any stage, logs it, and leaks nothing", async () => {
    const broken: Execute = async function* () {
      yield columnsEvent;
      throw new Error("a bug in an adapter");
    };
    for (const options of [
      { clusters: { main: rowsOf(1) }, routeThrows: true },
      { clusters: { main: rowsOf(1) }, limitsThrow: true },
      { clusters: { main: broken } },
    ] satisfies PlaneOptions[]) {
      const plane = planeOf(options);
      const events = await allOf(plane, "select n");
      expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "internal.bug" } });
      expect(plane.slots.size).toBe(0);
      expect(plane.records).toMatchObject([{ status: "failed", errorCode: "internal.bug" }]);
      expect(plane.host.log.bugs).toHaveLength(1);
    }
  });

  it("runs on another cluster when the first one can not be connected to", async () => {
    const plane = planeOf({ clusters: { first: unreachable(), second: rowsOf(2) } });
    const events = await allOf(plane, "select n");
    expect(events.map(shown)).toEqual(["columns", "batch 2", "done"]);
    expect(plane.reached).toEqual(["first failed", "second succeeded"]);
    expect(plane.records).toMatchObject([{ cluster: "second", status: "finished" }]);
    expect(plane.records[0]?.routingTrace).toEqual([
      { step: "fallback", outcome: "main" },
      { step: "attempt", outcome: "first unreachable" },
    ]);
    expect(plane.slots.size).toBe(0);
  });

  it("never runs twice once something was passed on", async () => {
    const late: Execute = async function* () {
      yield columnsEvent;
      yield { kind: "failed", error: gatewayError("cluster.connectFailed") };
    };
    const plane = planeOf({ clusters: { first: late, second: rowsOf(2) } });
    const events = await allOf(plane, "select n");
    expect(events.map(shown)).toEqual(["columns", "failed cluster.connectFailed"]);
  });

  it("refuses when every cluster was unreachable", async () => {
    const plane = planeOf({ clusters: { first: unreachable(), second: unreachable() } });
    const events = await allOf(plane, "select n");
    expect(events.map(shown)).toEqual(["failed cluster.unavailable"]);
  });

  it("ends a query that runs longer than its group allows", async () => {
    const plane = planeOf({
      clusters: { main: untilAborted },
      limits: { maxExecutionMs: 5_000, maxRows: undefined },
    });
    const ended = allOf(plane, "select n");
    await plane.host.advance(5_001);
    expect((await ended).map(shown)).toEqual(["columns", "failed query.timeout"]);
    expect(plane.slots.size).toBe(0);
  });

  it("frees the slot of a query that ran too long although its client does not read", async () => {
    let closed = false;
    const endless: Execute = async function* () {
      try {
        yield columnsEvent;
        for (;;) yield { kind: "batch", batch: batchOf(columns, [[1n]]) };
      } finally {
        closed = true;
      }
    };
    const plane = planeOf({
      clusters: { main: endless },
      limits: { maxExecutionMs: 5_000, maxRows: undefined },
    });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    await stream.next();
    await stream.next();
    expect(plane.slots.size).toBe(1);
    await plane.host.advance(5_001);
    expect(closed).toBe(true);
    expect(plane.slots.size).toBe(0);
    const { value } = await stream.next();
    expect(value).toMatchObject({ kind: "failed", error: { code: "query.timeout" } });
    expect(plane.records).toMatchObject([{ errorCode: "query.timeout" }]);
  });

  it("fails a result with more rows than its group allows instead of cutting it", async () => {
    const plane = planeOf({
      clusters: { main: rowsOf(3) },
      limits: { maxExecutionMs: undefined, maxRows: 2 },
    });
    const events = await allOf(plane, "select n");
    expect(events.map(shown)).toEqual(["columns", "failed query.tooManyRows"]);
  });

  it("asks no engine for rows that nobody counts where the group has a limit of them", async () => {
    const taken: (readonly string[])[] = [];
    const noting: Execute = async function* ({ takes }) {
      taken.push(takes);
      yield { kind: "failed", error: gatewayError("engine.failed") };
    };
    for (const maxRows of [undefined, 2]) {
      const limits = { maxExecutionMs: undefined, maxRows };
      const plane = planeOf({ clusters: { main: noting }, limits });
      const query = { ...queryOf("select n"), takes: ["clickHouseBody", "mysqlRows"] as const };
      for await (const _event of runQuery(query, plane, new AbortController().signal));
    }
    expect(taken).toEqual([["clickHouseBody", "mysqlRows"], ["mysqlRows"]]);
  });

  it("never lets an engine's broken end look like a complete result", async () => {
    const silent: Execute = async function* () {
      yield columnsEvent;
    };
    const events = await allOf(planeOf({ clusters: { main: silent } }), "select n");
    expect(events.map(shown)).toEqual(["columns", "failed engine.broken"]);
  });

  it("records a denied query as denied, without a slot", async () => {
    const refuse = { police: gatewayError("policy.denied") };
    const plane = planeOf({ clusters: { main: rowsOf(1) }, refuse });
    const events = await allOf(plane, "select n");
    expect(events.map(shown)).toEqual(["failed policy.denied"]);
    expect(plane.records).toMatchObject([{ status: "denied", cluster: undefined }]);
  });

  it("refuses before the first generation and during a drain", async () => {
    const early = planeOf({ clusters: {}, notReady: true });
    expect((await allOf(early, "select n")).map(shown)).toEqual(["failed config.notReady"]);
    const late = planeOf({ clusters: { main: rowsOf(1) } });
    late.drainNow();
    expect((await allOf(late, "select n")).map(shown)).toEqual(["failed gateway.draining"]);
  });

  it("keeps the generation open until the last query that holds it ended", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    await stream.next();
    let swapped = false;
    const swapping = async (): Promise<void> => {
      await plane.generations.swap(undefined);
      swapped = true;
    };
    const swap = swapping();
    await plane.host.settle();
    expect(swapped).toBe(false);
    await stream.return();
    await swap;
    expect(swapped).toBe(true);
  });
});

describe("runQuery in a transaction", () => {
  it("holds one slot and one connection from BEGIN to COMMIT", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    const pin = await beginOn(plane);
    expect(plane.slots.size).toBe(1);
    expect((await allOf(plane, "select n", pin)).map(shown)).toEqual([
      "columns",
      "batch 1",
      "done",
    ]);
    expect(plane.slots.size).toBe(1);
    const committed = await allOf(plane, "commit", pin);
    expect(committed.map(shown)).toEqual(["session unpinned", "done COMMIT"]);
    expect(plane.lanes).toEqual(["begin main", "commit", "closed"]);
    expect(plane.slots.size).toBe(0);
    expect(plane.records.map(({ status }) => status)).toEqual(["finished", "finished", "finished"]);
  });

  it("refuses everything after a failure until the end, which is then a rollback", async () => {
    const failing: Execute = async function* () {
      yield { kind: "failed", error: gatewayError("query.data") };
    };
    const plane = planeOf({ clusters: { main: failing } });
    const pin = await beginOn(plane);
    await allOf(plane, "select 1/0", pin);
    expect(pin.state).toBe("aborted");
    expect((await allOf(plane, "select 1", pin)).map(shown)).toEqual([
      "failed query.transactionAborted",
    ]);
    expect((await allOf(plane, "commit", pin)).map(shown)).toEqual([
      "session unpinned",
      "done ROLLBACK",
    ]);
    expect(plane.lanes).toEqual(["begin main", "rollback", "closed"]);
  });

  it("lets nothing change in a transaction that was begun to read only", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    for (const sql of ["insert into t values (1)", "create table t (a int)"]) {
      const pin = await beginOn(plane, "begin read only");
      expect((await allOf(plane, "select n", pin)).at(-1)?.kind).toBe("done");
      const [event] = await allOf(plane, sql, pin);
      expect(event).toMatchObject({ kind: "failed", error: { sqlState: "25006" } });
      await pin.end();
    }
  });

  it("leaves it to an engine of the client's own protocol to refuse that", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) }, refusesWritesOf: "duckdb" });
    const pin = await beginOn(plane, "begin read only");
    const insert = "insert into t values (1)";
    expect((await allOf(plane, insert, pin, "duckdb")).at(-1)?.kind).toBe("done");
    expect((await allOf(plane, insert, pin)).at(-1)?.kind).toBe("failed");
    await pin.end();
  });

  it("rolls back a transaction that was idle for too long and says so once", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    const pin = await beginOn(plane);
    await plane.host.advance(60_001);
    expect(plane.slots.size).toBe(0);
    expect(plane.lanes).toEqual(["begin main", "closed"]);
    const told = await allOf(plane, "select n", pin);
    expect(told.map(shown)).toEqual(["session unpinned", "failed query.idleInTransaction"]);
  });

  it("gives everything back exactly once when the client leaves", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    const pin = await beginOn(plane);
    await Promise.all([pin.end(), pin.end()]);
    expect(plane.lanes).toEqual(["begin main", "closed"]);
    expect(plane.slots.size).toBe(0);
    expect(plane.host.timerCount).toBe(0);
  });

  it("answers COMMIT without a transaction as success with a notice", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    expect((await allOf(plane, "COMMIT")).map(shown)).toEqual([
      "notice noTransaction",
      "session unpinned",
      "done COMMIT",
    ]);
    expect(plane.slots.size).toBe(0);
  });

  it("refuses a second statement while the first one of the transaction still streams", async () => {
    const plane = planeOf({ clusters: { main: rowsOf(1) } });
    const pin = await beginOn(plane);
    const first = runQuery(queryOf("select n", { pin }), plane, new AbortController().signal);
    await first.next();
    expect((await allOf(plane, "select 2", pin)).map(shown)).toEqual(["failed query.transaction"]);
    await first.return();
    expect((await allOf(plane, "select 3", pin)).at(-1)).toMatchObject({ kind: "done" });
    await pin.end();
  });
});

/** Everything but the progress, which says nothing of how a query ends. */
async function allOf(
  plane: TestPlane,
  sql: string,
  pin?: Pin,
  dialect: Dialect = "postgres",
): Promise<ResultEvent[]> {
  const events: ResultEvent[] = [];
  const stream = runQuery(queryOf(sql, { pin, dialect }), plane, new AbortController().signal);
  for await (const event of stream) if (event.kind !== "progress") events.push(event);
  return events;
}

async function beginOn(plane: TestPlane, sql = "BEGIN"): Promise<Pin> {
  const events = await allOf(plane, sql);
  for (const event of events) {
    if (event.kind === "session" && event.change.kind === "pinned") return event.change.pin;
  }
  throw new Error("BEGIN made no pin");
}

function shown(event: ResultEvent): string {
  if (event.kind === "queued") return `queued ${event.position}`;
  if (event.kind === "batch") return `batch ${event.batch.rows}`;
  if (event.kind === "failed") return `failed ${event.error.code}`;
  if (event.kind === "notice") return `notice ${event.code}`;
  if (event.kind === "session") return `session ${event.change.kind}`;
  if (event.kind !== "done" || event.updateType === undefined) return event.kind;
  return `done ${event.updateType}`;
}

function rowsOf(count: number): Execute {
  return async function* (): ResultStream {
    yield columnsEvent;
    const rows = Array.from({ length: count }, (_, index) => [BigInt(index)]);
    yield { kind: "batch", batch: batchOf(columns, rows) };
    yield doneOf();
  };
}

function unreachable(): Execute {
  return async function* (): ResultStream {
    yield { kind: "failed", error: gatewayError("cluster.connectFailed") };
  };
}

const untilAborted: Execute = async function* (_query, signal): ResultStream {
  yield columnsEvent;
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });
  yield { kind: "failed", error: gatewayError("query.cancelled") };
};

function doneOf(): DoneEvent {
  return { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
}
