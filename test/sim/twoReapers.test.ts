/**
 * Two workers may ask the engines about the slots of a third that died, and the one that holds the lock reaches no
 * engine. It gives the lock up; the other frees every slot, each once, and the end is no worse however long the
 * blindness lasts.
 */
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { expect, it } from "vitest";
import { diceOf } from "./fleet.ts";
import { realControl } from "./leasedControl.ts";
import { LeasedEngine } from "./leasedEngine.ts";
import { LeasedWorker, type Plan } from "./leasedWorker.ts";

const cap = 3;
const caps = { cluster: { c0: cap }, group: { "g0/c0": cap } };
/** The dead one's lease runs out, its statements have another minute, the blind one rests up to 30 s at a time. */
const freedWithinMs = 240_000;

const longPlan: Plan = {
  group: "g0",
  user: "ann",
  beginsAfterMs: 0,
  runMs: 1e9,
  leavesAfterMs: 1e9,
};

it.each([1, 2, 3, 4, 5])(
  "frees a dead worker's slots while the first to ask reaches no engine (%i)",
  async (seed) => {
    const { host, control, engine, workerOf, ended } = fleetOf(seed);
    const blind = workerOf();
    await host.advance(10_000);
    expect(reapersIn(host)).toBe(1);
    const sighted = workerOf();
    const doomed = workerOf();
    for (let query = 0; query < cap; query += 1) void doomed.run(longPlan);
    await host.advance(5_000);
    expect(engine.running).toBe(cap);

    doomed.kill();
    blind.blind = true;
    await freed();

    // Each slot by one of them alone, after the engine ended what ran in it.
    expect(new Set(freedBy(host)).size).toBe(cap);
    expect(freedBy(host)).toHaveLength(cap);
    expect(engine.running).toBe(0);
    expect(engine.violation).toBeUndefined();
    expect(reapersIn(host)).toBeGreaterThan(1);
    await ended([blind, sighted]);

    async function freed(): Promise<void> {
      for (let passedMs = 0; passedMs < freedWithinMs; passedMs += 1_000) {
        await host.advance(1_000);
        if ((await control.left()).slots === 0) return;
      }
      expect.fail(`slots held after ${freedWithinMs} ms`);
    }
  },
);

it("frees nothing while nobody reaches the engine, and all of it once somebody does", async () => {
  const { host, control, engine, workerOf, ended } = fleetOf(1);
  const workers = [workerOf(), workerOf()];
  const doomed = workerOf();
  for (let query = 0; query < cap; query += 1) void doomed.run(longPlan);
  await host.advance(5_000);
  doomed.kill();
  for (const worker of workers) worker.blind = true;
  await host.advance(freedWithinMs);
  expect((await control.left()).slots).toBe(cap);
  expect(engine.running).toBe(cap);

  for (const worker of workers) worker.blind = false;
  await host.advance(freedWithinMs);
  expect(await control.left()).toEqual({ slots: 0, waiting: 0 });
  expect(freedBy(host)).toHaveLength(cap);
  await ended(workers);
});

function fleetOf(seed: number) {
  const host = virtualHost(seed);
  const dice = diceOf(seed);
  const control = realControl(host, caps);
  const engine = new LeasedEngine(host.clock, caps, () => host.random());
  const network = { down: false, lost: 0, repeated: 0 };
  const onUnavailable = "failClosed";
  const parts = { host, dice, control, onUnavailable, engine, network } as const;
  const workerOf = () => new LeasedWorker({ ...parts, careless: false, oneClock: false });
  /** Calls under way need time to be answered. */
  const ended = async (workers: readonly LeasedWorker[]): Promise<void> => {
    const stopped = Promise.all(workers.map((worker) => worker.stop()));
    await host.advance(30_000);
    await stopped;
  };
  return { host, control, engine, workerOf, ended };
}

/** Slots that the control plane freed; the worker that saw it has a line of its own. */
function freedBy({ log }: VirtualHost): readonly unknown[] {
  return log.lines
    .filter(({ event, level }) => event === "capacity.slotFreed" && level === "warn")
    .map(({ fields }) => fields?.["slot"]);
}

/** How often the lock was taken. */
function reapersIn({ log }: VirtualHost): number {
  return log.lines.filter(({ event }) => event === "capacity.reaps").length;
}
