/** The SDK's own client of MCP over the real pipeline and a real DuckDB: tools, resources, writes, a cancel that reaches the engine. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewayOf, portOf, type TestGateway } from "../gateway.ts";

let gateway: TestGateway;
let client: Client;
/** The same agent where its group lets it write. */
let writer: Client;

const group = { members: ["local"], maxRunningQueries: 4 };

beforeAll(async () => {
  gateway = await gatewayOf({
    gateway: {
      frontends: { mcp: { host: "127.0.0.1", port: 0 } },
      adminApi: { host: "127.0.0.1", port: 0 },
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { reading: group, writing: { ...group, agentWrites: true } },
    // By what an operator sets in the client, and not by a text that the agent writes.
    routers: [{ type: "header", headerName: "x-desk", headerValueToGroup: { load: "writing" } }],
    routingFallback: "reading",
    auth: { provider: "none" },
  });
  client = await clientOf({});
  writer = await clientOf({ "x-desk": "load" });
  await client.listTools();
  const sql = "CREATE TABLE orders AS SELECT i AS id, i * 1.5 AS price FROM range(1000) r(i)";
  const made = await tool("execute_query", { sql }, writer);
  if (made.status !== "finished") throw new Error(JSON.stringify(made));
}, 30_000);

afterAll(async () => {
  await Promise.all([client.close(), writer.close()]);
  await gateway[Symbol.asyncDispose]();
});

describe("an agent", () => {
  it("finds a table, describes it, and reads it page by page", async () => {
    expect(await tool("list_tables", { search: "order" })).toMatchObject({
      tables: [{ schema: "main", name: "orders", kind: "table", columns: 2 }],
    });
    expect(await tool("describe_table", { table: "orders" })).toMatchObject({
      table: { columns: [{ name: "id", type: "int64" }, { name: "price" }] },
    });
    const sql = "SELECT id FROM orders ORDER BY id";
    let page = await tool("execute_query", { sql, maxRows: 400, keepOpen: true });
    const ids = [...page.rows];
    while (page.handle !== undefined) {
      page = await tool("get_query_status", { handle: page.handle, maxRows: 400 });
      ids.push(...page.rows);
    }
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, id) => [id]));
    expect(page.complete).toBe(true);
  });

  it("reads a schema as a resource", async () => {
    const { resources } = await client.listResources();
    const uri = resources[0]?.uri ?? "";
    const { contents } = await client.readResource({ uri });
    expect(JSON.stringify(contents)).toContain("orders");
  });

  it("sees the plan of a query", async () => {
    const { rows } = await tool("explain_query", { sql: "SELECT count(*) FROM orders" });
    expect(JSON.stringify(rows)).toContain("orders");
  });

  it("may write only where the group says so", async () => {
    const sql = "DELETE FROM orders WHERE id < 0";
    expect(await tool("execute_query", { sql })).toMatchObject({
      status: "failed",
      error: { code: "policy.denied" },
    });
    expect(await tool("execute_query", { sql }, writer)).toMatchObject({
      statement: "DELETE",
      affectedRows: 0,
    });
  });

  it("ends its query in the engine, and the slot is free again", async () => {
    const sql = "SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)";
    const { handle, status } = await tool("execute_query", { sql, waitSecs: 0.2 });
    expect(["queued", "running"]).toContain(status);
    expect(await tool("cancel_query", { handle })).toEqual({ cancelled: true });
    const after = await tool("get_query_status", { handle });
    expect(after).toMatchObject({ error: { code: "query.cancelled" } });
    const isFree = /^gateway_running_queries\{[^}]*"reading"[^}]*\} 0$/m;
    while (!isFree.test(await gateway.metrics())) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});

interface Told {
  readonly rows: readonly (readonly unknown[])[];
  readonly handle?: string;
  readonly complete?: boolean;
  readonly status?: string;
}

async function clientOf(headers: Readonly<Record<string, string>>): Promise<Client> {
  const url = new URL(`http://127.0.0.1:${portOf(gateway, "mcp")}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const made = new Client({ name: "e2e", version: "1.0" });
  await made.connect(transport);
  return made;
}

async function tool(name: string, args: object, by: Client = client): Promise<Told> {
  const answer = await by.callTool({ name, arguments: { ...args } });
  return answer.structuredContent as Told;
}
