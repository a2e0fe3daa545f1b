/** Every state of a small fleet: what runs never exceeds the cap, every slot is free again in the end, and no rule can be left out. */
import { describe, expect, it } from "vitest";
import { allRules, type ModelRules, type ModelSize } from "./leaseModel.ts";
import { explore } from "./leaseSearch.ts";

/** Larger ones for the night. */
const nightly = process.env["GATEWAY_NIGHTLY"] === "1";

const sizes: readonly ModelSize[] = [
  { workers: 2, cap: 1, leases: 3, renewals: 1, kills: 1 },
  { workers: 2, cap: 2, leases: 3, renewals: 0, kills: 0 },
  ...(nightly
    ? [
        { workers: 2, cap: 1, leases: 4, renewals: 0, kills: 2 },
        { workers: 3, cap: 1, leases: 3, renewals: 0, kills: 1 },
        { workers: 2, cap: 2, leases: 2, renewals: 1, kills: 1 },
        { workers: 3, cap: 2, leases: 3, renewals: 0, kills: 0 },
        { workers: 3, cap: 2, leases: 2, renewals: 0, kills: 1 },
      ]
    : []),
];

const limitMs = nightly ? 600_000 : 60_000;

describe("leases", () => {
  it.each(sizes)(
    "hold the cap at the engine in every state, and lose no slot: $workers workers, cap $cap, $leases leases",
    (size) => {
      const { states, overrun, stuck } = explore(size);
      expect({ overrun, stuck }).toEqual({ overrun: undefined, stuck: undefined });
      // A search that sees little shows little.
      expect(states).toBeGreaterThan(10_000);
    },
    limitMs,
  );

  it.each<keyof ModelRules>([
    "asksEngine",
    "waitsBeforeAsking",
    "matchesLease",
    "looksTwice",
    "countsListings",
  ])(
    "would exceed it without the rule %s",
    (rule) => {
      const size: ModelSize = { workers: 2, cap: 1, leases: 3, renewals: 0, kills: 1 };
      const { overrun } = explore(size, { ...allRules, [rule]: false });
      expect(overrun).toBeDefined();
      expect(overrun?.at(-1)).toMatch(/statement (arrives|shows)/);
    },
    limitMs,
  );
});
