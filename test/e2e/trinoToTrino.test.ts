/** A client of Trino before Trino clusters: what the engine answers by itself is asked of it, and nothing is added. */
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

let trino: FakeTrino;
let gateway: TestGateway;

beforeAll(async () => {
  trino = await fakeTrino();
  gateway = await gatewayOf(
    configOf({
      clusters: {
        one: { engine: "trino", endpoint: trino.origin, catalog: "tpch" },
        duck: { engine: "duckDb" },
      },
      clusterGroups: {
        default: { members: ["one"], maxRunningQueries: 4 },
        duck: { members: ["duck"], maxRunningQueries: 4 },
      },
      routers: [{ type: "header", headerName: "x-engine", headerValueToGroup: { duck: "duck" } }],
    }),
  );
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await trino[Symbol.asyncDispose]();
});

beforeEach(() => void (trino.seen.length = 0));

describe("before a group of Trino clusters", () => {
  it.each([
    "SHOW SCHEMAS FROM memory",
    "SHOW TABLES",
    "DESCRIBE memory.default.t",
    "SHOW FUNCTIONS LIKE 'a%'",
    "SELECT table_cat FROM system.jdbc.tables",
    "SELECT * FROM memory.information_schema.columns",
  ])("%s is answered by the engine", async (sql) => {
    trino.answers.set(sql, () => ({
      columns: [["Column", "varchar(25)"]],
      pages: ['[["of the engine"]]'].values(),
    }));
    const { last, rows, columns } = await followed(sql);
    expect(last.error).toBeUndefined();
    expect(rows).toEqual([["of the engine"]]);
    expect(columns).toEqual([["Column", "varchar(25)"]]);
    expect(submitted()).toContain(sql);
  });

  it("a listing of 50 catalogs and 100,000 tables arrives while the engine makes it", async () => {
    let made = 0;
    const pages = function* () {
      for (; made < pagesOfListing; made += 1) yield pageOfListing(made);
    };
    const sql = "SELECT table_cat, table_schem, table_name FROM system.jdbc.tables";
    const columns = [["table_cat", "varchar"] as const, ["table_schem", "varchar"] as const];
    trino.answers.set(sql, () => ({
      columns: [...columns, ["table_name", "varchar"]],
      pages: pages(),
    }));
    let shown = 0;
    let ahead = 0;
    const names = new Set<unknown>();
    await followed(sql, {}, ({ data = [] }) => {
      shown += data.length;
      for (const [catalog, , name] of data) names.add(`${String(catalog)}.${String(name)}`);
      // What the engine has made is what the client has, but for some pages on their way.
      if (data.length > 0) ahead = Math.max(ahead, made - shown / tablesPerPage);
    });
    expect(shown).toBe(100_000);
    expect(names.size).toBe(100_000);
    expect(ahead).toBeLessThan(pagesOfListing / 10);
  });

  it("changes of the session are the engine's, and so are its refusals", async () => {
    trino.answers.set("USE memory.default", () => ({
      updateType: "USE",
      headers: { "x-trino-set-catalog": "memory", "x-trino-set-schema": "default" },
    }));
    const used = await followed("USE memory.default");
    expect(used.last.updateType).toBe("USE");
    expect(used.headers("x-trino-set-catalog")).toContain("memory");
    expect(used.headers("x-trino-set-schema")).toContain("default");
    trino.answers.set("SET SESSION memory.x = 1 + 1", () => ({
      updateType: "SET SESSION",
      headers: { "x-trino-set-session": "memory.x=2" },
    }));
    const set = await followed("SET SESSION memory.x = 1 + 1");
    expect(set.headers("x-trino-set-session")).toContain("memory.x=2");
  });

  it("properties of a catalog and tags reach it as they were written", async () => {
    trino.answers.set("SELECT tagged", () => ({
      columns: [["n", "bigint"]],
      pages: ["[[1]]"].values(),
    }));
    await followed("SELECT tagged", {
      "x-trino-session": "memory.x=2,query_priority=3",
      "x-trino-client-tags": "a:1,a:2",
    });
    const seen = trino.seen.find(({ body }) => body === "SELECT tagged");
    expect(seen?.headers["x-trino-session"]).toBe("memory.x=2,query_priority=3");
    expect(seen?.headers["x-trino-client-tags"]).toMatch(/^a:1,a:2,gateway\//);
  });

  it("a value with a zone, a type or a function is the client's own text", async () => {
    const prepared = { "x-trino-prepared-statement": "p=SELECT+%3F%2C+%3F" };
    const sent = "EXECUTE IMMEDIATE 'SELECT ?, ?' USING TIME '10:00:00 -08:00', infinity()";
    trino.answers.set(sent, () => ({ columns: [["n", "bigint"]] }));
    await followed("EXECUTE p USING TIME '10:00:00 -08:00', infinity()", prepared);
    expect(submitted()).toContain(sent);
  });
});

describe("before another group of the same gateway", () => {
  it("the engine that can not is helped, and knows its own catalogs only", async () => {
    const { rows } = await followed("SHOW CATALOGS", { "x-engine": "duck" });
    expect(rows.flat()).toContain("memory");
    expect(rows.flat()).not.toContain("tpch");
    const prepared = { "x-engine": "duck", "x-trino-prepared-statement": "p=SELECT+%3F" };
    expect((await followed("EXECUTE p USING 7", prepared)).rows).toEqual([[7]]);
    const computed = await followed("EXECUTE p USING infinity()", prepared);
    expect(computed.last.error?.errorName).toBe("NOT_SUPPORTED");
    expect(submitted()).toEqual([]);
  });
});

/** What clients had it run; its own questions of the gateway aside. */
function submitted(): readonly string[] {
  return trino.seen
    .filter(({ method, headers }) => method === "POST" && headers["x-trino-source"] !== "gateway")
    .map(({ body }) => body);
}

const tablesPerPage = 500;
const pagesOfListing = 100_000 / tablesPerPage;

/** A page of one of 50 catalogs, as JSON. */
function pageOfListing(page: number): string {
  const catalog = `catalog_${page % 50}`;
  const rows = Array.from({ length: tablesPerPage }, (_, at) => [
    catalog,
    "sales",
    `orders_${page * tablesPerPage + at}`,
  ]);
  return JSON.stringify(rows);
}

async function followed(
  sql: string,
  more: Readonly<Record<string, string>> = {},
  seen: (results: QueryResults) => void = () => {},
) {
  const headers = { "x-trino-user": "alice", ...more };
  const all: Headers[] = [];
  const rows: (readonly unknown[])[] = [];
  let columns: readonly (readonly string[])[] = [];
  let response = await fetch(`http://127.0.0.1:${portOf(gateway, "trinoHttp")}/v1/statement`, {
    method: "POST",
    body: sql,
    headers,
  });
  for (;;) {
    const results = (await response.json()) as QueryResults;
    all.push(response.headers);
    seen(results);
    rows.push(...(results.data ?? []));
    columns = results.columns?.map(({ name, type }) => [name, type]) ?? columns;
    if (results.nextUri === undefined) {
      const given = (name: string) => all.flatMap((one) => one.get(name) ?? []);
      return { last: results, rows, columns, headers: given };
    }
    response = await fetch(results.nextUri, { headers });
  }
}
