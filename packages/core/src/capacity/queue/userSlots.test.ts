import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AdmitRequest } from "../../port/capacity.ts";
import type { Slot } from "../../query/slot.ts";
import {
  type Admission,
  candidateOf,
  capacityOf,
  errorOf,
  queuedIn,
  requestOf,
  runningIn,
  slotOf,
} from "../rig/admission.ts";

describe("a cap of slots per user", () => {
  it("lets a user run so many, and others what is left", async () => {
    const { admit, host } = capacityOf();
    const slots = [await slotOf(admit(capped("ann"))), await slotOf(admit(capped("ann")))];
    const third = admit(capped("ann"));
    await host.settle();
    expect(third.result).toBeUndefined();
    await slotOf(admit(capped("bob")));
    await slotOf(admit(capped("bob")));
    await slots[0]?.[Symbol.asyncDispose]();
    expect((await slotOf(third)).cluster).toBe("c");
  });

  it("runs as many as the group has slots for where there is none", async () => {
    const { admit, capacity } = capacityOf();
    for (let slot = 0; slot < 4; slot += 1) {
      await slotOf(admit(capped("ann", { maxRunningPerUser: undefined })));
    }
    expect(runningIn(capacity)).toBe(4);
  });

  it("keeps nobody waiting behind who may not run more, whatever has been waiting for how long", async () => {
    const { admit, host } = capacityOf();
    const anns = Array.from({ length: 20 }, () => admit(capped("ann")));
    await host.advance(299_000);
    const bobs = [admit(capped("bob")), admit(capped("bob"))];
    await host.settle();
    expect(anns.filter(({ result }) => result?.ok === true)).toHaveLength(2);
    for (const bob of bobs) expect(bob.result?.ok).toBe(true);
  });

  it("gives the slot that a user gives back to another who waits, before the user's own next query", async () => {
    const { admit, host } = capacityOf();
    const one = { candidates: () => [candidateOf("c", { groupCap: 2 })] };
    const first = await slotOf(admit(capped("ann", { ...one, maxRunningPerUser: 1 })));
    await slotOf(admit(capped("bob", { ...one, maxRunningPerUser: 1 })));
    const anns = [1, 2].map(() => admit(capped("ann", { ...one, maxRunningPerUser: 1 })));
    const carls = admit(capped("carl", { ...one, maxRunningPerUser: 1 }));
    await host.settle();
    await first[Symbol.asyncDispose]();
    await host.settle();
    expect(carls.result?.ok).toBe(true);
    expect(anns.map(({ result }) => result)).toEqual([undefined, undefined]);
    const carl = await slotOf(carls);
    await carl[Symbol.asyncDispose]();
    await host.settle();
    expect(anns[0]?.result?.ok).toBe(true);
  });

  it("shows those last who may not run yet, and says at the end of the wait why", async () => {
    const { admit, host } = capacityOf();
    for (let slot = 0; slot < 2; slot += 1) await slotOf(admit(capped("ann")));
    const waiting = admit(capped("ann", { waitTimeoutMs: 10_000 }));
    await slotOf(admit(capped("bob")));
    await slotOf(admit(capped("bob")));
    admit(capped("carl"));
    await host.advance(1_000);
    expect(waiting.positions.at(-1)).toBe(2);
    await host.advance(9_000);
    expect(await errorOf(waiting)).toMatchObject({
      code: "capacity.timeout",
      message: expect.stringContaining("of this user"),
    });
  });

  it("follows the configuration up and down, and holds in each group for itself", async () => {
    const { admit, host } = capacityOf();
    for (let slot = 0; slot < 2; slot += 1) await slotOf(admit(capped("ann")));
    const waiting = [admit(capped("ann")), admit(capped("ann"))];
    await host.settle();
    expect(waiting.map(({ result }) => result)).toEqual([undefined, undefined]);
    await slotOf(admit(capped("ann", { group: "other" })));
    await slotOf(admit(capped("bob", { maxRunningPerUser: 3 })));
    await host.settle();
    expect(waiting.map(({ result }) => result?.ok)).toEqual([true, undefined]);
    expect(queued(admit(capped("bob", { maxRunningPerUser: 1 })))).toBe(true);
  });

  it("is never passed, wastes no slot and leaves nobody behind, whatever comes and goes", async () => {
    const action = fc.record({
      kind: fc.constantFrom("admit", "admit", "release", "leave"),
      user: fc.constantFrom("ann", "bob", "carl"),
      cluster: fc.constantFrom("c", "d"),
      at: fc.nat(50),
    });
    const held = fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const bench = benchOf();
      for (const one of actions) {
        await bench.act(one);
        bench.check();
      }
      await bench.finish();
    });
    await fc.assert(held, { numRuns: 60 });
  });
});

/** Two of four slots are for one user. */
function capped(user: string, more: Partial<AdmitRequest> = {}): AdmitRequest {
  const candidates = () => [candidateOf("c", { groupCap: 4 })];
  return requestOf({ user, candidates, maxRunningPerUser: 2, ...more });
}

function queued({ result }: Admission): boolean {
  return result === undefined;
}

const capOfUser = 2;
const capOfCluster = 3;

interface Asked {
  readonly user: string;
  readonly cluster: string;
  readonly admission: Admission;
  readonly leave: AbortController;
}

function benchOf() {
  const { admit, host, capacity } = capacityOf();
  let waiting: readonly Asked[] = [];
  let running: readonly (Asked & { readonly slot: Slot })[] = [];
  const settle = async (): Promise<void> => {
    await host.settle();
    for (const asked of waiting) {
      const { result } = asked.admission;
      if (result?.ok === true) running = [...running, { ...asked, slot: result.value }];
    }
    waiting = waiting.filter(({ admission }) => admission.result === undefined);
  };
  const act = async ({
    kind,
    user,
    cluster,
    at,
  }: {
    readonly kind: string;
    readonly user: string;
    readonly cluster: string;
    readonly at: number;
  }): Promise<void> => {
    if (kind === "admit") {
      const leave = new AbortController();
      const candidates = () => [candidateOf(cluster, { groupCap: capOfCluster })];
      const request = capped(user, { candidates, maxRunningPerUser: capOfUser });
      const admission = admit(request, leave.signal);
      waiting = [...waiting, { user, cluster, admission, leave }];
    }
    const ending = running[at % Math.max(1, running.length)];
    if (kind === "release" && ending !== undefined) {
      running = running.filter((one) => one !== ending);
      await ending.slot[Symbol.asyncDispose]();
    }
    if (kind === "leave") waiting[at % Math.max(1, waiting.length)]?.leave.abort();
    await settle();
  };
  const check = (): void => {
    for (const user of ["ann", "bob", "carl"]) {
      const own = running.filter((one) => one.user === user);
      expect(own.length).toBeLessThanOrEqual(capOfUser);
      for (const asked of waiting.filter((one) => one.user === user)) {
        const there = running.filter(({ cluster }) => cluster === asked.cluster);
        // Whoever waits could not run.
        expect(own.length === capOfUser || there.length === capOfCluster).toBe(true);
      }
    }
    expect(queuedIn(capacity)).toBe(waiting.length);
  };
  const finish = async (): Promise<void> => {
    while (running.length > 0) {
      await act({ kind: "release", user: "", cluster: "", at: 0 });
      check();
    }
    expect(waiting).toEqual([]);
  };
  return { act, check, finish };
}
