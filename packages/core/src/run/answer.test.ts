import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import { Behind } from "../query/behind.ts";
import type { Answer } from "../query/course.ts";
import type { DoneEvent, ResultEvent } from "../query/event.ts";
import { err, ok } from "../result.ts";
import { batchOf, columnOf } from "../type/build.ts";
import { answerQuery } from "./answer.ts";
import { describeQuery } from "./describe.ts";
import { Engine, planeAsking } from "./rig/engine.ts";
import { queryOf, type PlaneOptions, type TestPlane } from "./rig/plane.ts";

const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
const batch = batchOf(columns, [[1n], [2n]]);
const stats = { queueMs: 0, executionMs: 0, rows: 2, bytes: 8 };
const done: DoneEvent = { kind: "done", stats };
const whole: DoneEvent = { ...done, whole: { columns: { kind: "columns", columns }, batch } };

describe("a query whose engine is asked at once", () => {
  it("is answered whole, counted, recorded, and has given its slot back by then", async () => {
    const engine = new Engine(whole);
    const { plane, answer } = asked(engine);
    expect([plane.live.list().length, plane.slots.size]).toEqual([1, 1]);
    engine.says();
    expect(kindsOf(await answer)).toEqual(["columns", "batch", "done"]);
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "finished", rowsReturned: 2 }]);
    expect([plane.reached, engine.seen]).toEqual([["main succeeded"], ["asked", "whole"]]);
  });

  it("goes on event by event where the answer is not here whole", async () => {
    const engine = new Engine(undefined, [{ kind: "columns", columns }, done]);
    const { plane, answer } = asked(engine);
    engine.says();
    expect(kindsOf(await answer)).toEqual(["columns", "done"]);
    expect([plane.slots.size, plane.records.length]).toEqual([0, 1]);
    expect(engine.seen).toEqual(["asked", "whole", "course", "ended"]);
  });

  it("is told to the engine's course when it is aborted, and ends with the reason", async () => {
    const engine = new Engine(whole);
    const client = new AbortController();
    const { plane, answer } = asked(engine, {}, client.signal);
    client.abort(gatewayError("query.abandoned"));
    expect(engine.seen).toEqual(["asked", "course", "cancelled"]);
    expect([plane.slots.size, plane.records]).toEqual([1, []]);
    engine.over();
    expect(await lastOf(await answer)).toMatchObject({ error: { code: "query.abandoned" } });
    expect([plane.slots.size, plane.records.length]).toEqual([0, 1]);
    // What comes of the answer itself is nobody's any more.
    engine.says();
    expect(plane.records).toHaveLength(1);
  });

  it("gets no rows beyond its group's limit", async () => {
    const engine = new Engine(whole);
    const limits = { maxRows: 1, maxExecutionMs: undefined };
    const { plane, answer } = asked(engine, { limits });
    engine.says();
    expect(await lastOf(await answer)).toMatchObject({ error: { code: "query.tooManyRows" } });
    expect(plane.records).toMatchObject([{ status: "failed", errorCode: "query.tooManyRows" }]);
  });

  it("ends by its time limit through the course", async () => {
    const engine = new Engine(whole);
    const limits = { maxRows: undefined, maxExecutionMs: 50 };
    const { plane, answer } = asked(engine, { limits });
    await plane.host.advance(50);
    engine.over();
    expect(await lastOf(await answer)).toMatchObject({ error: { code: "query.timeout" } });
    expect(plane.slots.size).toBe(0);
  });

  it("is a bug of ours where the engine's adapter throws, and gives everything back", async () => {
    const engine = new Engine(new Error("a bug"));
    const { plane, answer } = asked(engine);
    engine.says();
    expect(await lastOf(await answer)).toMatchObject({ error: { code: "internal.bug" } });
    expect([plane.slots.size, plane.live.list(), plane.records.length]).toEqual([0, [], 1]);
  });
});

describe("what a query leaves behind its answer", () => {
  it("is its slot, its place among those that live and its record", async () => {
    const behind = new Behind(() => {});
    const engine = new Engine(whole);
    const { plane, answer } = asked(engine, { behind });
    engine.says();
    expect(kindsOf(await answer)).toEqual(["columns", "batch", "done"]);
    expect([plane.slots.size, plane.live.list().length, plane.records]).toEqual([1, 1, []]);
    behind.run();
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "finished", rowsReturned: 2 }]);
    behind.run();
    expect(plane.records).toHaveLength(1);
  });

  it("is done before the next query asks for a slot", async () => {
    const behind = new Behind(() => {});
    const engine = new Engine(whole);
    const { plane, answer } = asked(engine, { behind });
    engine.says();
    await answer;
    const next = answerQuery(queryOf("next"), plane, new AbortController().signal);
    expect([plane.slots.size, plane.records.length]).toEqual([1, 1]);
    engine.says();
    await next;
    behind.run();
    expect([plane.slots.size, plane.records.length]).toEqual([0, 2]);
  });

  it("is done before a question about a statement asks for a slot", async () => {
    const behind = new Behind(() => {});
    const engine = new Engine(whole);
    const { plane, answer } = asked(engine, { behind });
    engine.says();
    await answer;
    expect(plane.slots.size).toBe(1);
    await describeQuery(queryOf("described"), plane, new AbortController().signal);
    expect([plane.slots.size, plane.records.length]).toEqual([0, 1]);
  });

  it("does not reach whoever runs it as a bug", async () => {
    const behind = new Behind(() => {});
    const engine = new Engine(whole);
    const { plane, answer } = asked(engine, { behind });
    plane.records.push = () => {
      throw new Error("a bug in the history");
    };
    engine.says();
    expect(kindsOf(await answer)).toEqual(["columns", "batch", "done"]);
    expect(() => behind.run()).not.toThrow();
    expect([plane.slots.size, plane.host.log.bugs.length]).toEqual([0, 1]);
  });
});

describe("a query that has to wait for something else", () => {
  it.each<readonly [string, Partial<PlaneOptions>, string]>([
    ["its route", { routesAtOnce: false }, "done"],
    ["its slot", { slotsAtOnce: false }, "done"],
    ["a guard of the engine's text", { late: async () => ok([]) }, "done"],
    ["nothing, as it is refused", { refuse: { identify: denied } }, "policy.denied"],
    ["nothing, as a router throws", { routeThrows: true }, "internal.bug"],
    ["nothing, as a group throws", { limitsThrow: true }, "internal.bug"],
    ["a guard, which refuses it", { late: async () => err(denied) }, "policy.denied"],
  ])("goes the way of all others: %s", async (_, options, end) => {
    const engine = new Engine(whole);
    const { plane, answer } = asked(engine, options);
    const last = await lastOf(await answer);
    expect(last.kind === "failed" ? last.error.code : last.kind).toBe(end);
    expect([plane.slots.size, plane.live.list(), plane.records.length]).toEqual([0, [], 1]);
    expect(engine.seen).toEqual([]);
  });

  it("is not sent by an engine that can not do it at once, and runs all the same", async () => {
    const { plane, answer } = asked(undefined);
    expect(await lastOf(await answer)).toMatchObject({ kind: "done" });
    expect([plane.slots.size, plane.reached]).toEqual([0, ["main succeeded"]]);
  });

  it("is refused by a process that drains", async () => {
    const engine = new Engine(whole);
    const { plane } = asked(engine);
    plane.drainNow();
    const answer = await answerQuery(queryOf("late"), plane, new AbortController().signal);
    expect(await lastOf(answer)).toMatchObject({ error: { code: "gateway.draining" } });
  });
});

const denied = gatewayError("policy.denied");

function asked(
  engine: Engine | undefined,
  options: Partial<PlaneOptions> = {},
  signal: AbortSignal = new AbortController().signal,
): { readonly plane: TestPlane; readonly answer: Promise<Answer> } {
  const plane = planeAsking(engine, options);
  return { plane, answer: answerQuery(queryOf("q"), plane, signal) };
}

async function eventsIn(answer: Answer): Promise<readonly ResultEvent[]> {
  if (!(Symbol.asyncIterator in answer)) return answer;
  const events: ResultEvent[] = [];
  for await (const event of answer) events.push(event);
  return events;
}

function kindsOf(answer: Answer): readonly string[] {
  return Symbol.asyncIterator in answer ? ["a stream"] : answer.map(({ kind }) => kind);
}

async function lastOf(answer: Answer): Promise<ResultEvent> {
  const last = (await eventsIn(answer)).at(-1);
  if (last === undefined) throw new Error("no event");
  return last;
}
