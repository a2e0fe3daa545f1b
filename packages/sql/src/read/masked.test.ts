import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apartColumns, pairOf, queries, twinsOf, type Engine, type Pair } from "../rig/masked.ts";
import { parsedOf } from "./parsed.ts";
import { readNodesOf } from "./read.ts";

/** `ACCESS_QUERIES` asks for more, at night. */
const asked = process.env["ACCESS_QUERIES"];
const queriesOf = (usual: number): number => Number(asked ?? usual);
const timeoutMs = asked === undefined ? 30_000 : 7_200_000;

/** At night, so that whoever watches sees how far it is. */
const saidEach = 1_000;

/** PostgreSQL within the process takes long to start: at night. */
const engines: readonly Engine[] = asked === undefined ? ["duckdb"] : ["duckdb", "postgres"];

let pair: Pair;

describe.each(engines)("what a policy hides, %s", (engine) => {
  beforeAll(async () => {
    pair = await pairOf(engine);
  }, 120_000);
  afterAll(() => pair[Symbol.asyncDispose]());

  it(
    "changes no result of any query, and few queries are refused",
    async () => {
      const numRuns = queriesOf(100);
      let done = 0;
      let refused = 0;
      let failed = 0;
      let told = 0;
      await fc.assert(
        fc.asyncProperty(queries(engine), async (sql) => {
          const seen = await pair.ask(sql);
          done += 1;
          if (done % saidEach === 0) process.stdout.write(`${done} queries on ${engine}: equal\n`);
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
    timeoutMs,
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

describe("columns that a query is said not to touch", () => {
  it(
    "change no result of it",
    async () => {
      await using twins = await twinsOf();
      const numRuns = queriesOf(100);
      let without = 0;
      let told = 0;
      await fc.assert(
        fc.asyncProperty(queries(), async (sql) => {
          const [one, other] = await twins.ask(sql);
          if (touchesApart(sql)) {
            if (one !== other) told += 1;
            return;
          }
          without += 1;
          expect(one).toBe(other);
        }),
        { numRuns },
      );
      expect(without).toBeGreaterThan(numRuns / 50);
      expect(told).toBeGreaterThan(numRuns / 50);
    },
    timeoutMs,
  );
});

/** Whether a query touches columns in which the two databases differ; one that is not understood may. */
function touchesApart(sql: string): boolean {
  const reading = readNodesOf(parsedOf(sql, "duckdb"), { sql, functions: [], columns: true });
  if (!reading.understood) return true;
  return reading.tables.some(({ path, columns }) => {
    const apart = apartColumns[path.at(-1)?.name.toLowerCase() ?? ""];
    if (apart === undefined || columns === undefined) return apart !== undefined;
    const { named, unresolved, prefixes, all } = columns;
    return all || [...named, ...unresolved, ...prefixes].some((name) => apart.includes(name));
  });
}
