/** The metrics of the worker API, by the names of docs/reference/metrics.md. No name a worker chose is a label. */

/** Every family here, for the reference. */
export const workerApiFamilies = {
  authFailures: {
    name: "gateway_worker_auth_failures_total",
    help: "Calls of the worker API without the fleet secret.",
    labels: [],
  },
  ignored: {
    name: "gateway_capacity_ignored_calls_total",
    help: "Calls about leases that touched nothing: late, repeated, of another's lease, or forged.",
    labels: [],
  },
  suspects: {
    name: "gateway_capacity_suspect_slots",
    help: "Slots whose lease ran out and of which the engine has not said that it runs nothing under it.",
    labels: [],
  },
  difference: {
    name: "gateway_engine_running_difference",
    help: "Queries the engine really runs under the gateway's account, less the slots that are held.",
    labels: ["cluster_name"],
  },
  conflicts: {
    name: "gateway_query_record_conflicts_total",
    help: "Records that differ from the one kept under their id.",
    labels: [],
  },
} as const;
