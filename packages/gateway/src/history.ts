/** Records of a standalone gateway: the newest kept in memory for the admin API, each logged as one line without SQL. */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Log } from "@gateway/core/port/log.ts";

const keptMax = 1_000;
/** Text kept of one statement; the newest thousand must stay small whatever clients send. */
const sqlCharsMax = 4_096;

export interface MemoryHistory extends History {
  /** Newest last. */
  records(): readonly QueryRecord[];
}

export function memoryHistory(log: Log): MemoryHistory {
  const kept: QueryRecord[] = [];
  return {
    records: () => kept,
    append: (record) => {
      kept.push({ ...record, sql: record.sql.slice(0, sqlCharsMax) });
      if (kept.length > keptMax) kept.shift();
      log.write("info", "query.ended", lineOf(record));
    },
  };
}

function lineOf(record: QueryRecord) {
  return {
    queryId: record.proxyQueryId,
    frontend: record.frontend,
    user: record.user,
    clusterGroup: record.clusterGroup,
    cluster: record.cluster,
    status: record.status,
    errorCode: record.errorCode,
    rows: record.rowsReturned,
    bytes: record.bytesReturned,
    queueMs: Math.round(record.queueMs * 1000) / 1000,
    executionMs: Math.round(record.executionMs * 1000) / 1000,
  };
}
