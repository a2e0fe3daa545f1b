/** Tags from the clients' side: each way of saying them decides where a query goes, and a Trino engine is told them. */
import { createClient } from "@clickhouse/client";
import { FlightClient } from "@gateway/frontends/flightSql/rig/client.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const listener = { host, port: 0 };
/** Nothing runs in that group, and its guard says so. */
const closed = "This lane is closed.";
const header = { "x-gateway-tags": "lane:closed" };
const comment = "/* gateway.tags=lane:closed */";

let trino: FakeTrino;
let gateway: TestGateway;

beforeAll(async () => {
  trino = await fakeTrino();
  const group = { members: ["local"], maxRunningQueries: 4 };
  gateway = await gatewayOf({
    gateway: {
      frontends: {
        trinoHttp: listener,
        postgresWire: listener,
        mysqlWire: listener,
        flightSql: listener,
        clickhouseHttp: listener,
        snowflakeHttp: listener,
        mcp: listener,
      },
      adminApi: listener,
      persistence: { type: "inMemory" },
      tagComments: true,
    },
    clusters: { local: { engine: "duckDb" }, lake: { engine: "trino", endpoint: trino.origin } },
    clusterGroups: {
      open: group,
      closed: group,
      lake: { members: ["lake"], maxRunningQueries: 4, defaultTags: { team: "data" } },
    },
    routers: [
      {
        type: "tags",
        rules: [
          { tags: { lane: "closed" }, targetGroup: "closed" },
          { tags: { lane: "lake" }, targetGroup: "lake" },
        ],
      },
    ],
    routingFallback: "open",
    guardrails: {
      guards: [
        {
          name: "closed",
          type: "statementKinds",
          allow: ["kill"],
          clusterGroups: ["closed"],
          message: closed,
        },
      ],
    },
    auth: { provider: "none" },
  });
}, 60_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await trino[Symbol.asyncDispose]();
});

describe("tags decide where a query goes", () => {
  it("as PostgreSQL's setting, and in a comment", async () => {
    const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "ann" });
    await client.connect();
    expect((await client.query("SELECT 1 AS a")).rows).toEqual([{ a: 1 }]);
    await expect(client.query(`${comment} SELECT 1`)).rejects.toThrow(closed);
    await expect(client.query({ text: `${comment} SELECT $1::int`, values: [1] })).rejects.toThrow(
      closed,
    );
    await client.query("SET gateway.tags = 'lane:closed'");
    await expect(client.query("SELECT 1")).rejects.toThrow(closed);
    await client.end();
  });

  it("as MySQL's variable, and in a comment", async () => {
    const client = await mysql.createConnection({
      host,
      port: portOf(gateway, "mysqlWire"),
      user: "ann",
    });
    await client.query("SELECT 1");
    await expect(client.query(`${comment} SELECT 1`)).rejects.toThrow(closed);
    await expect(client.query("-- gateway.tags=lane:closed\nSELECT 1")).rejects.toThrow(closed);
    await client.query("SET @gateway_tags = 'lane:closed'");
    await expect(client.query("SELECT 1")).rejects.toThrow(closed);
    await client.end();
  });

  it.each([
    ["the protocol's own header", { "x-trino-client-tags": "lane:closed" }, ""],
    ["a session property", { "x-trino-session": "gateway.tags=lane%3Aclosed" }, ""],
    ["the gateway's header", header, ""],
    ["a comment", {}, comment],
  ])("of a client of Trino by %s", async (_name, headers, before) => {
    expect(await byTrino(`${before} SELECT 1`, headers)).toContain(closed);
    expect(await byTrino("SELECT 1", {})).toBeUndefined();
  });

  it("of a client of ClickHouse by the header, and in a comment", async () => {
    const url = `http://${host}:${portOf(gateway, "clickhouseHttp")}`;
    const client = createClient({
      url,
      username: "ann",
      log: { level: 127 },
      http_headers: header,
    });
    await expect(client.query({ query: "SELECT 1" })).rejects.toThrow(closed);
    await client.close();
    const plain = createClient({ url, username: "ann", log: { level: 127 } });
    await expect(plain.query({ query: `${comment} SELECT 1` })).rejects.toThrow(closed);
    await plain.close();
  });

  it("of a client of Flight SQL in a comment", async () => {
    const client = await FlightClient.connect(portOf(gateway, "flightSql"), { user: "ann" });
    await expect(client.query(`${comment} SELECT 1`)).rejects.toThrow(closed);
    client.destroy();
  });

  it("of an agent by the header that its operator sets, and never by what it writes", async () => {
    expect(await byMcp("SELECT 1", header)).toContain(closed);
    expect(await byMcp(`${comment} SELECT 1`, {})).toBeUndefined();
  });
});

describe("an engine", () => {
  it("is told the client's tags with those of the group, wherever the client wrote them", async () => {
    trino.answers.set("SELECT 1", () => ({
      columns: [["i", "bigint"]],
      pages: ["[[1]]"].values(),
    }));
    const tags = { "x-gateway-tags": "lane:lake,job:nightly" };
    expect(
      await byTrino("SELECT 1", { "x-trino-session": "gateway.tags=lane%3Alake", ...tags }),
    ).toBeUndefined();
    const sent = trino.seen.find(({ headers }) =>
      String(headers["x-trino-client-tags"]).includes("job:nightly"),
    );
    const [ours, ...others] = String(sent?.headers["x-trino-client-tags"]).split(",").toReversed();
    expect(others.toSorted()).toEqual(["job:nightly", "lane:lake", "team:data"]);
    expect(ours).toMatch(/^gateway\//);
    expect(sent?.headers["x-trino-session"] ?? "").not.toContain("gateway.tags");
  });
});

/** The error's text. */
async function byTrino(
  sql: string,
  more: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const headers = { "x-trino-user": "ann", ...more };
  const first = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  let answer = await fetch(first, { method: "POST", body: sql, headers });
  for (;;) {
    const page = (await answer.json()) as { nextUri?: string; error?: { message: string } };
    if (page.nextUri === undefined) return page.error?.message;
    answer = await fetch(page.nextUri, { headers });
  }
}

async function byMcp(
  sql: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const url = new URL(`http://${host}:${portOf(gateway, "mcp")}/mcp`);
  const client = new Client({ name: "tagged", version: "1.0" });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const answer = await client.callTool({ name: "execute_query", arguments: { sql } });
  await client.close();
  const told = answer.structuredContent as { readonly error?: { readonly message: string } };
  return told.error?.message;
}
