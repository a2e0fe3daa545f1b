import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import { batchOf, columnOf } from "../../type/build.ts";
import type { ResultEvent, ResultStream } from "../../query/event.ts";
import { waited, type Course } from "../../query/course.ts";
import { virtualHost } from "../../rig/virtual.ts";
import { graceMs, PatientReader } from "./patience.ts";
import type { Pin } from "../../query/pin.ts";
import { runQuery } from "../run.ts";
import { planeOf, queryOf, type PlaneOptions, type TestPlane } from "../rig/plane.ts";

const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];

describe("a reader of a course", () => {
  it("ends it alone: who reads on meanwhile gets what was asked for, and then nothing", async () => {
    const [answered, cleaned] = [gate<ResultEvent>(), gate<string>()];
    const seen: string[] = [];
    function* engine(): Course {
      try {
        yield yield* waited(answered.promise);
        seen.push("went on");
        yield failed;
      } finally {
        seen.push(yield* waited(cleaned.promise));
      }
    }
    const reader = new PatientReader(engine(), virtualHost(1).clock);
    const first = reader.next();
    const ended = reader.end();
    answered.open(notice);
    expect(await first).toEqual(notice);
    // The engine cleans up now, and nobody else may take it further.
    const second = reader.next();
    expect(await Promise.race([second, Promise.resolve("waits")])).toBe("waits");
    expect(seen).toEqual([]);
    cleaned.open("clean");
    expect(await second).toBe("over");
    await Promise.all([ended, reader.end()]);
    expect([seen, await reader.next()]).toEqual([["clean"], "over"]);
  });
});

describe("a reader that ended a course in no time", () => {
  it("has nothing more", async () => {
    function* engine(): Course {
      yield failed;
    }
    const reader = new PatientReader(engine(), virtualHost(1).clock);
    expect(reader.next()).toEqual(failed);
    expect(reader.leave()).toBeUndefined();
    expect(reader.next()).toBe("over");
  });
});

describe("a reader of a query that was aborted", () => {
  it("waits for nothing any more once the events have ended, at once or later", async () => {
    const host = virtualHost(1);
    function* atOnce(): Course {
      yield failed;
    }
    const cleaned = gate<string>();
    async function* later(): ResultStream {
      try {
        yield failed;
      } finally {
        await cleaned.promise;
      }
    }
    for (const events of [atOnce(), later()]) {
      const reader = new PatientReader(events, host.clock);
      await reader.next();
      reader.aborted();
      expect(host.timerCount).toBe(1);
      const ended = reader.end();
      cleaned.open("clean");
      await ended;
      expect(host.timerCount).toBe(0);
    }
  });
});

describe("an engine that ignores its cancel", () => {
  it("does not keep its client waiting, and keeps slot and record until it is done", async () => {
    const { plane, engine } = planeOver();
    const client = new AbortController();
    const told = lastOf(plane, client.signal);
    await plane.host.advance(50);
    client.abort(gatewayError("query.cancelled"));
    await plane.host.advance(graceMs - 1);
    expect(told.event).toBeUndefined();
    await plane.host.advance(1);
    expect(told.event).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    // The engine still works: another in this place would be one too many.
    expect(heldOf(plane)).toEqual({ slots: 1, live: 1, gauge: 1 });
    expect(plane.records).toEqual([]);
    engine.end();
    await plane.host.settle();
    expect(heldOf(plane)).toEqual({ slots: 0, live: 0, gauge: 0 });
    expect(plane.records).toMatchObject([{ status: "cancelled", executionMs: graceMs + 50 }]);
    expect(plane.host.timerCount).toBe(0);
  });

  it("is told from one that only takes its time, whose end is waited for", async () => {
    const { plane, engine } = planeOver();
    const client = new AbortController();
    const told = lastOf(plane, client.signal);
    await plane.host.settle();
    client.abort(gatewayError("query.cancelled"));
    await plane.host.advance(graceMs - 1);
    engine.end();
    await plane.host.settle();
    expect(told.event).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    expect(heldOf(plane)).toEqual({ slots: 0, live: 0, gauge: 0 });
    expect(plane.records).toHaveLength(1);
    expect(plane.host.timerCount).toBe(0);
  });

  it("is not waited for where it said so at once, or sent too many rows, and does not come to its end", async () => {
    const limits = { maxExecutionMs: undefined, maxRows: 1 };
    const plane = planeOf({
      limits,
      clusters: {
        main: async function* ({ engineSql }, signal) {
          try {
            if (engineSql === "select many")
              yield { kind: "batch", batch: batchOf(columns, [[1n], [2n]]) };
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            yield { kind: "failed", error: gatewayError("query.cancelled") };
          } finally {
            await new Promise<void>((resolve) => ends.push(resolve));
          }
        },
      },
    });
    const ends: (() => void)[] = [];
    const client = new AbortController();
    const cancelled = lastOf(plane, client.signal);
    const many = lastOf(plane, new AbortController().signal, { sql: "select many" });
    await plane.host.settle();
    client.abort(gatewayError("query.cancelled"));
    await plane.host.advance(graceMs);
    expect(cancelled.event).toMatchObject({ error: { code: "query.cancelled" } });
    expect(many.event).toMatchObject({ error: { code: "query.tooManyRows" } });
    expect(plane.slots.size).toBe(2);
    for (const end of ends) end();
    await plane.host.settle();
    expect(plane.slots.size).toBe(0);
    expect(plane.records.map(({ status }) => status)).toEqual(["failed", "cancelled"]);
    expect(plane.host.timerCount).toBe(0);
  });

  it("is not waited for beyond a time limit either", async () => {
    const limits = { maxExecutionMs: 1_000, maxRows: undefined };
    const { plane, engine } = planeOver({ limits });
    const told = lastOf(plane, new AbortController().signal);
    await plane.host.advance(1_000 + graceMs);
    expect(told.event).toMatchObject({ kind: "failed", error: { code: "query.timeout" } });
    expect(plane.slots.size).toBe(1);
    engine.end();
    await plane.host.settle();
    expect(plane.slots.size).toBe(0);
  });

  it("ends the transaction whose connection it does not give back", async () => {
    const { plane, engine } = planeOver();
    const pin = await beginOn(plane);
    const client = new AbortController();
    const told = lastOf(plane, client.signal, { pin });
    await plane.host.settle();
    client.abort(gatewayError("query.cancelled"));
    await plane.host.advance(graceMs);
    expect(told.event).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    expect(told.kinds).toContain("session unpinned");
    expect(pin.state).toBe("ended");
    engine.end();
    await plane.host.settle();
    expect(plane.slots.size).toBe(0);
    expect(plane.records.map(({ status }) => status)).toEqual(["finished", "cancelled"]);
  });
});

/** One engine that answers when it is told to, whatever the signal says. */
function planeOver(more: Partial<PlaneOptions> = {}) {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const plane = planeOf({
    clusters: {
      main: async function* () {
        await ended;
        yield { kind: "failed", error: gatewayError("query.cancelled") };
      },
    },
    ...more,
  });
  return { plane, engine: { end: () => end() } };
}

function heldOf(plane: TestPlane) {
  const labels = { cluster_group: "main", cluster_name: "main" };
  return {
    slots: plane.slots.size,
    live: plane.live.list().length,
    gauge: plane.host.metrics.value("gateway_running_queries", labels),
  };
}

/** Reads a statement to its end, in the background. */
function lastOf(
  plane: TestPlane,
  signal: AbortSignal,
  { sql = "select n", pin }: { readonly sql?: string; readonly pin?: Pin } = {},
) {
  const told: { event: ResultEvent | undefined; kinds: string[] } = { event: undefined, kinds: [] };
  void (async () => {
    for await (const event of runQuery(queryOf(sql, { pin }), plane, signal)) {
      told.kinds.push(event.kind === "session" ? `session ${event.change.kind}` : event.kind);
      if (event.kind === "failed" || event.kind === "done") told.event = event;
    }
  })();
  return told;
}

async function beginOn(plane: TestPlane): Promise<Pin> {
  let pin: Pin | undefined;
  for await (const event of runQuery(queryOf("begin"), plane, new AbortController().signal)) {
    if (event.kind === "session" && event.change.kind === "pinned") pin = event.change.pin;
  }
  if (pin === undefined) throw new Error("no transaction was begun");
  return pin;
}

const notice = { kind: "notice", code: "00000", text: "here" } as const satisfies ResultEvent;
const failed = {
  kind: "failed",
  error: gatewayError("engine.broken"),
} as const satisfies ResultEvent;

function gate<Value>() {
  let open: (value: Value) => void = () => {};
  const promise = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { promise, open: (value: Value) => open(value) };
}
