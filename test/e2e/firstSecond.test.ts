/** A client that comes before the engines have said what they have is told of every catalog all the same. */
import pg from "pg";
import { beforeAll, expect, it, vi } from "vitest";
import { fakeTrino } from "../fake/trino.ts";
import { configOf, gatewayOf, portOf } from "./gateway.ts";

/** A first one loads what the second starts with at once: a probe that is held for long has failed. */
beforeAll(async () => {
  await using trino = await fakeTrino();
  await using _gateway = await gatewayOf(before(trino.origin));
}, 60_000);

it("the catalogs of all clusters of a group are known from the first second on", async () => {
  await using trino = await fakeTrino();
  let held = true;
  trino.answers.set("SHOW CATALOGS", () => ({
    columns: [["Catalog", "varchar"]],
    pages: ['[["lake"],["system"],["tpch"]]'].values(),
    get endless() {
      return held;
    },
  }));
  await using gateway = await gatewayOf(before(trino.origin));
  const asked = [
    databaseOf(portOf(gateway, "postgresWire")),
    shownBy(portOf(gateway, "trinoHttp")),
  ];
  await vi.waitFor(() =>
    expect(trino.seen.some(({ body }) => body === "SHOW CATALOGS")).toBe(true),
  );
  held = false;
  const [database, catalogs] = await Promise.all(asked);
  expect(database).toEqual(["logged in"]);
  expect(catalogs).toEqual(["lake", "memory", "tpch"]);
});

/** One group of a Trino and an engine of another kind. */
function before(endpoint: string): object {
  return configOf({
    clusters: {
      one: { engine: "trino", endpoint, catalog: "tpch" },
      local: { engine: "duckDb" },
    },
    clusterGroups: { default: { members: ["one", "local"], maxRunningQueries: 4 } },
  });
}

/** Logs in to a database that only the engine knows. */
async function databaseOf(port: number): Promise<readonly string[]> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "ann", database: "lake" });
  await client.connect();
  await client.end();
  return ["logged in"];
}

/** What SHOW CATALOGS tells a client of Trino. */
async function shownBy(port: number): Promise<readonly string[]> {
  const found: string[] = [];
  const headers = { "x-trino-user": "ann" };
  const first = { method: "POST", headers, body: "SHOW CATALOGS" };
  let answer = await fetch(`http://127.0.0.1:${port}/v1/statement`, first);
  for (;;) {
    const page = (await answer.json()) as Page;
    if (page.error !== undefined) throw new Error(page.error.message);
    for (const [name] of page.data ?? []) found.push(String(name));
    if (page.nextUri === undefined) return found.toSorted();
    answer = await fetch(page.nextUri, { headers });
  }
}

interface Page {
  readonly data?: readonly (readonly unknown[])[];
  readonly nextUri?: string;
  readonly error?: { readonly message: string };
}
