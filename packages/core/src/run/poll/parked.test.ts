import { describe, expect, it } from "vitest";
import { virtualHost, type VirtualHost } from "../../rig/virtual.ts";
import { neverAborted } from "../../tool/canceller.ts";
import type { ResultEvent, ResultStream } from "../../query/event.ts";
import { ParkedQuery } from "./parked.ts";
import { queryOf } from "../rig/plane.ts";

describe("ParkedQuery.next", () => {
  it("passes what its caller absorbs, within one wait, and answers the rest", async () => {
    const { host, query } = parkedOf(async function* told(paused) {
      for (const position of [3, 2, 1]) {
        await paused(4);
        yield { kind: "queued", position };
      }
      yield done;
    });
    const seen: ResultEvent[] = [];
    const second = query.next(20, neverAborted, (event) => seen.push(event) !== 2);
    await host.advance(8);
    expect(await second).toEqual({ kind: "queued", position: 2 });
    expect(seen).toHaveLength(2);
    const late = query.next(2, neverAborted, () => true);
    await host.advance(2);
    expect(await late).toBeUndefined();
    await host.advance(2);
    expect(await query.next(20, neverAborted, ({ kind }) => kind !== "done")).toEqual(done);
  });

  it("keeps one timer over many waits, and ends each of them in its own time", async () => {
    const { host, query } = parkedOf(async function* slow(paused) {
      yield { kind: "queued", position: 1 };
      await paused(1000);
      yield done;
    });
    expect(await query.next(50, neverAborted)).toMatchObject({ kind: "queued" });
    expect(host.timerCount).toBe(1);
    for (const waitMs of [80, 10, 30, 5]) {
      let answered = false;
      const wait = query.next(waitMs, neverAborted).finally(() => {
        answered = true;
      });
      // Its own, and the pause of the stream.
      expect(host.timerCount).toBeLessThanOrEqual(2);
      await host.advance(waitMs - 1);
      expect(answered).toBe(false);
      await host.advance(1);
      expect(await wait).toBeUndefined();
    }
  });

  it("leaves no timer behind the end", async () => {
    const { host, query } = parkedOf(async function* short(paused) {
      await paused(20);
      yield done;
    });
    const wait = query.next(50, neverAborted);
    await host.advance(20);
    expect(await wait).toEqual(done);
    expect(host.timerCount).toBe(0);
  });
});

const done: ResultEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
};

type Paused = (ms: number) => Promise<void>;

function parkedOf(run: (paused: Paused) => ResultStream) {
  const host = virtualHost(1);
  const parking = { host, endSeen: () => {}, forget: () => {} };
  return { host, query: new ParkedQuery(queryOf("SELECT 1"), () => run(pausedOn(host)), parking) };
}

function pausedOn(host: VirtualHost): Paused {
  return (ms) =>
    new Promise((resolve) => {
      host.clock.timer(ms, resolve);
    });
}
