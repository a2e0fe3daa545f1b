/** A record for tests: alice's finished query over PostgreSQL to DuckDB, unless told. */
import type { QueryRecord } from "@gateway/contract/record.ts";

export function recordOf(traits: Partial<QueryRecord> = {}): QueryRecord {
  return {
    proxyQueryId: "20260101_000000_00001_test",
    createdAt: 1_767_225_600_000,
    startedAt: 1_767_225_600_001,
    finishedAt: 1_767_225_600_005,
    frontend: "postgresWire",
    user: "alice",
    clientAddress: "127.0.0.1",
    clusterGroup: "main",
    cluster: "local",
    engine: "duckDb",
    tags: {},
    sql: "select 1",
    sourceDialect: "postgres",
    targetDialect: "duckdb",
    status: "finished",
    rowsReturned: 1,
    bytesReturned: 8,
    queueMs: 1,
    executionMs: 4,
    backendIdentityMode: "serviceAccount",
    routingTrace: [{ step: "fallback", outcome: "group main" }],
    policyActions: [],
    engineStats: {},
    revision: `1.1.sha256:${"0".repeat(64)}`,
    ...traits,
  };
}
