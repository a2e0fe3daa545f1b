/**
 * Workers that count alone (`coordination.mode: local`). Each applies the caps to itself, so several of them load an
 * engine that they share as many times over: worth a line in the log.
 *
 * They are counted where every replica and every function writes what workers report, because a balancer gives each
 * of these only some of the heartbeats. A process asks at most once a minute, and only when such a worker reports.
 */
import type { SnapshotBody } from "@gateway/contract/snapshot.ts";
import type { ControlDeps } from "../../deps.ts";

/** A worker that was not heard for this long counts no more; and how long one look is good for. */
const silentMsMax = 60_000;
/** Names in one line of the log. */
const namesMax = 20;

/**
 * Answers what is told of each heartbeat in local mode. It warns once for as long as two or more count alone and the
 * configuration has a cluster that they share. Never fails: the next minute asks again.
 */
export function countedAlone({ store, config, log, clock }: CountingDeps): () => Promise<void> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let warned = false;
  return async () => {
    const now = clock.unixMs();
    if (now - askedAt < silentMsMax) return;
    askedAt = now;
    const counted = await store.workers.countAlone(now - silentMsMax);
    if (!counted.ok) return;
    const body = config.current()?.body;
    const clusters = body === undefined ? [] : sharedClusters(body);
    const several = counted.value >= 2 && clusters.length > 0;
    if (several && !warned) {
      const shown = clusters.slice(0, namesMax).join(", ");
      log.write("warn", "capacity.countedAlone", { workers: counted.value, clusters: shown });
    }
    warned = several;
  };
}

export type CountingDeps = Pick<ControlDeps, "store" | "config" | "log" | "clock">;

/** Names of those whose engine is one and the same for all workers. */
export function sharedClusters({ clusters }: Pick<SnapshotBody, "clusters">): readonly string[] {
  return Object.entries(clusters)
    .filter(([, cluster]) => cluster["enabled"] !== false && !isInside(cluster))
    .map(([name]) => name);
}

/** An engine inside the worker's process is another one in each worker. */
function isInside({ engine, driver }: Readonly<Record<string, unknown>>): boolean {
  return engine === "duckDb" || (engine === "adbc" && (driver === "duckdb" || driver === "sqlite"));
}
