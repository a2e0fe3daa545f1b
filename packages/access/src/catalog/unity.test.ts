import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import type { CatalogAnswer } from "@gateway/core/port/sql/catalog.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeUnityServer, type UnityMood } from "../../../../test/fake/unityServer.ts";
import { openCatalog } from "./open.ts";

let fake: FakeUnityServer;
beforeEach(async () => {
  fake = await FakeUnityServer.start();
  fake.tables = {
    "lake.sales.orders": { type: "MANAGED", columns: { id: "bigint", Email: "string" } },
    "lake.sales.recent": { type: "MATERIALIZED_VIEW", columns: { id: "bigint" } },
  };
});
afterEach(() => fake[Symbol.asyncDispose]());

describe("a Unity Catalog", () => {
  it("is asked about whole names, with its token, and says columns, types and whether it is a view", async () => {
    await using catalog = catalogOf({ credentials: { bearer: "key" } });
    expect(catalog.nameParts).toBe(3);
    expect(await catalog.ask("lake", "sales", "orders")).toEqual({
      kind: "known",
      isView: false,
      columns: ["id", "Email"],
      types: ["bigint", "string"],
      untilMs: 60_000,
    });
    expect(await catalog.ask("lake", "sales", "recent")).toMatchObject({ isView: true });
    expect(await catalog.ask("lake", "sales", "gone")).toEqual({
      kind: "unknown",
      untilMs: 60_000,
    });
    expect(fake.asked[0]).toBe("/api/2.1/unity-catalog/tables/lake.sales.orders");
    expect(new Set(fake.authorizations)).toEqual(new Set(["Bearer key"]));
  });

  it("completes names of two parts with its catalog, and is asked about no name that has a dot or a slash", async () => {
    await using catalog = catalogOf({ catalog: "Lake" });
    expect(catalog.nameParts).toBe(2);
    expect(await catalog.ask("sales", "orders")).toMatchObject({ kind: "known" });
    for (const name of ["x.orders", "x/../orders", "a b"]) {
      expect(await catalog.ask("sales", name)).toEqual({ kind: "unknown" });
    }
    expect(fake.asked).toHaveLength(1);
  });

  it.each<UnityMood>(["silent", "nonsense", "failing", "elsewhere", "huge"])(
    "knows nothing within its time limit while the server is %s, and asks again a second later",
    async (mood) => {
      await using catalog = catalogOf();
      fake.mood = mood;
      expect(await catalog.waiting("lake", "sales", "orders")).toEqual({ kind: "unavailable" });
      expect(catalog.host.clock.nowMs()).toBeLessThanOrEqual(2_020);
      expect(await catalog.ask("lake", "sales", "recent")).toEqual({ kind: "unavailable" });
      expect(fake.asked).toHaveLength(1);
      fake.mood = "well";
      await catalog.host.advance(1_000);
      expect(await catalog.ask("lake", "sales", "orders")).toMatchObject({ kind: "known" });
    },
  );
});

function catalogOf(more: object = {}) {
  const host = virtualHost(1);
  const unity = { url: fake.url, ...more };
  const config = catalogProviderSchema.parse({ provider: "unity", unity });
  const catalog = openCatalog(config, host, { all: [], of: () => [] });
  const { signal } = new AbortController();
  const ask = async (...table: string[]): Promise<CatalogAnswer> =>
    await catalog.table(table, signal, "all");
  return {
    host,
    ask,
    nameParts: catalog.nameParts,
    /** Lets the virtual time pass that a server takes which does not answer. */
    waiting: async (...table: string[]): Promise<CatalogAnswer> => {
      const watch = { done: false };
      const answer = ask(...table).finally(() => {
        watch.done = true;
      });
      while (!watch.done) await host.advance(10);
      return await answer;
    },
    [Symbol.asyncDispose]: async () => {
      await catalog[Symbol.asyncDispose]?.();
    },
  };
}
