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

type Handles<Handle> = Map<string, Handle | Handles<Handle>>;

/** A map for each label: one key of all of them would be a new text, hashed anew, for each query. */
function remembered<Args extends readonly string[], Handle extends object>(
  make: (...args: Args) => Handle,
): (...args: Args) => Handle {
  const handles: Handles<Handle> = new Map();
  let last: { readonly args: Args; readonly handle: Handle } | undefined;
  return (...args) => {
    if (last !== undefined && areSame(last.args, args)) return last.handle;
    const handle = handleOf(handles, args, make);
    last = { args, handle };
    return handle;
  };
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  for (let at = 0; at < some.length; at += 1) if (some[at] !== others[at]) return false;
  return true;
}

function handleOf<Args extends readonly string[], Handle extends object>(
  handles: Handles<Handle>,
  args: Args,
  make: (...args: Args) => Handle,
): Handle {
  let level = handles;
  for (let at = 0; at < args.length - 1; at += 1) level = below(level, args[at] ?? "");
  const key = args.at(-1) ?? "";
  const known = level.get(key);
  if (known !== undefined && !(known instanceof Map)) return known;
  const made = make(...args);
  level.set(key, made);
  return made;
}

function below<Handle extends object>(level: Handles<Handle>, key: string): Handles<Handle> {
  const known = level.get(key);
  if (known instanceof Map) return known;
  const made: Handles<Handle> = new Map();
  level.set(key, made);
  return made;
}
