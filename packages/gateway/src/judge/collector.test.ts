import { describe, expect, it } from "vitest";
import { collector } from "./collector.ts";

const early = "--minor-gc-task-trigger=10";
const usual = "--minor-gc-task-trigger=80";

describe("collector", () => {
  it("looks early from the beginning of the first work to the end of the last", async () => {
    const { flags, collectedEarly } = collectorOf();
    const ends: (() => void)[] = [];
    const lasting = (): Promise<void> => new Promise((resolve) => void ends.push(resolve));
    const first = collectedEarly(lasting);
    const second = collectedEarly(lasting);
    expect(flags).toEqual([early]);
    ends[0]?.();
    await first;
    expect(flags).toEqual([early]);
    ends[1]?.();
    await second;
    expect(flags).toEqual([early, usual]);
    expect(await collectedEarly(() => Promise.resolve(5))).toBe(5);
    expect(flags).toEqual([early, usual, early, usual]);
  });

  it("looks as usual again after a bug, which it passes on", async () => {
    const { flags, collectedEarly } = collectorOf();
    const bug = new Error("bug");
    await expect(collectedEarly(() => Promise.reject(bug))).rejects.toBe(bug);
    expect(flags).toEqual([early, usual]);
  });
});

function collectorOf() {
  const flags: string[] = [];
  return { flags, collectedEarly: collector((flag) => void flags.push(flag)) };
}
