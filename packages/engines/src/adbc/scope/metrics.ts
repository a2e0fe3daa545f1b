/** What is counted of the pools of connections that scopes have. Names and labels are part of the specification. */
import type { Host } from "@gateway/core/port/host.ts";
import type { ScopeWatcher } from "./scopes.ts";

/** The series, for the reference as well. */
export const scopeFamilies = {
  pools: {
    name: "gateway_adbc_scoped_pools",
    help: "Pools of connections that are kept for identities and for places that sessions went to. An expired one is counted until the next sweep or the next new pool.",
    labels: ["cluster_group", "cluster_name"],
  },
  evictions: {
    name: "gateway_adbc_scoped_pool_evictions_total",
    help: "Such pools that were let go: `idle` because nobody asked for them, `lru` because there were too many.",
    labels: ["cluster_group", "cluster_name", "reason"],
  },
} as const;

/** Counts scopes. Two generations of a cluster add to the same series. */
export function scopeWatcher(cluster: string, { metrics, log }: Host): ScopeWatcher {
  const gauges = new Map<string, ReturnType<Host["metrics"]["gauge"]>>();
  const labelsOf = (group: string) => ({ cluster_group: group, cluster_name: cluster }) as const;
  const gaugeOf = (group: string) => {
    const known = gauges.get(group) ?? metrics.gauge(scopeFamilies.pools, labelsOf(group));
    gauges.set(group, known);
    return known;
  };
  return {
    added: (group) => gaugeOf(group).add(1),
    removed: (group, reason) => {
      gaugeOf(group).add(-1);
      if (reason === undefined) return;
      metrics.counter(scopeFamilies.evictions, { ...labelsOf(group), reason }).add(1);
    },
    bug: (error) => log.bug(error, { cluster }),
  };
}
