/** The metrics of the worker API, by the names of docs/reference/metrics.md. No name a worker chose is a label. */

/** Every family here, for the reference. */
export const workerApiFamilies = {
  authFailures: {
    name: "gateway_worker_auth_failures_total",
    help: "Calls of the worker API without the fleet secret.",
    labels: [],
  },
  conflicts: {
    name: "gateway_query_record_conflicts_total",
    help: "Records that differ from the one kept under their id.",
    labels: [],
  },
} as const;
