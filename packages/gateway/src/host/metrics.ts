/** Metrics over prom-client, one registry per process. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { MetricFamily, Metrics } from "@gateway/core/port/metrics.ts";

export interface PromMetrics extends Metrics {
  /** The text of `/metrics`. */
  expose(): Promise<string>;
  readonly contentType: string;
}

export function promMetrics(): PromMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  return {
    counter: (family, values) => {
      const made = once(counters, family, () => new Counter(optionsOf(family, registry)));
      const series = made.labels(values);
      return { add: (count) => series.inc(count) };
    },
    gauge: (family, values) => {
      const made = once(gauges, family, () => new Gauge(optionsOf(family, registry)));
      const series = made.labels(values);
      return { set: (value) => series.set(value), add: (delta) => series.inc(delta) };
    },
    histogram: (family, values) => {
      const made = once(histograms, family, () => {
        return new Histogram({ ...optionsOf(family, registry), buckets: [...family.buckets] });
      });
      const series = made.labels(values);
      return { observe: (value) => series.observe(value) };
    },
    expose: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function once<Made>(
  known: Map<string, Made>,
  family: MetricFamily<string>,
  make: () => Made,
): Made {
  const found = known.get(family.name);
  if (found !== undefined) return found;
  const made = make();
  known.set(family.name, made);
  return made;
}

function optionsOf(family: MetricFamily<string>, registry: Registry) {
  return {
    name: family.name,
    help: family.help,
    labelNames: [...family.labels],
    registers: [registry],
  };
}
