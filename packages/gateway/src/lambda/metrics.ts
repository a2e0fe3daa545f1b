/**
 * Metrics of a function: none. Instances come and go by the minute and nobody scrapes them; the
 * platform counts invocations, errors and durations, and every event that is counted elsewhere has its
 * log line.
 */
import type { Metrics } from "@gateway/core/port/metrics.ts";

const nothing = { add: () => undefined, set: () => undefined, observe: () => undefined };

export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
};
