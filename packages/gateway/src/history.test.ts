import type { QueryRecord } from "@gateway/contract/record.ts";
import { virtualHost } from "@gateway/core/port/virtual.ts";
import { describe, expect, it } from "vitest";
import { memoryHistory } from "./history.ts";

describe("memoryHistory", () => {
  it("logs a line with the query's id and digest, never its text", () => {
    const host = virtualHost(1);
    const { log } = host;
    const history = memoryHistory(host, false);
    history.append(recordOf("q1", "select * from t where pin = 'hunter2'"));
    expect(log.lines).toEqual([]);
    history.flush();
    expect(log.lines).toMatchObject([
      { level: "info", event: "query.ended", fields: { queryId: "q1", status: "finished" } },
    ]);
    expect(JSON.stringify(log.lines)).not.toContain("hunter2");
    expect(JSON.stringify(log.lines)).not.toContain("from t");
  });

  it("gives queries that differ in their literals the same digest", () => {
    const host = virtualHost(1);
    const { log } = host;
    const history = memoryHistory(host, false);
    history.append(recordOf("q1", "select 1 from t"));
    history.append(recordOf("q2", "SELECT 22 from  t"));
    history.append(recordOf("q3", "select 1 from other"));
    history.flush();
    const digests = log.lines.map(({ fields }) => fields?.["digest"]);
    expect(digests[0]).toBe(digests[1]);
    expect(digests[0]).not.toBe(digests[2]);
  });

  it("writes the text with its literals masked when asked to", () => {
    const host = virtualHost(1);
    const { log } = host;
    const history = memoryHistory(host, true);
    history.append(recordOf("q1", "select * from t where pin = 'hunter2'"));
    history.flush();
    const text = log.lines.find(({ event }) => event === "query.text");
    expect(text?.fields?.["sql"]).toContain("from t where pin = ");
    expect(JSON.stringify(log.lines)).not.toContain("hunter2");
  });

  it("keeps the newest thousand, and little of each long text", () => {
    const history = memoryHistory(virtualHost(1), false);
    for (let n = 0; n < 1_100; n += 1) history.append(recordOf(`q${n}`, "select 1"));
    history.append(recordOf("last", `select '${"x".repeat(100_000)}'`));
    history.flush();
    expect(history.records()).toHaveLength(1_000);
    expect(history.records().at(-1)?.proxyQueryId).toBe("last");
    expect(history.records().at(-1)?.sql?.length).toBe(4_096);
  });

  it("counts what waits, what was written, and what was dropped because too many waited", () => {
    const host = virtualHost(1);
    const history = memoryHistory(host, false);
    for (let n = 0; n < 50_010; n += 1) history.append(recordOf(`q${n}`, "select 1"));
    expect(host.metrics.value("gateway_history_queued", {})).toBe(50_000);
    expect(host.metrics.value("gateway_history_dropped_total", {})).toBe(10);
    history.flush();
    expect(host.metrics.value("gateway_history_queued", {})).toBe(0);
    expect(host.metrics.value("gateway_history_sent_total", {})).toBe(50_000);
  });

  it("writes by itself after the query's turn", async () => {
    const history = memoryHistory(virtualHost(1), false);
    history.append(recordOf("q1", "select 1"));
    expect(history.records()).toEqual([]);
    await new Promise(setImmediate);
    expect(history.records()).toHaveLength(1);
  });
});

function recordOf(proxyQueryId: string, sql: string): QueryRecord {
  return {
    proxyQueryId,
    backendQueryId: undefined,
    createdAt: 1,
    startedAt: 2,
    finishedAt: 3,
    worker: undefined,
    frontend: "postgresWire",
    user: "alice",
    clientAddress: "127.0.0.1",
    clusterGroup: "main",
    cluster: "local",
    engine: "duckDb",
    catalog: undefined,
    schema: undefined,
    tags: {},
    sql,
    sourceDialect: "postgres",
    status: "finished",
    errorCode: undefined,
    errorMessage: undefined,
    rowsReturned: 1,
    bytesReturned: 8,
    queueMs: 0,
    executionMs: 1,
    backendIdentityMode: "serviceAccount",
    enginePrincipal: undefined,
    routingTrace: [],
    policyActions: [],
    engineStats: {},
    revision: "sha256:0",
  };
}
