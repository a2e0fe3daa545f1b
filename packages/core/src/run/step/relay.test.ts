import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { ResultStream } from "../../query/event.ts";
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

async function* failing(): ResultStream {
  yield { kind: "failed", error: { ...gatewayError("query.syntax"), position: 8 } };
}
