import { describe, expect, it } from "vitest";
import type { ScanEstimate } from "../../port/backend.ts";
import type { ResultStream } from "../../query/event.ts";
import { ok } from "../../result.ts";
import { planeOf, queryOf } from "../rig/plane.ts";
import { runQuery } from "../run.ts";

describe("the question how much a statement would read", () => {
  it.each<readonly [string, ScanEstimate | undefined]>([
    ["is put to an engine that can say it", { bytes: 7 }],
    ["is none for an engine that can not say it, and the statement runs", undefined],
  ])("%s", async (_, estimate) => {
    const said: unknown[] = [];
    const plane = planeOf({
      clusters: { main: done },
      ...(estimate && { estimateScan: async () => ok(estimate) }),
      late: async (query, told) => {
        said.push(await told.askScan(query));
        return ok([]);
      },
    });
    const ends: string[] = [];
    for await (const { kind } of runQuery(queryOf("q"), plane, new AbortController().signal))
      ends.push(kind);
    expect([said, ends.at(-1)]).toEqual([[estimate && ok(estimate)], "done"]);
  });
});

async function* done(): ResultStream {
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
}
