/**
 * Metrics, one registry per process. prom-client writes the text of `/metrics` and has Node's own families; ours are
 * counted here, because its handles check and hash their labels with each count, which a short query pays five times.
 */
import { Registry, collectDefaultMetrics, type Metric } from "prom-client";
import type { MetricFamily, Metrics } from "@gateway/core/port/metrics.ts";

export interface PromMetrics extends Metrics {
  /** The text of `/metrics`. */
  expose(): Promise<string>;
  readonly contentType: string;
}

/** One set of label values. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Of a counter or gauge; the sum of a histogram. */
  value: number;
  /** Observations by the first bound that they are not above, those above all of them last. */
  readonly buckets: Float64Array;
  /** Something was counted. A series with labels is not shown before. */
  seen: boolean;
}

interface Family {
  readonly type: "counter" | "gauge" | "histogram";
  readonly bounds: readonly number[];
  readonly series: Map<string, Series>;
}

interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

export function promMetrics(): PromMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const families = new Map<string, Family>();
  const seriesOf = (
    family: MetricFamily<string>,
    values: Readonly<Record<string, string>>,
    { type, bounds = [] }: Pick<Family, "type"> & Partial<Family>,
  ): Series => {
    let made = families.get(family.name);
    if (made === undefined) {
      made = { type, bounds, series: new Map() };
      families.set(family.name, made);
      registry.registerMetric(exposed(family, made));
    }
    return onceIn(made, family, values);
  };
  return {
    counter: (family, values) => {
      const series = seriesOf(family, values, { type: "counter" });
      return {
        add: (count) => {
          if (!(count >= 0)) throw new RangeError(`${family.name} can not count ${count}`);
          series.value += count;
          series.seen = true;
        },
      };
    },
    gauge: (family, values) => {
      const series = seriesOf(family, values, { type: "gauge" });
      const set = (value: number): void => {
        series.value = value;
        series.seen = true;
      };
      return { set, add: (delta) => set(series.value + delta) };
    },
    histogram: (family, values) => {
      const bounds = family.buckets;
      const series = seriesOf(family, values, { type: "histogram", bounds });
      return { observe: (value) => observed(series, bounds, value) };
    },
    expose: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function onceIn(
  { bounds, series }: Family,
  { labels }: MetricFamily<string>,
  values: Readonly<Record<string, string>>,
): Series {
  const key = labels.map((label) => JSON.stringify(values[label] ?? "")).join();
  const known = series.get(key);
  if (known !== undefined) return known;
  const buckets = new Float64Array(bounds.length + 1);
  const made = { labels: values, value: 0, buckets, seen: labels.length === 0 };
  series.set(key, made);
  return made;
}

function observed(series: Series, bounds: readonly number[], value: number): void {
  if (!Number.isFinite(value)) throw new TypeError(`an observation of ${value}`);
  let at = 0;
  while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
  series.buckets[at] = (series.buckets[at] ?? 0) + 1;
  series.value += value;
  series.seen = true;
}

/** What prom-client's registry asks of a family: its name, and the values at the moment. */
function exposed({ name, help }: MetricFamily<string>, family: Family): Metric {
  const { type } = family;
  const get = () =>
    Promise.resolve({ name, help, type, aggregator: "sum", values: valuesOf(name, family) });
  return { name, help, type, get } as unknown as Metric;
}

function valuesOf(name: string, { type, bounds, series }: Family): readonly Value[] {
  const seen = [...series.values()].filter((one) => one.seen);
  if (type !== "histogram") return seen.map(({ labels, value }) => ({ labels, value }));
  return seen.flatMap(({ labels, value, buckets }) => {
    let count = 0;
    const counted = [...buckets].map((more, at): Value => {
      count += more;
      const le = bounds[at] ?? "+Inf";
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
    });
    const sum = { labels, value, metricName: `${name}_sum` };
    return [...counted, sum, { labels, value: count, metricName: `${name}_count` }];
  });
}
