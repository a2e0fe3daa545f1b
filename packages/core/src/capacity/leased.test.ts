import { describe, expect, it } from "vitest";
import { fleetOf, lossOf } from "./rig/leased.ts";

describe("leasedCapacity", () => {
  it("holds the cap over two processes, and hands a freed slot to the one that waits", async () => {
    const fleet = fleetOf({ cap: 1 });
    const [one, two] = [fleet.worker(), fleet.worker()];
    const first = await one.slot();
    const second = two.admit();
    await fleet.host.advance(1_000);
    expect(second.result).toBeUndefined();
    expect(second.positions).toEqual([1]);
    await first[Symbol.asyncDispose]();
    await fleet.host.advance(100);
    expect(second.result).toMatchObject({ ok: true, value: { cluster: "c" } });
    expect(fleet.leases.taken).toBe(1);
  });

  it("names the lease in its slot, as the tags of its statements will", async () => {
    const fleet = fleetOf();
    const slot = await fleet.worker("worker-one").slot();
    expect(slot.holder).toBe("worker-one/lease-1");
  });

  it("gives every lease back, also when nobody is there to take it for a while", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    worker.cut("release");
    await slot[Symbol.asyncDispose]();
    await fleet.host.advance(20_000);
    expect(fleet.leases.taken).toBe(1);
    worker.cut();
    await fleet.host.advance(3_000);
    expect(fleet.leases.taken).toBe(0);
  });

  it("asks for several leases while it is busy, so that most queries start without a question", async () => {
    const fleet = fleetOf({ cap: 8 });
    const worker = fleet.worker();
    for (let count = 0; count < 100; count += 1) {
      await (await worker.slot())[Symbol.asyncDispose]();
      await fleet.host.advance(20);
    }
    // Two seconds of work: a few questions a second, not one for each query.
    expect(fleet.leases.acquires).toBeLessThan(20);
    await fleet.host.advance(2_000);
    expect(fleet.leases.taken).toBe(0);
  });

  it("asks for each query where leases ahead are off", async () => {
    const fleet = fleetOf({ cap: 8, leaseAhead: 0 });
    const worker = fleet.worker();
    for (let count = 0; count < 10; count += 1) await (await worker.slot())[Symbol.asyncDispose]();
    expect(fleet.leases.acquires).toBe(10);
    await fleet.host.settle();
    expect(fleet.leases.taken).toBe(0);
  });

  it("does not use its leases again and again while another process waits", async () => {
    const fleet = fleetOf({ cap: 1 });
    const [busy, other] = [fleet.worker(), fleet.worker()];
    const load = (async () => {
      while (fleet.host.clock.nowMs() < 4_000) {
        const slot = await busy.slot();
        await fleet.pause(10);
        await slot[Symbol.asyncDispose]();
      }
    })();
    await fleet.host.advance(500);
    const waiting = other.admit();
    await fleet.host.advance(3_000);
    expect(waiting.result?.ok).toBe(true);
    if (waiting.result?.ok === true) await waiting.result.value[Symbol.asyncDispose]();
    await fleet.host.advance(3_000);
    await load;
  });

  it("keeps a lease by renewal for as long as its query runs", async () => {
    const fleet = fleetOf();
    const slot = await fleet.worker().slot();
    await fleet.advanceTicking(300_000);
    expect(slot.lease?.valid()).toBe(true);
    expect(fleet.leases.taken).toBe(1);
  });

  it("starts nothing under a lease that may have run out, and ends nothing for it", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    worker.cut("renew");
    await fleet.host.advance(54_000);
    expect(slot.lease?.valid()).toBe(true);
    await fleet.host.advance(2_000);
    expect(slot.lease?.valid()).toBe(false);
    expect(told.lost).toBe(false);
    // What was begun in time goes on, however late the engine answers.
    expect(slot.lease?.stillValid()).toBe(true);
  });

  it("ends what it may have begun too late, because it stood still between the look and the writing", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    expect(slot.lease?.valid()).toBe(true);
    await worker.freeze(70_000);
    expect(slot.lease?.stillValid()).toBe(false);
  });

  it("tells the query of a lease that was given to others", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    worker.capacity.lost(["lease-1", "another's"]);
    expect(told.lost).toBe(true);
    expect(slot.lease?.valid()).toBe(false);
    // Whoever looks later is told as well.
    expect(lossOf(slot).lost).toBe(true);
    await slot[Symbol.asyncDispose]();
  });

  it("asks what it still holds after it stood still, before anything begins", async () => {
    const fleet = fleetOf({ cap: 2 });
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    await worker.freeze(120_000);
    fleet.leases.proveDead(worker.name);
    await worker.source.release(
      [{ cluster: "c", slot: 1, lease: "lease-1" }],
      new AbortController().signal,
    );
    const next = worker.admit();
    await fleet.host.settle();
    expect(told.lost).toBe(true);
    expect(worker.calls.slice(-2)).toEqual(["renew", "acquire"]);
    expect(next.result?.ok).toBe(true);
  });
});

describe("leasedCapacity without a control plane", () => {
  it("failClosed: uses what it holds, then lets wait until the timeout, and says how long at most", async () => {
    const fleet = fleetOf({ cap: 8 });
    const worker = fleet.worker();
    // Busy, so that some leases are held ahead.
    for (let count = 0; count < 5; count += 1) {
      await (await worker.slot())[Symbol.asyncDispose]();
      await fleet.host.advance(20);
    }
    const ahead = fleet.leases.taken;
    expect(ahead).toBeGreaterThan(0);
    worker.cut("all");
    const admissions = Array.from({ length: ahead + 1 }, () => worker.admit());
    await fleet.host.advance(10_000);
    expect(admissions.filter(({ result }) => result?.ok === true)).toHaveLength(ahead);
    const waiting = admissions.find(({ result }) => result === undefined);
    expect(waiting?.estimates.at(-1)).toBeGreaterThan(280_000);
    await fleet.host.advance(300_000);
    expect(waiting?.result).toMatchObject({ ok: false, error: { code: "capacity.timeout" } });
  });

  it("failClosed: what is freed serves those who wait here, for as long as its lease lasts", async () => {
    const fleet = fleetOf({ cap: 1 });
    const worker = fleet.worker();
    const slot = await worker.slot();
    const waiting = worker.admit();
    worker.cut("all");
    await fleet.host.advance(20_000);
    await slot[Symbol.asyncDispose]();
    await fleet.host.settle();
    expect(waiting.result?.ok).toBe(true);
  });

  it("localLimits: admits against its own limit, counts that, and says so when it is over", async () => {
    const fleet = fleetOf({ cap: 2, onUnavailable: "localLimits" });
    const worker = fleet.worker();
    worker.cut("all");
    const admissions = [worker.admit(), worker.admit(), worker.admit()];
    await fleet.host.advance(10_000);
    expect(admissions.filter(({ result }) => result?.ok === true)).toHaveLength(2);
    expect(
      fleet.host.metrics.value("gateway_capacity_unleased_total", { cluster_group: "g" }),
    ).toBe(2);
    worker.cut();
    await fleet.host.advance(5_000);
    expect(admissions.filter(({ result }) => result?.ok === true)).toHaveLength(2);
    const [first] = admissions;
    if (first?.result?.ok === true) await first.result.value[Symbol.asyncDispose]();
    await fleet.host.advance(5_000);
    expect(admissions.every(({ result }) => result?.ok === true)).toBe(true);
    const line = fleet.host.log.lines.find(({ event }) => event === "capacity.unleased");
    expect(line?.fields).toMatchObject({ admitted: 2 });
  });

  it("learns of a lease whose answer was lost, and gives it back when its query is gone", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    worker.loseAnswers(1);
    const controller = new AbortController();
    const gone = worker.admit({}, controller.signal);
    await fleet.host.settle();
    expect(fleet.leases.taken).toBe(1);
    controller.abort();
    await fleet.host.advance(5_000);
    expect(gone.result).toMatchObject({ ok: false, error: { code: "query.cancelled" } });
    expect(fleet.leases.taken).toBe(0);
  });
});

describe("leasedCapacity with waiting queries", () => {
  it("takes a query whose client left out of the fleet's queue", async () => {
    const fleet = fleetOf({ cap: 1 });
    const worker = fleet.worker();
    const slot = await worker.slot();
    const controller = new AbortController();
    worker.admit({}, controller.signal);
    await fleet.host.advance(100);
    expect(fleet.leases.waiting).toBe(1);
    controller.abort();
    await fleet.host.advance(100);
    expect(fleet.leases.waiting).toBe(0);
    await slot[Symbol.asyncDispose]();
  });

  it("counts those who had to wait, and the calls that failed", async () => {
    const fleet = fleetOf({ cap: 1 });
    const worker = fleet.worker();
    const slot = await worker.slot();
    worker.admit();
    await fleet.host.advance(100);
    const denied = "gateway_capacity_lease_denied_total";
    expect(fleet.host.metrics.value(denied, { cluster_group: "g" })).toBe(1);
    worker.cut("all");
    await slot[Symbol.asyncDispose]();
    await fleet.host.advance(3_000);
    expect(fleet.host.metrics.value("gateway_coordination_failures_total", {})).toBeGreaterThan(0);
  });

  it("asks for no more of a group at once than may be, and serves them all", async () => {
    const fleet = fleetOf({ cap: 3 });
    const worker = fleet.worker();
    const admissions = Array.from({ length: 300 }, () => worker.admit());
    await fleet.host.advance(1_000);
    expect(fleet.leases.waiting).toBeLessThanOrEqual(64);
    for (let round = 0; round < 400; round += 1) {
      for (const { result } of admissions) {
        if (result?.ok === true) await result.value[Symbol.asyncDispose]();
      }
      await fleet.host.advance(50);
    }
    expect(admissions.every(({ result }) => result?.ok === true)).toBe(true);
  });

  it("gives back what it holds when it closes, and leaves no timer", async () => {
    const fleet = fleetOf({ cap: 8 });
    const worker = fleet.worker();
    for (let count = 0; count < 5; count += 1) {
      await (await worker.slot())[Symbol.asyncDispose]();
      await fleet.host.advance(20);
    }
    expect(fleet.leases.taken).toBeGreaterThan(0);
    await worker.capacity.close(new AbortController().signal);
    expect(fleet.leases.taken).toBe(0);
    expect(fleet.host.timerCount).toBe(0);
  });
});
