import { describe, expect, it } from "vitest";
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError } from "../../error.ts";
import { Home } from "../../query/home.ts";
import { redact } from "../../record/redact.ts";
import { virtualHost } from "../../rig/virtual.ts";
import { batchOf, columnOf } from "../../type/build.ts";
import { queryOf } from "../rig/plane.ts";
import { LiveQueries, type LiveQuery } from "./live.ts";

const stats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
const done = { kind: "done", stats } as const;
const noLimits = { maxExecutionMs: undefined, maxRows: undefined };

describe("LiveQuery", () => {
  it("is cancelled by its client, also by one that left before it began, and once alone", async () => {
    const { live, client } = opened();
    client.abort(gatewayError("query.abandoned"));
    live.cancel(gatewayError("query.cancelled"));
    expect(live.signal.reason).toMatchObject({ code: "query.abandoned" });
    const gone = opened(AbortSignal.abort(gatewayError("query.abandoned")));
    expect(gone.live.signal.aborted).toBe(true);
  });

  it("hears no client any more, and has no limit, once it is closed", async () => {
    const { live, client, host } = opened();
    live.started("main", { ...noLimits, maxExecutionMs: 1_000 });
    live.close(done, { revision: "r", worker: undefined });
    client.abort(gatewayError("query.abandoned"));
    expect([live.signal.aborted, host.timerCount]).toEqual([false, 0]);
  });

  it("has one time limit from its first start, which a second attempt shares and guards may shorten", async () => {
    const { live, host } = opened();
    await host.advance(70);
    live.started("main", { ...noLimits, maxExecutionMs: 1_000 });
    await host.advance(400);
    live.started("spare", { ...noLimits, maxExecutionMs: 1_000 });
    expect([live.cluster, host.timerCount]).toEqual(["spare", 1]);
    live.narrowed({ ...noLimits, maxExecutionMs: 500 });
    expect(host.timerCount).toBe(1);
    await host.advance(99);
    expect(live.signal.aborted).toBe(false);
    await host.advance(1);
    expect(live.signal.reason).toMatchObject({ code: "query.timeout" });
  });

  it("ends when it is closed, later than its engine where the client reads slowly", async () => {
    const { live, host } = opened();
    live.started("main", noLimits);
    await host.advance(20);
    const told = live.stats();
    await host.advance(300);
    const record = live.close({ kind: "done", stats: told }, { revision: "r", worker: undefined });
    expect([record.executionMs, record.finishedAt - record.createdAt]).toEqual([20, 320]);
  });

  it("says which batch passes the limit of rows", () => {
    const { live } = opened();
    const two = batchOf([columnOf("n", { kind: "integer", bits: 32, signed: true })], [[1n], [2n]]);
    expect(live.counted(two)).toBeUndefined();
    live.started("main", { ...noLimits, maxRows: 4 });
    expect(live.counted(two)).toBeUndefined();
    expect(live.counted(two)).toMatchObject({ code: "query.tooManyRows" });
    expect(live.stats()).toMatchObject({ rows: 6 });
  });

  it.each<readonly [ErrorCode, string]>([
    ["query.cancelled", "cancelled"],
    ["query.abandoned", "cancelled"],
    ["policy.denied", "denied"],
    ["route.denied", "denied"],
    ["route.forbidden", "denied"],
    ["auth.noBackendIdentity", "denied"],
    ["policy.unavailable", "failed"],
    ["query.timeout", "failed"],
  ])("is recorded after %s as %s", (code, status) => {
    const { live } = opened();
    const error = gatewayError(code);
    const record = live.close({ kind: "failed", error }, { revision: "r", worker: "w" });
    expect(record).toMatchObject({ status, errorCode: code, errorMessage: error.message });
    expect(record).toMatchObject({ revision: "r", worker: "w", tags: {}, policyActions: [] });
  });

  it("is recorded with when it came, started and ended, and with its tags", async () => {
    const { live, host } = opened();
    await host.advance(200);
    live.tags = new Map([["team", "data"]]);
    live.started("main", noLimits);
    await host.advance(300);
    const record = live.close(done, { revision: "r", worker: undefined });
    expect(record).toMatchObject({ queueMs: 200, executionMs: 300, tags: { team: "data" } });
    expect((record.startedAt ?? 0) - record.createdAt).toBe(200);
    expect(record.finishedAt - record.createdAt).toBe(500);
    expect(record).toMatchObject({ status: "finished", errorCode: undefined });
  });
});

describe("the record of a statement with variables of its own", () => {
  const sql = "select a from t where b = 'c'";
  const settings = "max_statement_time = 1, sql_mode = 'ANSI'";

  it("says them too, and no translation where the engine got it as it is", () => {
    const record = recordOf(sql);
    expect(record.sql).toBe(`SET STATEMENT ${settings} FOR ${sql}`);
    expect(record.translatedSql).toBeUndefined();
    expect(recordOf("select 1").translatedSql).toBe("select 1");
  });

  it("masks their values as all others", () => {
    const { sql: masked } = redact(recordOf(sql), "maskLiterals");
    expect(masked).toBe(
      "set statement max_statement_time = ?, sql_mode = ? for select a from t where b = ?",
    );
  });

  function recordOf(engineSql: string) {
    const host = virtualHost(1);
    const call = { home: new Home(), foundRows: false, ignoreSpace: false, settings };
    const query = { ...queryOf(sql, { dialect: "mysql" }), mysql: call };
    const live = new LiveQueries().open(query, host.clock, new AbortController().signal);
    live.engineSql = engineSql;
    return live.close(done, { revision: "r", worker: undefined });
  }
});

describe("LiveQueries", () => {
  it("cancels all that live, for the reason that is given", () => {
    const host = virtualHost(1);
    const queries = new LiveQueries();
    const { signal } = new AbortController();
    const all = ["a", "b"].map((sql) => queries.open(queryOf(sql), host.clock, signal));
    queries.cancelAll(gatewayError("query.cancelled"));
    expect(all.map((live) => (live.signal.reason as { code: string }).code)).toEqual([
      "query.cancelled",
      "query.cancelled",
    ]);
  });

  it("is idle once the last has closed, for all who wait", async () => {
    const host = virtualHost(1);
    const queries = new LiveQueries();
    const { signal } = new AbortController();
    const [a, b] = [queryOf("a"), queryOf("b")];
    const [liveA, liveB] = [a, b].map((query) => queries.open(query, host.clock, signal)) as [
      LiveQuery,
      LiveQuery,
    ];
    let idle = 0;
    for (let n = 0; n < 2; n += 1) void queries.idle(signal).then(() => (idle += 1));
    queries.closed(liveA);
    await host.settle();
    expect(idle).toBe(0);
    expect([queries.get(a.id), queries.get(b.id)?.query]).toEqual([undefined, b]);
    queries.closed(liveB);
    await host.settle();
    expect([idle, queries.list()]).toEqual([2, []]);
  });
});

function opened(signal?: AbortSignal) {
  const host = virtualHost(1);
  const client = new AbortController();
  const live = new LiveQueries().open(queryOf("q"), host.clock, signal ?? client.signal);
  return { host, client, live };
}
