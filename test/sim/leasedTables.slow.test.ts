/**
 * The same fleets as in leasedFleet.test.ts over the functions of the database: what they give, free and hand over
 * never exceeds a cap at the engine, and every slot is free again in the end. A failure names its seed.
 */
import { asked, testDatabase, type TestDatabase } from "@gateway/control/store/rig/database.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { play } from "./leasedPlay.ts";
import { tablesStage } from "./leasedTables.ts";

const nightly = process.env["GATEWAY_NIGHTLY"] === "1";
const seeds = Array.from({ length: nightly ? 100 : 2 }, (_, index) => index + 1);
/** A fleet over a database takes seconds, and most of them do not come near a given mistake. */
const plantedSeeds = Array.from({ length: 100 }, (_, index) => index + 1);
const limitMs = nightly ? 3_600_000 : 300_000;

/** What a function does wrong, its name, a part of its text, and what stands there instead. The second takes minutes to find. */
const plantedBugs: readonly (readonly [string, string, string, string])[] = [
  ["frees by the worker instead of the lease", "capacity_release", "AND s.lease = x.lease", ""],
  [
    "frees what ran out without asking the engine",
    "capacity_tick",
    "RETURN (",
    `PERFORM capacity_free(array_agg(scope ORDER BY scope, slot), array_agg(slot ORDER BY scope, slot))
       FROM capacity_slots WHERE state = 'suspect' AND instance IS NOT NULL;
       RETURN (`,
  ],
];

describe("a fleet that shares its caps by leases in a database", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase();
  });
  afterEach(async () => {
    await database[Symbol.asyncDispose]();
  });

  it(
    "never exceeds a cap at the engine, and has every slot free again in the end",
    async () => {
      let ran = 0;
      for (const seed of seeds) {
        const played = await play(seed, {}, await tablesStage(database.database, seed));
        if (played.fault !== undefined) throw new Error(`seed ${seed}: ${played.fault}`);
        ran += played.ran;
      }
      // A simulation in which nothing happens proves nothing.
      expect(ran).toBeGreaterThan(seeds.length * 5);
    },
    limitMs,
  );

  it.each(nightly ? plantedBugs : plantedBugs.slice(0, 1))(
    "finds a planted bug: a function that %s",
    async (_what, name, right, wrong) => {
      const { database: planted } = database;
      const { rows } = await asked(
        planted,
        `select pg_get_functiondef(oid) from pg_proc where proname = '${name}'`,
      );
      const text = rows[0]?.[0] ?? "";
      expect(text).toContain(right);
      await asked(planted, text.replaceAll(right, wrong));
      for (const seed of plantedSeeds) {
        const played = await play(seed, {}, await tablesStage(planted, seed));
        if (played.fault !== undefined) return;
      }
      expect.fail("no seed found it");
    },
    limitMs,
  );
});
