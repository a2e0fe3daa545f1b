import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apartColumns, pairOf, twinsOf, type Embedded } from "../rig/masked.ts";
import { queries } from "../rig/maskedQueries.ts";
import { maskedQueries, maskedSuite } from "./masked.suite.ts";
import { parsedOf } from "./parsed.ts";
import { readNodesOf } from "./read.ts";

/** PostgreSQL within the process takes long to start: at night. ClickHouse has its test in test/real. */
const engines: readonly Embedded[] = maskedQueries.atNight ? ["duckdb", "postgres"] : ["duckdb"];

for (const engine of engines) maskedSuite(engine, () => pairOf(engine));

describe("columns that a query is said not to touch", () => {
  it(
    "change no result of it",
    async () => {
      await using twins = await twinsOf();
      const numRuns = maskedQueries.count;
      let without = 0;
      let told = 0;
      await fc.assert(
        fc.asyncProperty(queries("duckdb"), async (sql) => {
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
    maskedQueries.timeoutMs,
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
