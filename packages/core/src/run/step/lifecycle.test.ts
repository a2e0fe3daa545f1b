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
