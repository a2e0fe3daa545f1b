/**
 * The log lines of a finished query: one with its digest, and its text, literals masked, only where
 * asked for. Neither says more than the redaction `maskLiterals` would.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { Log } from "@gateway/core/port/log.ts";
import { dialectOf } from "@gateway/core/record/redact.ts";
import { digestSql } from "@gateway/core/sql/mask/fingerprint.ts";
import { maskLiterals } from "@gateway/core/sql/mask/mask.ts";

/** One line for one query. `record` may be redacted or not. */
export function writeQueryLine(record: QueryRecord, log: Log): void {
  log.write("info", "query.ended", {
    queryId: record.proxyQueryId,
    frontend: record.frontend,
    user: record.user,
    clusterGroup: record.clusterGroup,
    cluster: record.cluster,
    status: record.status,
    errorCode: record.errorCode,
    digest:
      record.digestHash ?? digestSql(record.sql ?? "", dialectOf(record.sourceDialect)).fingerprint,
    rows: record.rowsReturned,
    bytes: record.bytesReturned,
    queueMs: Math.round(record.queueMs * 1000) / 1000,
    executionMs: Math.round(record.executionMs * 1000) / 1000,
  });
}

/** The statement's text, its literals masked; nothing when it can not be masked for certain. */
export function writeQueryText(record: QueryRecord, log: Log): void {
  const masked = maskLiterals(
    record.sql?.slice(0, textCharsMax) ?? "",
    dialectOf(record.sourceDialect),
  );
  if (masked.ok)
    log.write("debug", "query.text", { queryId: record.proxyQueryId, sql: masked.value });
}

/** Of a longer text only the beginning is logged, if that alone can be read. */
const textCharsMax = 4_096;
