/** The metrics of queries, by the names of docs/reference/metrics.md. Labels hold names from the config only. */
import type { Counter, Gauge, Histogram, Metrics } from "../../port/metrics.ts";

const durationBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 120, 300] as const;

/** Every family here, for the reference. */
export const queryFamilies = {
  queries: {
    name: "gateway_queries_total",
    help: "Finished queries.",
    labels: ["engine", "cluster_group", "status", "frontend"],
  },
  duration: {
    name: "gateway_query_duration_seconds",
    help: "Time from the receipt of a query to its end.",
    labels: ["engine", "cluster_group"],
    buckets: durationBuckets,
  },
  queueDuration: {
    name: "gateway_queue_duration_seconds",
    help: "Time a query waited for its slot.",
    labels: ["cluster_group"],
    buckets: durationBuckets,
  },
  running: {
    name: "gateway_running_queries",
    help: "Queries that hold a slot.",
    labels: ["cluster_group", "cluster_name"],
  },
  queued: {
    name: "gateway_queued_queries",
    help: "Queries that wait for a slot.",
    labels: ["cluster_group"],
  },
  rejections: {
    name: "gateway_queue_rejections_total",
    help: "Queries refused because the queue was full or the wait too long.",
    labels: ["cluster_group"],
  },
} as const;

export interface QueryMetrics {
  finished(engine: string, group: string, status: string, frontend: string): Counter;
  duration(engine: string, group: string): Histogram;
  queueDuration(group: string): Histogram;
  running(group: string, cluster: string): Gauge;
  queued(group: string): Gauge;
  rejections(group: string): Counter;
}

/** Handles by label values, made once each: counting costs a look-up for each label. */
export function queryMetrics(metrics: Metrics): QueryMetrics {
  const { queries, duration, queueDuration, running, queued, rejections } = queryFamilies;
  return {
    finished: remembered((engine, cluster_group, status, frontend) =>
      metrics.counter(queries, { engine, cluster_group, status, frontend }),
    ),
    duration: remembered((engine, cluster_group) =>
      metrics.histogram(duration, { engine, cluster_group }),
    ),
    queueDuration: remembered((cluster_group) =>
      metrics.histogram(queueDuration, { cluster_group }),
    ),
    running: remembered((cluster_group, cluster_name) =>
      metrics.gauge(running, { cluster_group, cluster_name }),
    ),
    queued: remembered((cluster_group) => metrics.gauge(queued, { cluster_group })),
    rejections: remembered((cluster_group) => metrics.counter(rejections, { cluster_group })),
  };
}

/** Values of at most four labels: a list of them would be made for each query. */
type Make<Handle> = (first: string, second: string, third: string, fourth: string) => Handle;

type Handles<Handle> = Map<string, Handle | Handles<Handle>>;

/** A map for each label: one key of all of them would be a new text, hashed anew, for each query. */
function remembered<Handle extends object>(
  make: Make<Handle>,
): (first: string, second?: string, third?: string, fourth?: string) => Handle {
  const handles: Handles<Handle> = new Map();
  let last: Last<Handle> | undefined;
  return (first, second = "", third = "", fourth = "") => {
    if (
      last !== undefined &&
      last.first === first &&
      last.second === second &&
      last.third === third &&
      last.fourth === fourth
    )
      return last.handle;
    const level = below(below(below(handles, first), second), third);
    const known = level.get(fourth);
    const handle =
      known === undefined || known instanceof Map ? make(first, second, third, fourth) : known;
    level.set(fourth, handle);
    last = { first, second, third, fourth, handle };
    return handle;
  };
}

/** That was asked for last, mostly by the query before. */
interface Last<Handle> {
  readonly first: string;
  readonly second: string;
  readonly third: string;
  readonly fourth: string;
  readonly handle: Handle;
}

function below<Handle extends object>(level: Handles<Handle>, key: string): Handles<Handle> {
  const known = level.get(key);
  if (known instanceof Map) return known;
  const made: Handles<Handle> = new Map();
  level.set(key, made);
  return made;
}
