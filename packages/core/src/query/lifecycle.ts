/** Opening and closing a query in this process: the live list, the gauges, the record. Decides nothing. */
import { attemptOutcome } from "../cluster/breaker.ts";
import type { EndAttempt } from "../cluster/breakers.ts";
import type { GatewayError } from "../error.ts";
import type { Slot } from "../port/capacity.ts";
import type { Result } from "../result.ts";
import type { Generation } from "../snapshot/generation.ts";
import type { LastEvent, Queued } from "./event.ts";
import type { LiveQuery } from "./live.ts";
import type { DataPlane } from "./plane.ts";
import type { Query } from "./query.ts";

export interface OpenQuery {
  readonly query: Query;
  readonly live: LiveQuery;
  /** Revision of the generation the query holds. */
  revision: string;
  /** Passes queue positions on and keeps the gauge of waiting queries right, however the wait ends. */
  waiting(admission: Admission): Admission;
  /** Marks the query as running on a cluster until disposed. */
  running(cluster: string, generation: Generation): Disposable;
  /** Tells breaker and health how the engine answered; disposed without an answer, it says nothing about the cluster. */
  attempt(cluster: string, generation: Generation): Attempt;
}

export interface Attempt extends Disposable {
  ended(last: LastEvent): void;
}

type Admission = AsyncGenerator<Queued, Result<Slot, GatewayError>, void>;

/** Puts the query on the live list. Every opened query is closed exactly once. */
export function openQuery(query: Query, plane: DataPlane, client: AbortSignal): OpenQuery {
  const live = plane.live.open(query, plane.host.clock, client);
  plane.history.begin?.();
  return {
    query,
    live,
    revision: "none",
    waiting: (admission) => waiting(admission, live, plane),
    running: (cluster, generation) => running(cluster, generation, live, plane),
    attempt: (cluster, generation) => attemptOf(generation.attempt(live.group ?? "none", cluster)),
  };
}

/** Takes it off the list, writes its record and counts it. */
export function closeQuery(open: OpenQuery, last: LastEvent, plane: DataPlane): void {
  const { live, query } = open;
  plane.live.closed(query.id);
  const record = { ...live.close(last, open.revision), worker: plane.worker };
  const engine = live.engine ?? "none";
  const group = live.group ?? "none";
  plane.metrics.finished(engine, group, record.status, query.session.frontend).add(1);
  plane.metrics.duration(engine, group).observe((record.queueMs + record.executionMs) / 1000);
  plane.history.append(record);
}

/** An attempt that is ended at most once. */
export function attemptOf(end: EndAttempt): Attempt {
  return {
    ended: (last) => end(attemptOutcome(last.kind === "failed" ? last.error.code : undefined)),
    [Symbol.dispose]: () => end("neutral"),
  };
}

async function* waiting(admission: Admission, live: LiveQuery, plane: DataPlane): Admission {
  const group = live.group ?? "none";
  const gauge = plane.metrics.queued(group);
  let queued = false;
  try {
    let step = await admission.next();
    while (step.done !== true) {
      if (!queued) gauge.add(1);
      queued = true;
      yield step.value;
      step = await admission.next();
    }
    plane.metrics.queueDuration(group).observe(live.stats().queueMs / 1000);
    if (!step.value.ok) countRefusal(step.value.error, group, plane);
    return step.value;
  } finally {
    if (queued) gauge.add(-1);
    // Leaves the queue when the client stopped reading; after the end it does nothing.
    await admission.return(undefined as never);
  }
}

function countRefusal(error: GatewayError, group: string, plane: DataPlane): void {
  if (error.code === "capacity.queueFull" || error.code === "capacity.timeout") {
    plane.metrics.rejections(group).add(1);
  }
}

function running(
  cluster: string,
  generation: Generation,
  live: LiveQuery,
  plane: DataPlane,
): Disposable {
  const group = live.group ?? "none";
  live.started(cluster, generation.limits(group));
  live.ranOn(generation.backend(cluster));
  const gauge = plane.metrics.running(group, cluster);
  gauge.add(1);
  return { [Symbol.dispose]: () => gauge.add(-1) };
}
