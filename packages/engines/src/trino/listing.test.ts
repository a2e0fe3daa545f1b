import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../../../../test/fake/trino.ts";
import { hostOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { trinoConfig } from "./config.ts";

let fake: FakeTrino;
beforeEach(async () => {
  fake = await fakeTrino();
});
afterEach(() => fake[Symbol.asyncDispose]());

describe("the catalogs of a cluster", () => {
  it("are known from the first probe on, the default one first, and not asked for with each probe", async () => {
    fake.answers.set("SHOW CATALOGS", () => ({
      columns: [["Catalog", "varchar"]],
      pages: ['[["memory"],["system"],["tpch"]]'].values(),
    }));
    const parts = { engine: "trino", endpoint: fake.origin, catalog: "tpch" };
    await using backend = valueOf(await open("listed", trinoConfig.parse(parts), hostOf()));
    expect(backend.catalogs).toEqual(["tpch"]);
    expect(await backend.probe(never)).toBe("healthy");
    expect(backend.catalogs).toEqual(["tpch", "memory"]);
    expect(await backend.probe(never)).toBe("healthy");
    expect(fake.seen.filter(({ body }) => body === "SHOW CATALOGS")).toHaveLength(1);
  });

  it("are asked for again only where there was no answer, also when there is but one", async () => {
    fake.fault = ({ body }) =>
      body === "SHOW CATALOGS" ? { kind: "status", status: 500 } : undefined;
    const parts = { engine: "trino", endpoint: fake.origin, catalog: "memory" };
    await using backend = valueOf(await open("listed", trinoConfig.parse(parts), hostOf()));
    await backend.probe(never);
    await backend.probe(never);
    const asked = () => fake.seen.filter(({ body }) => body === "SHOW CATALOGS").length;
    expect(asked()).toBe(2);
    fake.fault = () => undefined;
    await backend.probe(never);
    await backend.probe(never);
    expect(asked()).toBe(3);
  });
});
