import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { ResultEvent, ResultStream } from "../../query/event.ts";
import { batchOf, columnOf } from "../../type/build.ts";
import { planeOf, queryOf, type PlaneOptions } from "../rig/plane.ts";
import { runQuery } from "../run.ts";

describe("a failure of the engine", () => {
  it.each<readonly [string, Partial<PlaneOptions>, number | undefined]>([
    ["shows where it lies in the client's own text", {}, 8],
    [
      "shows no place in a text that the client did not write",
      { engineSql: "SELECT N" },
      undefined,
    ],
  ])("%s", async (_, more, position) => {
    const plane = planeOf({ clusters: { main: failing }, ...more });
    const ends: unknown[] = [];
    for await (const event of runQuery(queryOf("select n"), plane, new AbortController().signal)) {
      if (event.kind === "failed") ends.push([event.error.code, event.error.position]);
    }
    expect(ends).toEqual([["query.syntax", position]]);
  });
});

describe("a result that came with its end", () => {
  it.each([
    [2, { kind: "done", whole: { batch: { rows: 2 } }, stats: { rows: 2 } }],
    [1, { kind: "failed", error: { code: "query.tooManyRows" } }],
  ] as const)("counts against a limit of %s rows", async (maxRows, last) => {
    const limits = { maxExecutionMs: undefined, maxRows };
    const plane = planeOf({ clusters: { main: whole }, limits });
    const events: ResultEvent[] = [];
    for await (const event of runQuery(queryOf("select n"), plane, new AbortController().signal))
      events.push(event);
    expect(events.at(-1)).toMatchObject(last);
    expect(plane.records).toMatchObject([{ rowsReturned: 2 }]);
  });
});

async function* whole(): ResultStream {
  const columns = [columnOf("n", { kind: "boolean" })];
  const result = {
    columns: { kind: "columns", columns } as const,
    batch: batchOf(columns, [[true], [false]]),
  };
  const stats = { queueMs: 0, executionMs: 0, rows: 2, bytes: 2 };
  yield { kind: "done", stats, commandTag: "SELECT 2", whole: result };
}

async function* failing(): ResultStream {
  yield { kind: "failed", error: { ...gatewayError("query.syntax"), position: 8 } };
}
