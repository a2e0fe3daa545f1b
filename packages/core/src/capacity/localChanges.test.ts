/** What local.test.ts does not show: changes from outside while queries wait, counts, and many waiters. */
import { describe, expect, it } from "vitest";
import {
  candidateOf,
  capacityOf,
  queuedIn,
  read,
  requestOf,
  runningIn,
  slotOf,
} from "./rig/admission.ts";

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

  it("looks at the clusters a waiter has now, not at as many others", async () => {
    const { admit, host, capacity } = capacityOf();
    let only = "c";
    await slotOf(admit(requestOf({})));
    const waiting = admit(requestOf({ candidates: () => [candidateOf(only)] }));
    await host.settle();
    only = "d";
    capacity.wake();
    expect((await slotOf(waiting)).cluster).toBe("d");
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
    const capped = (groupCap: number) =>
      requestOf({ candidates: () => [candidateOf("c", { groupCap })] });
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
    const capped = (groupCap: number) =>
      requestOf({ candidates: () => [candidateOf("c", { groupCap })] });
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
  }, 60_000);
});
