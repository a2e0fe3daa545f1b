/**
 * Logs and metrics that only remember, for tests and the simulator.
 *
 * It is not a metrics registry: nothing is exposed, and names and labels are not checked.
 */
import type { Log, LogFields, LogLevel } from "../port/log.ts";
import type { MetricFamily, Metrics } from "../port/metrics.ts";

export interface LogLine {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: LogFields;
}

export interface RecordedLog extends Log {
  /** Every line, oldest first. */
  readonly lines: readonly LogLine[];
  /** Every bug, oldest first. */
  readonly bugs: readonly unknown[];
}

/** A log that keeps its lines. */
export function recordedLog(): RecordedLog {
  const lines: LogLine[] = [];
  const bugs: unknown[] = [];
  return {
    lines,
    bugs,
    write: (level, event, fields = {}) => {
      lines.push({ level, event, fields });
    },
    writeMembers: (level, event, members) => {
      lines.push({ level, event, fields: JSON.parse(`{${members}}`) as LogFields });
    },
    bug: (error) => {
      bugs.push(error);
    },
  };
}

export interface RecordedMetrics extends Metrics {
  /** Value of a counter or gauge, or the sum of a histogram; 0 for a series that was never touched. */
  value(name: string, labels: Readonly<Record<string, string>>): number;
  /** Every value a histogram observed, oldest first. */
  observed(name: string, labels: Readonly<Record<string, string>>): readonly number[];
}

/** Metrics that keep their values. */
export function recordedMetrics(): RecordedMetrics {
  const values = new Map<string, number>();
  const observations = new Map<string, number[]>();

  function adder(name: string, labels: Readonly<Record<string, string>>) {
    const key = seriesKey(name, labels);
    return (delta: number) => {
      values.set(key, (values.get(key) ?? 0) + delta);
    };
  }

  return {
    counter: (family: MetricFamily<string>, labels) => ({ add: adder(family.name, labels) }),
    gauge: (family: MetricFamily<string>, labels) => ({
      add: adder(family.name, labels),
      set: (value) => {
        values.set(seriesKey(family.name, labels), value);
      },
    }),
    histogram: (family: MetricFamily<string>, labels) => {
      const add = adder(family.name, labels);
      const key = seriesKey(family.name, labels);
      const seen = observations.get(key) ?? [];
      observations.set(key, seen);
      return {
        observe: (value) => {
          seen.push(value);
          add(value);
        },
      };
    },
    value: (name, labels) => values.get(seriesKey(name, labels)) ?? 0,
    observed: (name, labels) => observations.get(seriesKey(name, labels)) ?? [],
  };
}

function seriesKey(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, pairs]);
}
