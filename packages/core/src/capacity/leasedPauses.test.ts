/** Pauses that the monotonic clock does not count, and wall clocks that are set. */
import { describe, expect, it } from "vitest";
import { fleetOf, lossOf } from "./rig/leased.ts";

describe("leasedCapacity on a machine that is suspended", () => {
  it("begins nothing under a lease of before until it has asked what it still holds", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    worker.suspend(70_000);
    expect(slot.lease?.valid()).toBe(false);
    await slot.lease?.doubt();
    expect(worker.calls).toEqual(["acquire", "renew"]);
    // Nobody else had asked for it.
    expect(slot.lease?.valid()).toBe(true);
    expect(slot.lease?.doubt()).toBeUndefined();
  });

  it("ends what runs under a lease that was given to others meanwhile", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    worker.suspend(120_000);
    await worker.giveAway("lease-1");
    const next = worker.admit();
    await fleet.host.settle();
    expect(told.lost).toBe(true);
    expect(slot.lease?.valid()).toBe(false);
    expect(worker.calls.slice(0, 3)).toEqual(["acquire", "renew", "acquire"]);
    expect(next.result?.ok).toBe(true);
  });

  it("notices within a second, also when nothing happens in it", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    worker.suspend(120_000);
    await worker.giveAway("lease-1");
    await fleet.host.advance(1_000);
    expect(told.lost).toBe(true);
  });

  it("adds up several short pauses", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    worker.suspend(3_000);
    expect(slot.lease?.valid()).toBe(true);
    worker.suspend(3_000);
    expect(slot.lease?.valid()).toBe(false);
  });

  it("counts from before the question was sent, also when the answer came before the pause", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    worker.holdAnswers();
    const admission = worker.admit();
    await fleet.host.settle();
    worker.suspend(120_000);
    await worker.giveAway("lease-1");
    worker.letAnswersGo();
    await fleet.host.advance(2_000);
    expect(worker.calls.filter((call) => call === "renew")).toHaveLength(1);
    expect(admission.result).toMatchObject({ ok: true, value: { holder: "worker-1/lease-2" } });
  });

  it("ends what it may have begun too late when nobody can say whether the lease was still its own", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    expect(slot.lease?.valid()).toBe(true);
    worker.cut("renew");
    worker.suspend(120_000);
    // While it is asked the statement goes on.
    expect(slot.lease?.stillValid()).toBe(true);
    await fleet.host.advance(1_000);
    expect(told.lost).toBe(true);
  });

  it("asks until somebody answers, and begins nothing before that", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    worker.cut("all");
    worker.suspend(30_000);
    const waiting = worker.admit();
    await fleet.host.advance(10_000);
    expect(slot.lease?.valid()).toBe(false);
    expect(slot.lease?.doubt()).toBeUndefined();
    expect(waiting.result).toBeUndefined();
    // One line for one pause, however often it asks.
    expect(fleet.stoodStill).toBe(1);
    worker.cut();
    await fleet.host.advance(2_000);
    expect(slot.lease?.valid()).toBe(true);
    expect(waiting.result?.ok).toBe(true);
  });
});

describe("leasedCapacity beside a wall clock that is set", () => {
  it.each([
    ["forwards", 3_600_000],
    ["backwards", -3_600_000],
  ])("%s: asks one question, and ends nothing", async (_way, ms) => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    const told = lossOf(slot);
    expect(slot.lease?.valid()).toBe(true);
    worker.setWall(ms);
    expect(slot.lease?.stillValid()).toBe(true);
    await fleet.host.advance(10_000);
    expect(slot.lease?.valid()).toBe(true);
    expect(slot.lease?.stillValid()).toBe(true);
    expect(told.lost).toBe(false);
    expect(worker.calls.filter((call) => call === "renew")).toHaveLength(1);
  });

  it("makes no lease longer, and hides no later pause, when it is set back", async () => {
    const fleet = fleetOf();
    const worker = fleet.worker();
    const slot = await worker.slot();
    worker.cut("renew");
    worker.setWall(-3_600_000);
    await fleet.host.advance(1_000);
    worker.suspend(20_000);
    expect(slot.lease?.valid()).toBe(false);
    const other = fleet.worker();
    const second = await other.slot();
    other.cut("renew");
    other.setWall(-3_600_000);
    await fleet.host.advance(56_000);
    expect(second.lease?.valid()).toBe(false);
  });
});
