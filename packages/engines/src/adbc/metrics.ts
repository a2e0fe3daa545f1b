/** What is counted of the pools of connections that scopes have: names and labels are part of the specification. */
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
