/** The metrics of leases, by the names of docs/reference/metrics.md. Labels hold names from the config only. */
import type { Counter, Metrics } from "../../port/metrics.ts";

/** Every family here, for the reference. */
export const leaseFamilies = {
  denied: {
    name: "gateway_capacity_lease_denied_total",
    help: "Queries that did not get a lease at once and had to wait.",
    labels: ["cluster_group"],
  },
  failures: {
    name: "gateway_coordination_failures_total",
    help: "Calls about shared capacity that were not answered or refused.",
    labels: [],
  },
  unleased: {
    name: "gateway_capacity_unleased_total",
    help: "Queries admitted against this worker's own limit while the control plane was away (`onUnavailable: localLimits`).",
    labels: ["cluster_group"],
  },
} as const;

export interface LeaseMetrics {
  readonly failures: Counter;
  denied(group: string): Counter;
  unleased(group: string): Counter;
}

/** Handles by label values. */
export function leaseMetrics(metrics: Metrics): LeaseMetrics {
  const { denied, failures, unleased } = leaseFamilies;
  return {
    failures: metrics.counter(failures, {}),
    denied: (cluster_group) => metrics.counter(denied, { cluster_group }),
    unleased: (cluster_group) => metrics.counter(unleased, { cluster_group }),
  };
}
