import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { collectedEarly } from "./collector.ts";

describe("collectedEarly", () => {
  it("looks at young objects more often while it works, and as before afterwards", async () => {
    // Until the space of young objects has the size that it grows to.
    for (let round = 0; round < 3; round += 1) await lastingObjects();
    const usual = await collections(lastingObjects);
    const early = await collections(() => collectedEarly(lastingObjects));
    const again = await collections(lastingObjects);
    expect(early).toBeGreaterThan(2 * usual);
    expect(early).toBeGreaterThan(2 * again);
  });

  it("answers what the work does, and throws what it throws", async () => {
    expect(await collectedEarly(async () => 5)).toBe(5);
    const bug = new Error("bug");
    await expect(collectedEarly(() => Promise.reject(bug))).rejects.toBe(bug);
  });
});

/** Some tens of megabytes, with turns in between. */
async function lastingObjects(): Promise<unknown> {
  const made: unknown[] = [];
  for (let turn = 0; turn < 300; turn += 1) {
    for (let count = 0; count < 1_000; count += 1) made.push({ turn, count, list: [count, turn] });
    await nextTurn();
  }
  return made;
}

/** How often the garbage collector ran meanwhile. */
async function collections(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    count += list.getEntries().length;
  });
  observer.observe({ entryTypes: ["gc"] });
  await work();
  await nextTurn();
  await nextTurn();
  count += observer.takeRecords().length;
  observer.disconnect();
  return count;
}
