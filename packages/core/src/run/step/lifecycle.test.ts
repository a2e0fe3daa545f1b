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

async function* nothing(): ResultStream {
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
}
