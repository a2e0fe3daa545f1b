/** Metrics of the history: what waits, what was kept, what was lost. */
export const historyFamilies = {
  queued: {
    name: "gateway_history_queued",
    help: "Records that wait to be written.",
    labels: [],
  },
  sent: { name: "gateway_history_sent_total", help: "Records written.", labels: [] },
  dropped: {
    name: "gateway_history_dropped_total",
    help: "Records dropped: too many waited, the deadline of a shutdown passed, the store refused them, or the process was killed. Where that is kept over a restart, since its folder was made.",
    labels: [],
  },
} as const;
