import { describe, expect, it } from "vitest";
import { gatewayError, type GatewayError } from "../error.ts";
import type { AdmitRequest, Candidate, Capacity, Slot } from "../port/capacity.ts";
import { virtualHost, type VirtualHost } from "../port/virtual.ts";
import type { Policed, QueryId } from "../query/query.ts";
import type { Result } from "../result.ts";
import { localCapacity } from "./local.ts";

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
    const [waiting, granted] = [capacity.admit(requestOf({}), signal), capacity.admit(requestOf({}), signal)];
    await waiting.next();
    await granted.next();
    await waiting.return(undefined as never);
    expect(queuedIn(capacity)).toBe(1);
    await slot[Symbol.asyncDispose]();
    expect(runningIn(capacity)).toBe(1);
    await granted.return(undefined as never);
    expect([queuedIn(capacity), runningIn(capacity), host.timerCount]).toEqual([0, 0, 0]);
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
    const [a, b] = [requestOf({ candidates: () => [candidateOf("a")] }), requestOf({ candidates: () => [candidateOf("b")] })];
    await slotOf(admit(a));
    const slotB = await slotOf(admit(b));
    const [waitsForA, waitsForB] = [admit(a), admit(b)];
    await host.settle();
    await slotB[Symbol.asyncDispose]();
    expect((await slotOf(waitsForB)).cluster).toBe("b");
    expect(waitsForA.result).toBeUndefined();
  });

  it("serves users in turn, and a waiter past half its time before them", async () => {
    const { admit, host } = capacityOf();
    let slot = await slotOf(admit(requestOf({})));
    const old = admit(requestOf({ user: "busy", waitTimeoutMs: 10_000 }));
    await host.advance(4_000);
    const second = admit(requestOf({ user: "busy" }));
    const other = admit(requestOf({ user: "other" }));
    const first = await handOver(slot, [old, second, other]);
    expect(first).toBe(old);
    slot = await slotOf(old);
    expect(await handOver(slot, [second, other])).toBe(other);

    const third = admit(requestOf({ user: "new", waitTimeoutMs: 10_000 }));
    await host.advance(295_000 / 2);
    slot = await slotOf(other);
    expect((await errorOf(third)).code).toBe("capacity.timeout");
    expect(await handOver(slot, [second])).toBe(second);
  });

  it("rejects when its own candidates have a bug, and keeps nothing", async () => {
    const { capacity, host } = capacityOf();
    const broken = () => {
      throw new Error("a bug in a strategy");
    };
    const admission = capacity.admit(requestOf({ candidates: broken }), new AbortController().signal);
    await expect(admission.next()).rejects.toThrow("a bug in a strategy");
    expect([queuedIn(capacity), runningIn(capacity), host.timerCount]).toEqual([0, 0, 0]);
  });
});

describe("localCapacity.wake", () => {
  it("asks the waiters again, so that a recovered cluster is used at once", async () => {
    const { admit, host, capacity } = capacityOf();
    let healthy = false;
    const waiting = admit(requestOf({ candidates: () => (healthy ? [candidateOf("c")] : []) }));
    await host.settle();
    healthy = true;
    capacity.wake();
    expect((await slotOf(waiting)).cluster).toBe("c");
  });

  it("never grants a cluster that became unusable while the waiter stood in line", async () => {
    const { admit, host, capacity } = capacityOf();
    let usable = ["c", "d"];
    const candidates = () => usable.map((cluster) => candidateOf(cluster));
    const slotC = await slotOf(admit(requestOf({ candidates })));
    await slotOf(admit(requestOf({ candidates })));
    const waiting = admit(requestOf({ candidates }));
    await host.settle();
    usable = ["d"];
    await slotC[Symbol.asyncDispose]();
    await host.settle();
    expect(waiting.result).toBeUndefined();
    usable = ["c", "d"];
    capacity.wake();
    expect((await slotOf(waiting)).cluster).toBe("c");
  });

  it("goes on past a waiter whose candidates have a bug and reports it", async () => {
    const { admit, host, capacity } = capacityOf();
    let broken = false;
    const candidates = () => {
      if (broken) throw new Error("a bug in a strategy");
      return [candidateOf("c")];
    };
    const slot = await slotOf(admit(requestOf({})));
    const first = admit(requestOf({ candidates }));
    const second = admit(requestOf({}));
    await host.settle();
    broken = true;
    await slot[Symbol.asyncDispose]();
    expect((await slotOf(second)).cluster).toBe("c");
    expect(first.result).toBeUndefined();
    expect(host.log.bugs).toHaveLength(1);
    broken = false;
    capacity.wake();
    expect(queuedIn(capacity)).toBe(1);
  });
});

describe("caps that change while queries wait", () => {
  it("lets waiters of an older configuration profit from a raised cap before newcomers", async () => {
    const { admit, host } = capacityOf();
    const capped = (groupCap: number) => requestOf({ candidates: () => [candidateOf("c", { groupCap })] });
    await slotOf(admit(capped(1)));
    const old = admit(capped(1));
    await host.settle();
    const newcomer = admit(capped(2));
    await host.settle();
    expect((await slotOf(old)).cluster).toBe("c");
    expect(newcomer.result).toBeUndefined();
  });

  it("does not let them overrun a lowered one", async () => {
    const { admit, host, capacity } = capacityOf();
    const capped = (groupCap: number) => requestOf({ candidates: () => [candidateOf("c", { groupCap })] });
    const slots = [await slotOf(admit(capped(2))), await slotOf(admit(capped(2)))];
    const old = admit(capped(2));
    const newer = admit(capped(1));
    await host.settle();
    await slots[0]?.[Symbol.asyncDispose]();
    await host.settle();
    expect([old.result, newer.result]).toEqual([undefined, undefined]);
    await slots[1]?.[Symbol.asyncDispose]();
    await slotOf(old);
    expect(runningIn(capacity)).toBe(1);
  });
});

describe("localCapacity.counts", () => {
  it("counts running by group and cluster and waiting by group, and keeps idle ones at zero", async () => {
    const { admit, host, capacity } = capacityOf();
    const slot = await slotOf(admit(requestOf({ group: "a" })));
    admit(requestOf({ group: "a" }));
    admit(requestOf({ group: "empty", candidates: () => [] }));
    await host.settle();
    expect(capacity.counts()).toEqual([
      { group: "a", cluster: undefined, running: 1, queued: 1 },
      { group: "a", cluster: "c", running: 1, queued: 0 },
      { group: "empty", cluster: undefined, running: 0, queued: 1 },
    ]);
    const only = admit(requestOf({ group: "b", waitTimeoutMs: 1 }));
    await (await slotOf(only))[Symbol.asyncDispose]();
    await slot[Symbol.asyncDispose]();
    expect(capacity.counts().find(({ group }) => group === "b")?.running).toBe(0);
  });
});

describe("ten thousand waiters", () => {
  it("are all served, and a release looks at a handful of them", async () => {
    const { capacity, host } = capacityOf();
    let asked = 0;
    const candidates = () => {
      asked += 1;
      return [candidateOf("c")];
    };
    const count = 10_000;
    let served = 0;
    const all = Array.from({ length: count }, async (_, index) => {
      const request = requestOf({ candidates, user: `u${index % 100}`, waitTimeoutMs: 1e9 });
      const answer = await read(capacity.admit(request, new AbortController().signal), []);
      if (!answer.ok) return;
      served += 1;
      await answer.value[Symbol.asyncDispose]();
    });
    await Promise.all(all);
    expect(served).toBe(count);
    expect(asked).toBeLessThan(4 * count);
    expect(host.timerCount).toBe(0);
  });
});

interface Admission {
  readonly positions: readonly number[];
  readonly result: Result<Slot, GatewayError> | undefined;
  done(): Promise<Result<Slot, GatewayError>>;
}

/** `admit` reads an admission to its end in the background. */
function capacityOf() {
  const host: VirtualHost = virtualHost(1);
  const capacity = localCapacity(host);
  const admit = (request: AdmitRequest, signal = new AbortController().signal): Admission => {
    const positions: number[] = [];
    let result: Admission["result"];
    const reading = read(capacity.admit(request, signal), positions).then((answer) => {
      result = answer;
      return answer;
    });
    return {
      positions,
      get result() {
        return result;
      },
      done: () => reading,
    };
  };
  return { host, capacity, admit };
}

async function read(
  admission: ReturnType<Capacity["admit"]>,
  positions: number[],
): Promise<Result<Slot, GatewayError>> {
  for (;;) {
    const step = await admission.next();
    if (step.done === true) return step.value;
    positions.push(step.value.position);
  }
}

async function slotOf(admission: Admission): Promise<Slot> {
  const result = await admission.done();
  if (!result.ok) throw new Error(`refused: ${result.error.code}`);
  return result.value;
}

async function errorOf(admission: Admission): Promise<GatewayError> {
  const result = await admission.done();
  return result.ok ? expect.unreachable() : result.error;
}

/** Gives a slot back and answers who got it. */
async function handOver(slot: Slot, waiting: readonly Admission[]): Promise<Admission | undefined> {
  await slot[Symbol.asyncDispose]();
  await Promise.race(waiting.map((admission) => admission.done()));
  return waiting.find(({ result }) => result !== undefined);
}

function queuedIn(capacity: Capacity): number {
  return capacity.counts().reduce((sum, { queued }) => sum + queued, 0);
}

function runningIn(capacity: Capacity): number {
  const groups = capacity.counts().filter(({ cluster }) => cluster === undefined);
  return groups.reduce((sum, { running }) => sum + running, 0);
}

function candidateOf(cluster: string, caps: Partial<Candidate> = {}): Candidate {
  return { cluster, clusterCap: undefined, groupCap: 1, ...caps };
}

function requestOf({ user = "u", ...request }: Partial<AdmitRequest> & { user?: string }): AdmitRequest {
  return {
    query: queryOf(user),
    group: "g",
    weight: 1,
    maxQueued: undefined,
    waitTimeoutMs: 300_000,
    candidates: () => [candidateOf("c")],
    ...request,
  };
}

function queryOf(user: string): Policed {
  return {
    id: "q" as QueryId,
    sql: "",
    allowedSql: "",
    parameters: [],
    receivedAtMs: 0,
    group: "g",
    trace: [],
    session: {
      frontend: "trinoHttp",
      identity: { user, groups: [], roles: [], method: "none" },
      credential: { kind: "none" },
      clientAddress: "127.0.0.1",
      dialect: "trino",
      catalog: undefined,
      schema: undefined,
      settings: new Map(),
      tags: new Map(),
      headers: new Map(),
      pin: undefined,
    },
  };
}
