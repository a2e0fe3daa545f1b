import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import { Behind } from "../query/behind.ts";
import type { DoneEvent, ResultEvent } from "../query/event.ts";
import { neverAborted } from "../tool/canceller.ts";
import { batchOf, columnOf } from "../type/build.ts";
import { startQuery } from "./answer.ts";
import { Engine, planeAsking } from "./rig/engine.ts";
import { queryOf, type PlaneOptions, type TestPlane } from "./rig/plane.ts";
import { runQuery } from "./run.ts";
import { ParkedQuery } from "./poll/parked.ts";

const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
const described: ResultEvent = { kind: "columns", columns };
const batch = batchOf(columns, [[1n], [2n]]);
const done: DoneEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 2, bytes: 8 },
};
const whole: DoneEvent = { ...done, whole: { columns: described, batch } };
const abandoned = gatewayError("query.abandoned");

describe("a parked query whose engine is asked at once", () => {
  it("is told that it runs, then all of it, and holds no slot by then", async () => {
    const engine = new Engine(whole);
    const { query, plane, absorbed, next, seen } = parkedOn(engine);
    const rows = next();
    expect(absorbed).toEqual(["progress"]);
    engine.says();
    expect([plane.slots.size, query.isOver]).toEqual([0, true]);
    expect(await rows).toMatchObject({ kind: "batch" });
    expect(absorbed).toEqual(["progress", "columns"]);
    expect([plane.live.list().length, plane.records]).toEqual([1, []]);
    expect(await next()).toMatchObject({ kind: "done", stats: { rows: 2 } });
    expect(plane.live.list()).toEqual([]);
    expect(plane.records).toMatchObject([{ status: "finished", rowsReturned: 2 }]);
    expect(seen()).toBe(0);
    expect(await next()).toBeUndefined();
    expect(seen()).toBe(1);
    expect(plane.host.timerCount).toBe(0);
  });

  it("goes on event by event where the answer is not here whole", async () => {
    const engine = new Engine(undefined, [described, { kind: "batch", batch }, whole]);
    const { plane, next } = parkedOn(engine);
    const rows = next();
    engine.says();
    expect(await rows).toMatchObject({ kind: "batch" });
    // Its end came with rows, which are told before it.
    expect(await next()).toMatchObject({ kind: "batch" });
    expect(await next()).toMatchObject({ kind: "done" });
    expect([plane.slots.size, plane.records.length]).toEqual([0, 1]);
    expect(engine.seen).toEqual(["asked", "whole", "course", "ended"]);
  });

  it("is cancelled in its engine, which is waited for", async () => {
    const engine = new Engine(whole);
    const { query, plane, next } = parkedOn(engine);
    const last = next();
    query.cancel();
    expect(engine.seen).toEqual(["asked", "course", "cancelled"]);
    expect(plane.slots.size).toBe(1);
    engine.over();
    expect(await last).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    expect([plane.slots.size, plane.records.length]).toEqual([0, 1]);
  });

  it.each<readonly [string, (parked: ReturnType<typeof parkedOn>) => void]>([
    ["its client", ({ query }) => query.cancel(abandoned)],
    ["an operator", ({ plane }) => live(plane).cancel(abandoned)],
    ["an operator, before its slot is back", ({ plane }) => live(plane).cancel(abandoned)],
  ])(
    "gives no rows that nobody took before %s cancelled it, and records that",
    async (who, end) => {
      const engine = new Engine(whole);
      const behind = new Behind(() => {});
      const parked = parkedOn(engine, { behind });
      const { plane, next } = parked;
      const early = next();
      await plane.host.advance(50);
      expect(await early).toBeUndefined();
      engine.says();
      const isEarly = who.endsWith("back");
      if (!isEarly) behind.run();
      expect([plane.slots.size, plane.live.list().length, plane.records]).toEqual([
        isEarly ? 1 : 0,
        1,
        [],
      ]);
      end(parked);
      behind.run();
      expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
      expect(plane.records).toMatchObject([{ status: "cancelled", errorCode: "query.abandoned" }]);
      expect(await next()).toMatchObject({ kind: "failed", error: { code: "query.abandoned" } });
      expect(await next()).toBeUndefined();
      expect(plane.records).toHaveLength(1);
    },
  );

  it("is over with the end that was taken before its slot was back", async () => {
    const engine = new Engine(whole);
    const behind = new Behind(() => {});
    const { query, plane, next } = parkedOn(engine, { behind });
    const rows = next();
    engine.says();
    await rows;
    expect(await next()).toMatchObject({ kind: "done" });
    expect([plane.slots.size, plane.records]).toEqual([1, []]);
    query.cancel();
    behind.run();
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "finished" }]);
  });

  it("has its record at once where there are no rows to take", async () => {
    const engine = new Engine(done);
    const { query, plane, next } = parkedOn(engine);
    const early = next();
    await plane.host.advance(50);
    await early;
    engine.says();
    expect(plane.records).toMatchObject([{ status: "finished" }]);
    query.cancel();
    expect(await next()).toMatchObject({ kind: "done" });
  });

  it("does not reach its client as a bug of the history", async () => {
    const engine = new Engine(whole);
    const { plane, next } = parkedOn(engine);
    plane.records.push = () => {
      throw new Error("a bug in the history");
    };
    const rows = next();
    engine.says();
    await rows;
    expect(await next()).toMatchObject({ kind: "done" });
    expect(plane.host.log.bugs).toHaveLength(1);
  });

  it("waits for who comes later, with all of it", async () => {
    const engine = new Engine(whole);
    const { query, plane, next } = parkedOn(engine);
    const early = next();
    await plane.host.advance(50);
    await early;
    engine.says();
    const events: unknown[] = [];
    for (let left = 3; left > 0; left -= 1) events.push(await query.next(50, neverAborted));
    expect(events).toMatchObject([{ kind: "columns" }, { kind: "batch" }, { kind: "done" }]);
  });

  it("is read as a stream where every event is asked for, or something has to be waited for", async () => {
    const asked = new Engine(whole);
    const one = parkedOn(asked);
    expect(await one.query.next(50, neverAborted)).toMatchObject({ kind: "progress" });
    const two = parkedOn(asked, { slotsAtOnce: false });
    expect(await two.next()).toMatchObject({ kind: "done" });
    expect(two.absorbed).toEqual(["progress"]);
    expect(asked.seen).toEqual([]);
  });

  it("is a bug of ours where the engine's adapter throws, and gives everything back", async () => {
    const engine = new Engine(new Error("a bug"));
    const { plane, next } = parkedOn(engine);
    const last = next();
    engine.says();
    expect(await last).toMatchObject({ kind: "failed", error: { code: "internal.bug" } });
    expect([plane.slots.size, plane.live.list(), plane.records.length]).toEqual([0, [], 1]);
  });
});

function live(plane: TestPlane) {
  const found = plane.live.get(queryOf("q").id);
  if (found === undefined) throw new Error("it lives no more");
  return found;
}

function parkedOn(engine: Engine, options: Partial<PlaneOptions> = {}) {
  const plane = planeAsking(engine, options);
  const absorbed: string[] = [];
  let seen = 0;
  const parking = { host: plane.host, endSeen: () => void (seen += 1), forget: () => {} };
  const query = new ParkedQuery(
    queryOf("q"),
    (parked, signal) => runQuery(parked, plane, signal),
    parking,
    (parked, signal, reader) => startQuery(parked, plane, signal, reader),
  );
  const next = () =>
    query.next(50, neverAborted, ({ kind }) => {
      const takes = kind === "progress" || kind === "columns";
      if (takes) absorbed.push(kind);
      return takes;
    });
  return { query, plane, absorbed, next, seen: () => seen };
}
