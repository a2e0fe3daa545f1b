import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import type { AdmitRequest, Candidate } from "../port/capacity.ts";
import {
  candidateOf,
  capacityOf,
  errorOf,
  handOver,
  queuedIn,
  requestOf,
  runningIn,
  slotOf,
} from "./rig/admission.ts";

describe("localCapacity.admit", () => {
  it("grants at once while there is room, and tells of no queue", async () => {
    const { admit } = capacityOf();
    const admitted = admit(requestOf({}));
    expect(await admitted.done()).toMatchObject({ ok: true, value: { cluster: "c" } });
    expect(admitted.positions).toEqual([]);
  });

  it("never runs more than the cap of a cluster within a group, and hands a freed slot on", async () => {
    const { admit, host } = capacityOf();
    const first = await slotOf(admit(requestOf({})));
    const second = admit(requestOf({}));
    await host.settle();
    expect(second.positions).toEqual([1]);
    expect(second.result).toBeUndefined();
    await first[Symbol.asyncDispose]();
    expect((await slotOf(second)).cluster).toBe("c");
  });

  it("holds the cap of a cluster over all groups", async () => {
    const { admit, host } = capacityOf();
    const shared = [candidateOf("c", { clusterCap: 2, groupCap: 2 })];
    await slotOf(admit(requestOf({ group: "a", candidates: () => shared })));
    const held = await slotOf(admit(requestOf({ group: "b", candidates: () => shared })));
    const third = admit(requestOf({ group: "c", candidates: () => shared }));
    await host.settle();
    expect(third.result).toBeUndefined();
    await held[Symbol.asyncDispose]();
    expect((await slotOf(third)).cluster).toBe("c");
  });

  it("takes the first candidate with room", async () => {
    const { admit } = capacityOf();
    const candidates = () => [candidateOf("best"), candidateOf("next")];
    expect((await slotOf(admit(requestOf({ candidates })))).cluster).toBe("best");
    expect((await slotOf(admit(requestOf({ candidates })))).cluster).toBe("next");
  });

  it("tells candidates how many queries run on a cluster over all groups", async () => {
    const { admit } = capacityOf();
    await slotOf(admit(requestOf({ group: "a" })));
    await slotOf(admit(requestOf({ group: "b" })));
    const seen: number[] = [];
    const candidates: AdmitRequest["candidates"] = (load) => {
      seen.push(load("c"), load("unknown"));
      return [candidateOf("c")];
    };
    await slotOf(admit(requestOf({ group: "d", candidates })));
    expect(seen).toEqual([2, 0]);
  });

  it("gives every grant a fence above all before", async () => {
    const { admit } = capacityOf();
    const fences: number[] = [];
    for (let grant = 0; grant < 3; grant += 1) {
      await using slot = await slotOf(admit(requestOf({})));
      fences.push(slot.fence);
    }
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b));
  });

  it("refuses when the queue of the group is full", async () => {
    const { admit, host } = capacityOf();
    await slotOf(admit(requestOf({ maxQueued: 1 })));
    const waiting = admit(requestOf({ maxQueued: 1 }));
    await host.settle();
    expect(await errorOf(admit(requestOf({ maxQueued: 1 })))).toMatchObject({
      code: "capacity.queueFull",
      retryAfterMs: 1_000,
    });
    expect(waiting.result).toBeUndefined();
    expect((await slotOf(admit(requestOf({ group: "other", maxQueued: 0 })))).cluster).toBe("c");
  });

  it("refuses after the wait timeout and leaves the queue", async () => {
    const { admit, host, capacity } = capacityOf();
    const slot = await slotOf(admit(requestOf({})));
    const waiting = admit(requestOf({ waitTimeoutMs: 5_000 }));
    await host.advance(4_999);
    expect(waiting.result).toBeUndefined();
    await host.advance(1);
    expect((await errorOf(waiting)).code).toBe("capacity.timeout");
    expect(queuedIn(capacity)).toBe(0);
    await slot[Symbol.asyncDispose]();
    expect(runningIn(capacity)).toBe(0);
  });

  it("says that no cluster was available when none could have been used", async () => {
    const { admit, host } = capacityOf();
    const waiting = admit(requestOf({ candidates: () => [], waitTimeoutMs: 1_000 }));
    await host.advance(1_000);
    expect((await errorOf(waiting)).code).toBe("cluster.unavailable");
  });

  it("waits ten seconds for clusters that are away, however long it would wait for full ones", async () => {
    const { admit, host } = capacityOf();
    const waiting = admit(requestOf({ candidates: () => [], waitTimeoutMs: 300_000 }));
    await host.advance(9_999);
    await host.advance(1);
    expect((await errorOf(waiting)).code).toBe("cluster.unavailable");
  });

  it("takes a cluster that came back meanwhile, and then waits for room as long as it may", async () => {
    const { admit, host } = capacityOf();
    const held = await slotOf(admit(requestOf({})));
    let there: readonly Candidate[] = [];
    const waiting = admit(requestOf({ candidates: () => there, waitTimeoutMs: 300_000 }));
    await host.advance(5_000);
    there = [candidateOf("c")];
    await host.advance(100_000);
    await held[Symbol.asyncDispose]();
    expect((await slotOf(waiting)).cluster).toBe("c");
  });

  it("answers the signal's reason when it is aborted before, while waiting, and after the grant", async () => {
    const { admit, host, capacity } = capacityOf();
    const reason = gatewayError("query.abandoned");
    expect(await errorOf(admit(requestOf({}), AbortSignal.abort(reason)))).toEqual(reason);

    const slot = await slotOf(admit(requestOf({})));
    const controller = new AbortController();
    const waiting = admit(requestOf({}), controller.signal);
    await host.settle();
    controller.abort();
    expect((await errorOf(waiting)).code).toBe("query.cancelled");

    const late = new AbortController();
    const parked = capacity.admit(requestOf({}), late.signal);
    expect(await parked.next()).toEqual({ done: false, value: { kind: "queued", position: 1 } });
    await slot[Symbol.asyncDispose]();
    expect(runningIn(capacity)).toBe(1);
    late.abort(reason);
    expect(runningIn(capacity)).toBe(0);
    expect(await parked.next()).toEqual({ done: true, value: { ok: false, error: reason } });
  });

  it("leaves nothing when its caller stops reading, not even a slot that was granted meanwhile", async () => {
    const { admit, host, capacity } = capacityOf();
    const slot = await slotOf(admit(requestOf({})));
    const signal = new AbortController().signal;
    const [waiting, granted] = [
      capacity.admit(requestOf({}), signal),
      capacity.admit(requestOf({}), signal),
    ];
    await waiting.next();
    await granted.next();
    await waiting.return(undefined as never);
    expect(queuedIn(capacity)).toBe(1);
    await slot[Symbol.asyncDispose]();
    expect(runningIn(capacity)).toBe(1);
    await granted.return(undefined as never);
    expect([queuedIn(capacity), runningIn(capacity), host.timerCount]).toEqual([0, 0, 0]);
  });

  it("leaves no listener on a signal that outlives the query", async () => {
    const { admit } = capacityOf();
    const { signal } = new AbortController();
    const slot = await slotOf(admit(requestOf({}), signal));
    const waiting = admit(requestOf({}), signal);
    await slot[Symbol.asyncDispose]();
    await slotOf(waiting);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("gives a slot back once, however often it is disposed", async () => {
    const { admit, capacity } = capacityOf();
    const candidates = () => [candidateOf("c", { groupCap: 2 })];
    const first = await slotOf(admit(requestOf({ candidates })));
    await slotOf(admit(requestOf({ candidates })));
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect(runningIn(capacity)).toBe(1);
  });

  it("shows a waiter its new position when those before it left, and several changes as one", async () => {
    const { admit, host } = capacityOf();
    const slot = await slotOf(admit(requestOf({})));
    const controller = new AbortController();
    const [first, second, third] = [
      admit(requestOf({}), controller.signal),
      admit(requestOf({}), controller.signal),
      admit(requestOf({})),
    ];
    await host.settle();
    expect([first.positions, second.positions, third.positions]).toEqual([[1], [2], [3]]);
    controller.abort();
    await host.advance(1_000);
    expect(third.positions).toEqual([3, 1]);
    await slot[Symbol.asyncDispose]();
    await slotOf(third);
  });

  it("lets a waiter that fits pass one that does not", async () => {
    const { admit, host } = capacityOf();
    const [a, b] = [
      requestOf({ candidates: () => [candidateOf("a")] }),
      requestOf({ candidates: () => [candidateOf("b")] }),
    ];
    await slotOf(admit(a));
    const slotB = await slotOf(admit(b));
    const [waitsForA, waitsForB] = [admit(a), admit(b)];
    await host.settle();
    await slotB[Symbol.asyncDispose]();
    expect((await slotOf(waitsForB)).cluster).toBe("b");
    expect(waitsForA.result).toBeUndefined();
  });

  it("serves the users of a group in turn", async () => {
    const { admit, host } = capacityOf();
    const slot = await slotOf(admit(requestOf({})));
    const [first, second] = [
      admit(requestOf({ user: "busy" })),
      admit(requestOf({ user: "busy" })),
    ];
    const other = admit(requestOf({ user: "other" }));
    await host.settle();
    expect(await handOver(slot, [first, second, other])).toBe(first);
    expect(await handOver(await slotOf(first), [second, other])).toBe(other);
  });

  it("serves a waiter past half its wait timeout before everybody else", async () => {
    const { admit, host } = capacityOf();
    const slot = await slotOf(admit(requestOf({})));
    const patient = admit(requestOf({ waitTimeoutMs: 300_000 }));
    await host.settle();
    const hurried = admit(requestOf({ waitTimeoutMs: 10_000 }));
    await host.advance(5_000);
    expect(await handOver(slot, [patient, hurried])).toBe(hurried);
  });

  it("rejects when its own candidates have a bug, and keeps nothing", async () => {
    const { capacity, host } = capacityOf();
    const broken = () => {
      throw new Error("a bug in a strategy");
    };
    const admission = capacity.admit(
      requestOf({ candidates: broken }),
      new AbortController().signal,
    );
    await expect(admission.next()).rejects.toThrow("a bug in a strategy");
    expect([queuedIn(capacity), runningIn(capacity), host.timerCount]).toEqual([0, 0, 0]);
  });
});
