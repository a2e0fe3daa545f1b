import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import type { Pin } from "../query/pin.ts";
import { planeOf, queryOf, type PlaneOptions } from "./rig/plane.ts";
import { targetOf } from "./target.ts";

const never = new AbortController().signal;
const silent = async function* () {
  /* nothing runs */
};

function targetFrom(options: Partial<PlaneOptions>, pin?: Pin) {
  const plane = planeOf({ clusters: { a: silent, b: silent }, ...options });
  return targetOf(queryOf("SHOW TABLES", { pin }), plane, never);
}

describe("targetOf", () => {
  it("tells what each cluster of the group reads and knows, and nothing that could be called", async () => {
    expect(await targetFrom({ dialects: { a: "trino" } })).toEqual({
      ok: true,
      value: [
        { dialect: "trino", catalogs: ["memory", "a"] },
        { dialect: "duckdb", catalogs: ["memory", "b"] },
      ],
    });
  });

  it("is the transaction's cluster while there is one, and nothing once that is gone", async () => {
    const dialects = { a: "trino" } as const;
    expect(await targetFrom({ dialects }, pinOf("a"))).toEqual({
      ok: true,
      value: [{ dialect: "trino", catalogs: ["memory", "a"] }],
    });
    expect(await targetFrom({ dialects }, pinOf("gone"))).toEqual({ ok: true, value: [] });
  });

  it("refuses whoever may not run a query there", async () => {
    const route = gatewayError("route.forbidden");
    expect(await targetFrom({ refuse: { route } })).toEqual({ ok: false, error: route });
    expect(await targetFrom({ notReady: true })).toMatchObject({
      error: { code: "config.notReady" },
    });
  });
});

function pinOf(cluster: string): Pin {
  return { cluster, group: "main", state: "open", end: async () => {} };
}
