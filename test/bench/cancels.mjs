/**
 * `npm run bench cancels`: from the moment when a client cancels until its query has ended in the engine and its slot is
 * free, for every way in which clients of the newer wires do that. The query would run for minutes.
 */
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { spread } from "./figures.mjs";
import { flightReader } from "./flightReader.mjs";
import { configOf, startGateway } from "./gateway.mjs";

const rounds = 10;
const slow =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
/** Names its columns at once, and has rows without an end. */
const endless = "select hash(i) as h from range(1000000000000) t(i)";

export async function cancelRows() {
  const config = configOf().replace(
    / {4}trinoHttp.*\n.*\n.*\n/,
    ["flightSql", "clickhouseHttp", "mcp"]
      .map((kind) => `    ${kind}: {host: 127.0.0.1, port: 0}\n`)
      .join(""),
  );
  const gateway = await startGateway(config);
  const running = runningAt(gateway.ports.adminApi);
  const mcp = await mcpClient(gateway.ports.mcp);
  const flight = flightReader(gateway.ports.flightSql);
  const clickhouse = clickhouseAt(gateway.ports.clickhouseHttp);
  const ways = {
    "Flight: CancelFlightInfo": async () => {
      const info = await flight.info(endless);
      return () => flight.cancel(info);
    },
    "Flight: the client leaves": async () => flight.leaving(slow),
    "ClickHouse: KILL QUERY": async () => {
      const id = `cancel-${performance.now()}`;
      const asked = clickhouse(slow, { id });
      return async () => {
        await clickhouse(`KILL QUERY WHERE query_id = '${id}' SYNC`);
        await asked;
      };
    },
    "ClickHouse: the client leaves": async () => {
      const leaving = new AbortController();
      void clickhouse(slow, { signal: leaving.signal });
      return () => leaving.abort();
    },
    "MCP: cancel_query": async () => {
      const { handle } = await mcp.call("execute_query", { sql: slow, waitSecs: 0 });
      return () => mcp.call("cancel_query", { handle });
    },
    "MCP: notifications/cancelled": async () => {
      const leaving = new AbortController();
      mcp.call("execute_query", { sql: slow }, { signal: leaving.signal }).catch(() => undefined);
      return () => leaving.abort();
    },
  };
  try {
    const rows = [];
    for (const [what, begin] of Object.entries(ways)) {
      const taken = [];
      for (let round = 0; round <= rounds; round += 1) taken.push(await timed(begin, running));
      // The first round loads code.
      rows.push({ what, "ms to the engine's end": spread(taken.slice(1), 0) });
    }
    return rows;
  } finally {
    await mcp.close();
    flight.close();
    await gateway.stop();
  }
}

async function timed(begin, running) {
  const cancel = await begin();
  await running.until(1);
  const fromMs = performance.now();
  const told = Promise.resolve(cancel());
  await running.until(0);
  const ms = performance.now() - fromMs;
  await told;
  return ms;
}

/** What the gauge says: a query is out of it when its engine has ended it. */
function runningAt(port) {
  const now = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line.startsWith("gateway_running_queries{"));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  return {
    until: async (wanted) => {
      while ((await now()) !== wanted);
    },
  };
}

function clickhouseAt(port) {
  return async (sql, { id, signal } = {}) => {
    const query = id === undefined ? "" : `&query_id=${id}`;
    const options = { method: "POST", body: sql, ...(signal === undefined ? {} : { signal }) };
    return fetch(`http://127.0.0.1:${port}/?user=bench${query}`, options)
      .then((answer) => answer.text())
      .catch(() => undefined);
  };
}

async function mcpClient(port) {
  const headers = { authorization: `Basic ${Buffer.from("bench:x").toString("base64")}` };
  const client = new McpClient({ name: "bench", version: "1" });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return {
    call: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, undefined, options)).structuredContent,
    close: () => client.close(),
  };
}
