/**
 * Records of a standalone gateway: the newest kept in memory for the admin API, each logged as one
 * line. The line holds the digest of the SQL; its text, literals masked, only at level debug.
 *
 * Digesting and writing happen after the query's last byte, in the next turn of the event loop.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { digestSql } from "@gateway/core/sql/fingerprint.ts";
import { maskLiterals } from "@gateway/core/sql/mask.ts";

const keptMax = 1_000;
/** Records that may wait for their turn; beyond it the oldest are dropped and counted. */
const waitingMax = 50_000;
/** Text kept of one statement; the newest thousand must stay small whatever clients send. */
const sqlCharsMax = 4_096;

export const historyFamilies = {
  queued: {
    name: "gateway_history_queued",
    help: "Records that wait to be written.",
    labels: [],
  },
  sent: { name: "gateway_history_sent_total", help: "Records written.", labels: [] },
  dropped: {
    name: "gateway_history_dropped_total",
    help: "Records dropped because too many waited.",
    labels: [],
  },
} as const;

export interface MemoryHistory extends History {
  /** Newest last. */
  records(): readonly QueryRecord[];
  /** Writes what still waits for its turn. */
  flush(): void;
}

/** `texts`: also write each statement's text, its literals masked. */
export function memoryHistory(
  { log, metrics }: Pick<Host, "log" | "metrics">,
  texts: boolean,
): MemoryHistory {
  const queued = metrics.gauge(historyFamilies.queued, {});
  const sent = metrics.counter(historyFamilies.sent, {});
  const dropped = metrics.counter(historyFamilies.dropped, {});
  const kept: QueryRecord[] = [];
  let waiting: QueryRecord[] = [];

  function flush(): void {
    const records = waiting;
    waiting = [];
    for (const record of records) {
      kept.push(record);
      writeLine(record, log);
      if (texts) writeText(record, log);
    }
    if (kept.length > keptMax) kept.splice(0, kept.length - keptMax);
    sent.add(records.length);
    queued.set(0);
  }

  return {
    records: () => kept,
    flush,
    append: (record) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ ...record, sql: record.sql?.slice(0, sqlCharsMax) });
      if (waiting.length > waitingMax) {
        waiting.shift();
        dropped.add(1);
      }
      queued.set(waiting.length);
    },
  };
}

function writeLine(record: QueryRecord, log: Log): void {
  const dialect = record.sourceDialect as Dialect;
  log.write("info", "query.ended", {
    queryId: record.proxyQueryId,
    frontend: record.frontend,
    user: record.user,
    clusterGroup: record.clusterGroup,
    cluster: record.cluster,
    status: record.status,
    errorCode: record.errorCode,
    digest: digestSql(record.sql ?? "", dialect).fingerprint,
    rows: record.rowsReturned,
    bytes: record.bytesReturned,
    queueMs: Math.round(record.queueMs * 1000) / 1000,
    executionMs: Math.round(record.executionMs * 1000) / 1000,
  });
}

function writeText(record: QueryRecord, log: Log): void {
  const masked = maskLiterals(record.sql ?? "", record.sourceDialect as Dialect);
  if (masked.ok)
    log.write("debug", "query.text", { queryId: record.proxyQueryId, sql: masked.value });
}
