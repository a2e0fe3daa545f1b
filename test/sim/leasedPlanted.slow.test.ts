/** The fleets of leasedFleet.test.ts with a bug in each: what they judge by finds it. */
import { describe, expect, it } from "vitest";
import { play, type Planted } from "./leasedPlay.ts";
import { limitMs, nightly } from "./seeds.ts";

/** A planted bug needs its own accident, which comes once in a hundred fleets. */
const plantedSeeds = Array.from({ length: nightly ? 10_000 : 200 }, (_, index) => index + 1);

describe("a fleet that shares its caps by leases", () => {
  it.each<[string, Planted]>([
    ["frees what ran out without asking the engine", { flaws: { freesUnasked: true } }],
    ["frees what the engine still runs", { flaws: { freesRunning: true } }],
    ["frees by the worker instead of the lease", { flaws: { releasesByInstance: true } }],
    ["grants one more than the cap", { flaws: { countsFromZero: true } }],
    ["grants a user one more than its cap", { flaws: { countsUsersFromZero: true } }],
    ["writes without a look at the lease", { careless: true }],
    ["trusts the one clock that a suspended machine stops", { oneClock: true }],
  ])(
    "finds a planted bug: it %s",
    async (_what, planted) => {
      for (const seed of plantedSeeds) {
        if ((await play(seed, planted)).fault !== undefined) return;
      }
      expect.fail("no seed found it");
    },
    limitMs,
  );
});
