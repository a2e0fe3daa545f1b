import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { ResultStream } from "../../query/event.ts";
import { planeOf, queryOf } from "../rig/plane.ts";
import { runQuery } from "../run.ts";

const acted = ["access: masked", "guards: warned"];

describe("a lifecycle", () => {
  it("records what policies did, of queries that run and of those that are denied", async () => {
    for (const more of [{}, { refuse: { police: gatewayError("policy.denied") } }]) {
      const plane = planeOf({ clusters: { main: nothing }, acted, ...more });
      const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
      for await (const _event of stream);
      expect(plane.records.map(({ policyActions }) => policyActions)).toEqual([acted]);
    }
  });

  it("counts a query while it runs, and once it ended by its end and the time from its receipt", async () => {
    const plane = planeOf({ clusters: { main: nothing } });
    const { metrics } = plane.host;
    const running = (): number =>
      metrics.value("gateway_running_queries", { ...main, cluster_name: "main" });
    const seen: number[] = [];
    for await (const _event of runQuery(queryOf("select n"), plane, new AbortController().signal)) {
      seen.push(running());
      await plane.host.advance(1_500);
    }
    expect(seen).toEqual([1, 0]);
    const engine = { engine: "duckDb", ...main };
    const ended = { ...engine, status: "finished", frontend: "postgresWire" };
    expect(metrics.value("gateway_queries_total", ended)).toBe(1);
    expect(metrics.value("gateway_query_duration_seconds", engine)).toBe(1.5);
  });

  it("counts a query that was refused before it had a group and an engine as one of none", async () => {
    const refuse = { route: gatewayError("route.noGroup") };
    const plane = planeOf({ clusters: { main: nothing }, refuse });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    for await (const _event of stream);
    const none = { engine: "none", cluster_group: "none" };
    const ended = { ...none, status: "failed", frontend: "postgresWire" };
    expect(plane.host.metrics.value("gateway_queries_total", ended)).toBe(1);
  });
});

describe("a lifecycle whose slot is there", () => {
  it("waits in no line, and gives the slot back with its end", async () => {
    const plane = planeOf({ clusters: { main: nothing }, slotsAtOnce: true });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    expect((await stream.next()).value).toMatchObject({ kind: "progress", state: "running" });
    expect(plane.slots.size).toBe(1);
    for await (const _event of stream);
    expect(plane.slots.size).toBe(0);
    expect(plane.host.metrics.observed("gateway_queue_duration_seconds", main)).toEqual([0]);
  });

  it("takes none once the query was cancelled", async () => {
    const plane = planeOf({ clusters: { main: nothing }, slotsAtOnce: true });
    const cancelled = AbortSignal.abort(gatewayError("query.cancelled"));
    const kinds: string[] = [];
    for await (const { kind } of runQuery(queryOf("select n"), plane, cancelled)) kinds.push(kind);
    expect(kinds).toEqual(["failed"]);
    expect(plane.reached).toEqual([]);
  });
});

describe("a lifecycle that waits for its slot", () => {
  it("shows where it stands in line while it waits, and how long it did", async () => {
    const plane = planeOf({ clusters: { main: nothing }, positions: [2, 1] });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    const shown: unknown[] = [];
    for await (const _event of stream) {
      shown.push(plane.live.list().map(({ state, position }) => ({ state, position })));
      await plane.host.advance(1_000);
    }
    expect(shown.slice(0, 2)).toEqual([
      [{ state: "queued", position: 2 }],
      [{ state: "queued", position: 1 }],
    ]);
    expect(shown[2]).toEqual([{ state: "running", position: undefined }]);
    expect(plane.host.metrics.value("gateway_queue_duration_seconds", main)).toBe(2);
    expect(plane.host.metrics.value("gateway_queued_queries", main)).toBe(0);
  });

  it.each([
    ["capacity.queueFull", 1],
    ["capacity.timeout", 1],
    ["cluster.unavailable", 0],
  ] as const)("counts %s among those that the line refused: %s", async (code, refused) => {
    const refuse = { admit: gatewayError(code) };
    const plane = planeOf({ clusters: { main: nothing }, refuse });
    const stream = runQuery(queryOf("select n"), plane, new AbortController().signal);
    for await (const _event of stream);
    expect(plane.host.metrics.value("gateway_queue_rejections_total", main)).toBe(refused);
  });
});

const main = { cluster_group: "main" };

async function* nothing(): ResultStream {
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
}
