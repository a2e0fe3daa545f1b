/**
 * What holds on each engine of what a policy hides: two databases that differ in nothing else answer alike whatever is
 * asked of them. `ACCESS_QUERIES` says how many queries, ten thousand of them at night.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Pair } from "../rig/masked.ts";
import { queries } from "../rig/maskedQueries.ts";

const asked = process.env["ACCESS_QUERIES"];

export const maskedQueries = {
  atNight: asked !== undefined,
  count: Number(asked ?? 100),
  timeoutMs: asked === undefined ? 120_000 : 7_200_000,
} as const;

/** At night, so that whoever watches sees how far it is. */
const saidEach = 1_000;

/** `open`: the pair over that engine; the suite closes it. `numRuns`: how many queries. */
export function maskedSuite(
  engine: Engine,
  open: () => Promise<Pair>,
  numRuns = maskedQueries.count,
): void {
  describe(`what a policy hides, ${engine}`, () => {
    let pair: Pair;
    beforeAll(async () => {
      pair = await open();
    }, 120_000);
    afterAll(() => pair[Symbol.asyncDispose]());

    it(
      "changes no result of any query, and few queries are refused",
      async () => {
        let done = 0;
        let refused = 0;
        let failed = 0;
        let told = 0;
        await fc.assert(
          fc.asyncProperty(queries(engine), async (sql) => {
            const seen = await pair.ask(sql);
            done += 1;
            if (done % saidEach === 0)
              process.stdout.write(`${done} queries on ${engine}: equal\n`);
            if (seen === undefined) refused += 1;
            if (seen?.[0].includes("Error") === true) failed += 1;
            expect(seen?.[0]).toBe(seen?.[1]);
            // Only that the two can be told apart at all: each tenth query says so.
            if (done % 10 !== 0) return;
            const [one, other] = await pair.bare(sql);
            if (one !== other) told += 1;
          }),
          { numRuns },
        );
        expect(refused).toBeLessThan(numRuns / 10);
        expect(failed).toBeLessThan(numRuns / 3);
        // Without the policy many of them tell the two databases apart.
        expect(told).toBeGreaterThan(numRuns / 100);
      },
      maskedQueries.timeoutMs,
    );

    it("is seen by the same queries without the policy", async () => {
      const sql = "SELECT id, region, amount FROM orders";
      const whole = await pair.whole(sql);
      const narrowed = await pair.narrowed(sql);
      expect(narrowed).toHaveLength(6);
      expect(whole.length).toBeGreaterThan(narrowed.length);
      expect(narrowed.filter((row) => !whole.includes(row))).toEqual([]);
      expect(await pair.whole("SELECT count(DISTINCT email) FROM orders")).not.toEqual(['["1"]']);
    });

    it("is not in what is written elsewhere", async () => {
      const copy = await pair.ask("CREATE TABLE notes2 AS SELECT * FROM orders");
      expect(copy).toBeUndefined();
      await pair.ask("INSERT INTO notes SELECT id, email FROM orders");
      expect(await pair.whole("SELECT DISTINCT text FROM notes")).toEqual(['["***"]']);
      await pair.ask("DROP TABLE notes");
      const made = await pair.ask("CREATE TABLE notes AS SELECT * FROM orders");
      expect(made?.[0]).toBe(made?.[1]);
      const [first, second] = (await pair.ask("SELECT * FROM notes")) ?? [];
      expect(first).toContain("***");
      expect(first).toBe(second);
    });
  });
}
