/**
 * Metrics of a function, as lines of its log in CloudWatch's embedded metric format: nobody can scrape instances
 * that come and go by the minute, and a call to an API of metrics would hold up each answer.
 *
 * What was counted is written when a request was answered, and only what changed; a stream's counts come with the
 * next answer of its instance. Names and labels are those of docs/reference/metrics.md, each label a dimension.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { MetricFamily, Metrics } from "@gateway/core/port/metrics.ts";

export interface EmbeddedMetrics extends Metrics {
  /** Writes one line for each set of label values with a change; none when there is no change. */
  flush(): void;
}

export const metricsNamespace = "QueryGateway";

/** The format takes at most a hundred values of a metric in a line. */
const valuesMax = 100;
/** Labels hold names of the configuration, of which there may be many; what is beyond is not counted. */
const seriesMax = 1_000;

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Since the last flush: the sum of a counter, the last value of a gauge, all of a histogram. */
  values: readonly number[];
  /** Of a gauge, which adds to what it was. */
  level: number;
}

/** `functionName` is a dimension of everything, so that stages of one account stay apart. `write` takes one line without its end. */
export function embeddedMetrics(
  clock: Pick<Clock, "unixMs">,
  functionName: string,
  write: (line: string) => void,
): EmbeddedMetrics {
  const all = new Map<string, Series>();
  const seriesOf = ({ name }: MetricFamily<string>, values: Series["labels"]): Series => {
    const labels = { FunctionName: functionName, ...values };
    const key = JSON.stringify([name, labels]);
    const found = all.get(key);
    if (found !== undefined) return found;
    const made = { name, labels, values: [], level: 0 };
    if (all.size < seriesMax) all.set(key, made);
    return made;
  };
  const flush = (): void => {
    const changed = [...all.values()].filter(({ values }) => values.length > 0);
    const groups = new Map<string, Series[]>();
    for (const series of changed) {
      const key = JSON.stringify(series.labels);
      groups.set(key, [...(groups.get(key) ?? []), series]);
    }
    for (const group of groups.values()) write(lineOf(group, clock.unixMs()));
    for (const series of changed) series.values = [];
  };
  return {
    counter: (family, labels) => {
      const series = seriesOf(family, labels);
      return { add: (count) => (series.values = [(series.values[0] ?? 0) + count]) };
    },
    gauge: (family, labels) => {
      const series = seriesOf(family, labels);
      const set = (value: number): void => {
        series.level = value;
        series.values = [value];
      };
      return { set, add: (delta) => set(series.level + delta) };
    },
    histogram: (family, labels) => {
      const series = seriesOf(family, labels);
      return {
        observe: (value) => {
          series.values = [...series.values, value];
          if (series.values.length >= valuesMax) flush();
        },
      };
    },
    flush,
  };
}

/** All of one set of label values. */
function lineOf(group: readonly Series[], unixMs: number): string {
  const labels = group[0]?.labels ?? {};
  const metrics = group.map(({ name }) => ({
    Name: name,
    Unit: name.endsWith("_seconds") ? "Seconds" : "Count",
  }));
  const values = group.map(({ name, values: seen }) => [name, seen.length > 1 ? seen : seen[0]]);
  return JSON.stringify({
    _aws: {
      Timestamp: unixMs,
      CloudWatchMetrics: [
        { Namespace: metricsNamespace, Dimensions: [Object.keys(labels)], Metrics: metrics },
      ],
    },
    ...labels,
    ...Object.fromEntries(values),
  });
}
