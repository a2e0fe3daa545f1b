import { expect, test } from "vitest";
import { mergedMetrics } from "./metricsText.ts";

const textOf = (count: number) =>
  [
    "# HELP waits Seconds.",
    "# TYPE waits histogram",
    `waits_bucket{le="1"} ${count}`,
    `waits_sum ${count}`,
    `waits_count ${count}`,
    "",
    "# HELP up Whether.",
    "# TYPE up gauge",
    "up{} 1",
  ].join("\n");

test("each family comes once, with the samples of every process under its head", () => {
  const merged = mergedMetrics(
    new Map([
      ["1", textOf(3)],
      ["2", textOf(5)],
    ]),
  );
  expect(merged.split("\n")).toEqual([
    "# HELP waits Seconds.",
    "# TYPE waits histogram",
    'waits_bucket{process="1",le="1"} 3',
    'waits_sum{process="1"} 3',
    'waits_count{process="1"} 3',
    'waits_bucket{process="2",le="1"} 5',
    'waits_sum{process="2"} 5',
    'waits_count{process="2"} 5',
    "",
    "# HELP up Whether.",
    "# TYPE up gauge",
    'up{process="1"} 1',
    'up{process="2"} 1',
    "",
  ]);
});

test("a family that only a later process has keeps its head", () => {
  const merged = mergedMetrics(
    new Map([
      ["1", ""],
      ["2", "# TYPE more counter\nmore 1"],
    ]),
  );
  expect(merged).toBe('# TYPE more counter\nmore{process="2"} 1\n');
});
