/** What the configuration counts. */

export const configFamilies = {
  /** `stage`: `read` and `build` in a control plane, `activate` where its own queries follow, `worker_activate` on a worker. */
  reloadFailures: {
    name: "gateway_config_reload_failures_total",
    help: "Configurations that could not be taken over.",
    labels: ["stage"],
  },
  revisions: {
    name: "gateway_config_revisions_total",
    help: "Revisions of the configuration that this process wrote.",
    labels: [],
  },
} as const;
