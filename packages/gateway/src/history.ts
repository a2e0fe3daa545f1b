/**
 * Records of a standalone gateway: the newest kept in memory for the admin API, each logged as one
 * line. The line holds the digest of the SQL; its text, literals masked, only at level debug.
 *
 * Digesting and writing happen after the query's last byte, in the next turn of the event loop.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { digestSql } from "@gateway/core/sql/fingerprint.ts";
import { maskLiterals } from "@gateway/core/sql/mask.ts";

const keptMax = 1_000;
/** Text kept of one statement; the newest thousand must stay small whatever clients send. */
const sqlCharsMax = 4_096;

export interface MemoryHistory extends History {
  /** Newest last. */
  records(): readonly QueryRecord[];
  /** Writes what still waits for its turn. */
  flush(): void;
}

/** `texts`: also write each statement's text, its literals masked. */
export function memoryHistory(log: Log, texts: boolean): MemoryHistory {
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
  }

  return {
    records: () => kept,
    flush,
    append: (record) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ ...record, sql: record.sql.slice(0, sqlCharsMax) });
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
    digest: digestSql(record.sql, dialect).fingerprint,
    rows: record.rowsReturned,
    bytes: record.bytesReturned,
    queueMs: Math.round(record.queueMs * 1000) / 1000,
    executionMs: Math.round(record.executionMs * 1000) / 1000,
  });
}

function writeText(record: QueryRecord, log: Log): void {
  const masked = maskLiterals(record.sql, record.sourceDialect as Dialect);
  if (masked.ok)
    log.write("debug", "query.text", { queryId: record.proxyQueryId, sql: masked.value });
}
