import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import type { CatalogAnswer } from "@gateway/core/port/sql/catalog.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIcebergServer, type IcebergMood } from "../../../../test/fake/icebergServer.ts";
import { openCatalog } from "./open.ts";

let fake: FakeIcebergServer;
beforeEach(async () => {
  fake = await FakeIcebergServer.start();
  fake.tables = { "sales.orders": ["id", "Email"], "a%1Fb.c%2Fd": ["x"] };
  fake.views = { "sales.recent": ["id"] };
});
afterEach(() => fake[Symbol.asyncDispose]());

const unavailable = { kind: "unavailable" };

describe("a REST catalog of Iceberg", () => {
  it("is asked for the schema that counts now, and for a view where there is no table", async () => {
    await using catalog = catalogOf({ credentials: { bearer: "key" }, warehouse: "s3://w h" });
    const ends = { untilMs: 60_000 };
    expect(await catalog.ask("sales", "orders")).toEqual({
      kind: "known",
      isView: false,
      columns: ["id", "Email"],
      ...ends,
    });
    expect(await catalog.ask("sales", "recent")).toMatchObject({ isView: true, columns: ["id"] });
    expect(await catalog.ask("sales", "gone")).toEqual({ kind: "unknown", ...ends });
    expect(await catalog.ask("a", "b", "c/d")).toMatchObject({ columns: ["x"] });
    expect(fake.asked.slice(0, 2)).toEqual([
      "/iceberg/v1/config?warehouse=s3%3A%2F%2Fw%20h",
      "/iceberg/v1/namespaces/sales/tables/orders?snapshots=refs",
    ]);
    expect(new Set(fake.authorizations)).toEqual(new Set(["Bearer key"]));
  });

  it("knows the one schema of a table of the first format, and none where it is not said which counts", async () => {
    const schema = { "schema-id": 0, fields: [{ name: "id" }] };
    const known = { kind: "known", isView: false, columns: ["id"] };
    const told = async (kind: "tables" | "views", metadata: object) => {
      fake.metadata = { [`${kind}/sales.one`]: metadata };
      await using catalog = catalogOf();
      return await catalog.ask("sales", "one");
    };
    expect(await told("tables", { schema })).toMatchObject(known);
    const current = { schemas: [schema], "current-schema-id": 0 };
    expect(await told("tables", current)).toMatchObject(known);
    expect(await told("tables", { schema, schemas: [schema] })).toEqual(unavailable);
    expect(await told("tables", { ...current, "current-schema-id": 1, schema })).toEqual(
      unavailable,
    );
    expect(await told("tables", { schemas: [{ fields: schema.fields }] })).toEqual(unavailable);
    expect(await told("views", { schema })).toEqual(unavailable);
    expect(await told("views", {})).toEqual(unavailable);
  });

  it("is not believed about a view that it does not show", async () => {
    await using catalog = catalogOf();
    fake.viewStatus = 403;
    expect(await catalog.ask("sales", "gone")).toEqual(unavailable);
    await catalog.host.advance(1_000);
    fake.viewStatus = 501;
    expect(await catalog.ask("sales", "gone")).toMatchObject({ kind: "unknown" });
  });

  it("is asked behind the prefix that it names, and about its own catalog alone", async () => {
    fake.prefix = "ws/main";
    await using catalog = catalogOf({ catalog: "Lake" });
    expect(await catalog.ask("lake", "sales", "orders")).toMatchObject({ kind: "known" });
    expect(await catalog.ask("other", "sales", "orders")).toEqual({ kind: "unknown" });
    expect(await catalog.ask("sales", "orders")).toEqual({ kind: "unknown" });
    expect(fake.asked[1]).toBe("/iceberg/v1/ws/main/namespaces/sales/tables/orders?snapshots=refs");
    expect(fake.asked).toHaveLength(2);
  });

  it.each(["../admin", "a//b", "a/./b", "/a", "a?b"])("is not asked behind %s", async (prefix) => {
    fake.prefix = prefix;
    await using catalog = catalogOf();
    expect(await catalog.ask("sales", "orders")).toEqual(unavailable);
    expect(fake.asked).toEqual(["/iceberg/v1/config"]);
  });

  it("asks once for a burst, and again once the answer is too old", async () => {
    await using catalog = catalogOf({ cacheTtlMs: 100 });
    await Promise.all(Array.from({ length: 20 }, () => catalog.ask("sales", "orders")));
    await catalog.host.advance(99);
    await catalog.ask("sales", "orders");
    expect(fake.asked).toHaveLength(2);
    fake.tables["sales.orders"] = ["id"];
    await catalog.host.advance(1);
    expect(await catalog.ask("sales", "orders")).toMatchObject({ columns: ["id"], untilMs: 200 });
  });

  it.each<readonly [IcebergMood, string]>([
    ["silent", "slow"],
    ["nonsense", "no table in the answer"],
    ["failing", "status 503"],
    ["redirecting", "status 307"],
    ["huge", "tooLarge"],
  ])(
    "knows nothing within its time limit while the server is %s (%s), and asks again a second later",
    async (mood, reason) => {
      await using catalog = catalogOf({ cacheTtlMs: 0 });
      await catalog.ask("sales", "orders");
      fake.mood = mood;
      const asked = fake.asked.length;
      expect(await catalog.waiting("sales", "orders")).toEqual(unavailable);
      expect(catalog.host.log.lines.map(({ fields }) => fields["reason"])).toEqual([reason]);
      expect(catalog.host.clock.nowMs()).toBeLessThanOrEqual(2_020);
      expect(await catalog.ask("sales", "recent")).toEqual(unavailable);
      expect(fake.asked.length).toBeLessThanOrEqual(asked + 1);
      fake.mood = "well";
      await catalog.host.advance(1_000);
      expect(await catalog.ask("sales", "recent")).toMatchObject({ kind: "known" });
    },
  );
});

describe("tables of the configuration", () => {
  it("are known by the last parts of a whole name, whatever its case", async () => {
    const tables = {
      "Sales.Orders": { columns: ["id"] },
      "lake.sales.orders": { kind: "view", columns: ["x"] },
    };
    const catalog = openCatalog(
      catalogProviderSchema.parse({ provider: "static", tables }),
      host(),
      noClusters,
    );
    const { signal } = new AbortController();
    const ask = (...table: string[]) => catalog.table(table, signal, "all");
    expect(catalog.nameParts).toBe(3);
    expect(ask("a", "sales", "orders")).toEqual({ kind: "known", isView: false, columns: ["id"] });
    expect(ask("lake", "sales", "orders")).toMatchObject({ isView: true });
    expect(ask("orders")).toEqual({ kind: "unknown" });
    expect(ask("a", "sales.orders")).toEqual({ kind: "unknown" });
  });
});

const host = () => virtualHost(1);
const noClusters = { all: [], of: () => [] };

function catalogOf(more: object = {}) {
  const own = host();
  const icebergRest = { url: fake.url, ...more };
  const config = catalogProviderSchema.parse({ provider: "icebergRest", icebergRest });
  const catalog = openCatalog(config, own, noClusters);
  const ask = async (...table: string[]): Promise<CatalogAnswer> =>
    await catalog.table(table, new AbortController().signal, "all");
  return {
    host: own,
    ask,
    /** Lets the virtual time pass that a server takes which does not answer. */
    waiting: async (...table: string[]): Promise<CatalogAnswer> => {
      const watch = { done: false };
      const answer = ask(...table).finally(() => {
        watch.done = true;
      });
      while (!watch.done) await own.advance(10);
      return await answer;
    },
    [Symbol.asyncDispose]: async () => {
      await catalog[Symbol.asyncDispose]?.();
    },
  };
}
