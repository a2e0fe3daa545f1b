import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import type { DoneEvent, ResultEvent } from "../query/event.ts";
import { neverAborted } from "../tool/canceller.ts";
import { batchOf, columnOf } from "../type/build.ts";
import { startQuery } from "./answer.ts";
import { Engine, planeAsking } from "./rig/engine.ts";
import { queryOf, type PlaneOptions } from "./rig/plane.ts";
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

describe("a parked query whose engine is asked at once", () => {
  it("is told that it runs, then all of it, and holds nothing by then", async () => {
    const engine = new Engine(whole);
    const { query, plane, absorbed, next, seen } = parkedOn(engine);
    const rows = next();
    expect(absorbed).toEqual(["progress"]);
    engine.says();
    expect([plane.slots.size, plane.live.list(), query.isOver]).toEqual([0, [], true]);
    expect(plane.records).toMatchObject([{ status: "finished", rowsReturned: 2 }]);
    expect(await rows).toMatchObject({ kind: "batch" });
    expect(absorbed).toEqual(["progress", "columns"]);
    expect(await next()).toMatchObject({ kind: "done", stats: { rows: 2 } });
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

  it("gives no rows that nobody took before it was cancelled", async () => {
    const engine = new Engine(whole);
    const { query, plane, next } = parkedOn(engine);
    const early = next();
    await plane.host.advance(50);
    expect(await early).toBeUndefined();
    engine.says();
    query.cancel(gatewayError("query.abandoned"));
    expect(await next()).toMatchObject({ kind: "failed", error: { code: "query.abandoned" } });
    expect(await next()).toBeUndefined();
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
