import { offerOfHead } from "@gateway/core/snapshot/lifecycle.ts";
import type { SourceEvent } from "@gateway/core/port/configSource.ts";
import { describe, expect, it } from "vitest";
import { eventQueue } from "./events.ts";
import { snapshotOf } from "../rig/snapshot.ts";

describe("eventQueue", () => {
  it("hands on everything in order, also what came before anybody listened", async () => {
    const queue = eventQueue<number>();
    for (const sequence of [1, 2, 3]) queue.push(offerOf(sequence));
    const stop = new AbortController();
    const read: (number | undefined)[] = [];
    for await (const event of queue.events(stop.signal)) {
      read.push(event.kind === "offer" ? event.body : undefined);
      if (read.length === 3) queue.push(offerOf(4));
      if (read.length === 4) stop.abort();
    }
    expect(read).toEqual([1, 2, 3, 4]);
  });

  it("is bounded, and loses failures and heads before snapshots", async () => {
    const queue = eventQueue<number>();
    queue.push(offerOf(1));
    for (let count = 0; count < 10_000; count += 1) {
      queue.push({ kind: "unreachable", source: "controlPlane", reason: "down" });
    }
    queue.push(offerOf(2));
    const stop = new AbortController();
    const read: SourceEvent<number>[] = [];
    for await (const event of queue.events(stop.signal)) {
      read.push(event);
      if (event.kind === "offer" && event.body === 2) stop.abort();
    }
    expect(read.length).toBeLessThan(50);
    expect(read[0]).toMatchObject({ kind: "offer", body: 1 });
  });
});

function offerOf(sequence: number): SourceEvent<number> {
  const { head } = snapshotOf({ sequence });
  return { kind: "offer", offer: offerOfHead("controlPlane", head), head, body: sequence };
}
