/**
 * Fifteen random fleets, ten thousand at night, with leases on virtual time: workers are killed and frozen,
 * their machines suspended and their clocks set, messages are lost, repeated and late, the control plane goes
 * and comes. The cap holds at the engine, and every slot is free again in the end. A failure names its seed.
 */
import { describe, expect, it } from "vitest";
import { play } from "./leasedPlay.ts";
import { limitMs, sayPlayed, seedsBy } from "./seeds.ts";

const seeds = seedsBy(15);

describe("a fleet that shares its caps by leases", () => {
  it(
    "never exceeds a cap at the engine, and has every slot free again in the end",
    async () => {
      const totals = {
        ran: 0,
        full: 0,
        userFull: 0,
        killed: 0,
        frozen: 0,
        suspended: 0,
        set: 0,
        down: 0,
        blind: 0,
      };
      for (const seed of seeds) {
        const played = await play(seed, {});
        if (played.fault !== undefined) throw new Error(`seed ${seed}: ${played.fault}`);
        totals.ran += played.ran;
        totals.full += played.fullest === 1 ? 1 : 0;
        totals.userFull += played.userFull ? 1 : 0;
        totals.killed += played.killed;
        totals.frozen += played.frozen;
        totals.suspended += played.suspended;
        totals.set += played.set;
        totals.down += played.down;
        totals.blind += played.blind;
      }
      // A simulation in which nothing happens proves nothing.
      expect(totals.ran).toBeGreaterThan(seeds.length * 5);
      expect(totals.full).toBeGreaterThan(seeds.length / 2);
      expect(totals.userFull).toBeGreaterThan(seeds.length / 10);
      const { killed, frozen, suspended, set, down, blind } = totals;
      expect(Math.min(killed, frozen, suspended, set, down, blind)).toBeGreaterThan(
        seeds.length / 4,
      );
      sayPlayed("fleets that share caps by leases", seeds);
    },
    limitMs,
  );
});
