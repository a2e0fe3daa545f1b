/**
 * Sixty random gateways, ten thousand at night, under load on virtual time: the caps hold at every
 * moment, nobody is lost, nobody waits for nothing, shares follow weights and nobody starves. A failure names its seed.
 */
import { strategyOf } from "@gateway/core/cluster/strategy.ts";
import { describe, expect, it } from "vitest";
import { diceOf, groupOf, randomFleet, SimFleet, type Dice, type SimPlan } from "./fleet.ts";
import { limitMs, sayPlayed, seedsBy } from "./seeds.ts";

/** How long clients come back in the tests of saturation; what is served after it is no contest. */
const saturatedMs = 3_000;

const seeds = seedsBy(25);

describe("a fleet under random load", () => {
  it(
    "never exceeds a cap, loses nobody and leaves nothing",
    async () => {
      const totals = { served: 0, refused: 0, left: 0 };
      await forEachSeed(async (seed) => {
        const dice = diceOf(seed);
        const fleet = randomFleet(seed, dice);
        const count = dice.between(20, 120);
        await playOut(fleet, dice, count);
        fleet.assertEmpty();
        expect(fleet.ends).toHaveLength(count);
        for (const { plan, end, waitedMs } of fleet.ends) {
          expect(waitedMs).toBeLessThanOrEqual(plan.group.waitTimeoutMs);
          if (end === "served") totals.served += 1;
          else if (end === "left") totals.left += 1;
          else totals.refused += 1;
        }
      });
      // A simulation in which nothing happens proves nothing.
      expect(Math.min(totals.served, totals.refused, totals.left)).toBeGreaterThan(100);
      sayPlayed("gateways under random load", seeds);
    },
    limitMs,
  );

  it("gives the same run for the same seed", async () => {
    const endsOf = async (seed: number) => {
      const dice = diceOf(seed);
      const fleet = randomFleet(seed, dice);
      await playOut(fleet, dice, 60);
      return fleet.ends.map(
        ({ plan, end, waitedMs }) => `${plan.group.name} ${plan.user} ${end} ${waitedMs}`,
      );
    };
    expect(await endsOf(7)).toEqual(await endsOf(7));
    expect(await endsOf(7)).not.toEqual(await endsOf(8));
  });
});

describe("a saturated cluster", () => {
  it(
    "is shared by the weights of the groups, and within a group evenly by its users",
    async () => {
      await forEachSeed(async (seed) => {
        const dice = diceOf(seed);
        const cap = dice.between(1, 5);
        const cluster = { name: "c", cap, usable: true };
        const groups = Array.from({ length: dice.between(2, 4) }, (_, index) =>
          groupOf(`g${index}`, [cluster], {
            maxRunning: cap,
            weight: dice.pick([0.5, 1, 2, 4]),
            maxQueued: undefined,
            waitTimeoutMs: 1e9,
            strategy: strategyOf({ type: "roundRobin" }),
          }),
        );
        const fleet = new SimFleet(seed, [cluster], groups);
        await saturate(fleet, dice, saturatedMs);

        const shares = groups.map((group) => {
          return servedOf(fleet, (plan) => plan.group === group) / group.weight;
        });
        expect(jainIndex(shares)).toBeGreaterThanOrEqual(0.9);
        for (const group of groups) {
          const users = ["busy", "calm"].map((user) =>
            servedOf(fleet, (plan) => plan.group === group && plan.user === user),
          );
          expect(jainIndex(users)).toBeGreaterThanOrEqual(0.9);
        }
      });
    },
    limitMs,
  );

  it(
    "starves nobody, however small a weight is",
    async () => {
      await forEachSeed(async (seed) => {
        const dice = diceOf(seed);
        const cluster = { name: "c", cap: dice.between(1, 3), usable: true };
        const limits = { maxRunning: 3, maxQueued: undefined, waitTimeoutMs: 4_000 };
        const groups = [1_000, 0.001].map((weight, index) =>
          groupOf(`g${index}`, [cluster], {
            ...limits,
            weight,
            strategy: strategyOf({ type: "failover" }),
          }),
        );
        const fleet = new SimFleet(seed, [cluster], groups);
        await saturate(fleet, dice, saturatedMs);
        // Half the wait timeout, then those who are urgent as well: far below the timeout at this load.
        const longest = Math.max(...fleet.ends.map(({ waitedMs }) => waitedMs));
        expect(longest).toBeLessThan(3_500);
        expect(servedOf(fleet, (plan) => plan.group.weight < 1)).toBeGreaterThan(0);
        expect(new Set(fleet.ends.map(({ end }) => end))).toEqual(new Set(["served"]));
      });
    },
    limitMs,
  );
});

/** Clients of every kind arrive over 20 s while clusters fail and recover; all ends well in the end. */
async function playOut(fleet: SimFleet, dice: Dice, count: number): Promise<void> {
  const { clock } = fleet.host;
  const clients: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    const plan = planOf(fleet, dice);
    clock.timer(dice.between(0, 20_000), () => clients.push(fleet.run(plan)));
  }
  for (const cluster of fleet.clusters) {
    for (let flips = dice.between(0, 3); flips > 0; flips -= 1) {
      const downAtMs = dice.between(0, 20_000);
      clock.timer(downAtMs, () => fleet.flip(cluster));
      clock.timer(downAtMs + dice.between(1, 20_000), () => fleet.flip(cluster));
    }
  }
  while (fleet.host.timerCount > 0) {
    await fleet.host.advance(dice.between(1, 400));
    fleet.assertNobodyWaitsForNothing();
    if (clients.length === count) await Promise.race([Promise.all(clients), fleet.host.settle()]);
  }
  await Promise.all(clients);
}

function planOf(fleet: SimFleet, dice: Dice): SimPlan {
  const [first, ...others] = fleet.groups;
  if (first === undefined) throw new Error("a fleet without groups");
  return {
    group: dice.pick([first, ...others]),
    user: dice.pick(["ada", "bob", "cyd", "dan"]),
    runMs: dice.between(0, 4_000),
    cancelAfterMs: dice.chance(0.2) ? dice.between(0, 5_000) : undefined,
    leavesQueue: dice.chance(0.1),
  };
}

/** Each group has a busy user with eight clients and a calm one with six, who all come back at once. */
async function saturate(fleet: SimFleet, dice: Dice, durationMs: number): Promise<void> {
  const { clock } = fleet.host;
  const client = async (plan: Omit<SimPlan, "runMs">) => {
    while (clock.nowMs() < durationMs) {
      await fleet.run({ ...plan, runMs: dice.between(10, 50) });
    }
  };
  const clients = fleet.groups.flatMap((group) =>
    [...Array.from({ length: 8 }, () => "busy"), ...Array.from({ length: 6 }, () => "calm")].map(
      (user) => client({ group, user }),
    ),
  );
  let over = false;
  const all = Promise.all(clients).finally(() => {
    over = true;
  });
  await fleet.host.runUntil(() => over);
  await all;
  fleet.assertEmpty();
}

function servedOf(fleet: SimFleet, which: (plan: SimPlan) => boolean): number {
  return fleet.ends.filter(({ plan, end, atMs }) => {
    return end === "served" && atMs <= saturatedMs && which(plan);
  }).length;
}

/** 1 when all are equal, 1 / n when one has everything. */
function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return sum ** 2 / (shares.length * squares);
}

async function forEachSeed(check: (seed: number) => Promise<void>): Promise<void> {
  for (const seed of seeds) {
    try {
      await check(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
    }
  }
}
