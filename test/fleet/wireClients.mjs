/**
 * The clients whose queries outlive a request, each over a balancer that sends what it asks to worker after worker. Of
 * each: `cells`, which answers the rows of a statement, and `orphan`, which begins something at one worker and returns
 * how another one answers for it later.
 */
import { Agent as HttpAgent, request } from "node:http";
import { Client as FlightClient } from "@lancedb/arrow-flight-sql-client";
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import snowflake from "snowflake-sdk";
import { Agent, fetch as undiciFetch } from "undici";

const agent = new HttpAgent({ keepAlive: false });
/** Each request has a connection of its own. */
const dispatcher = new Agent({ pipelining: 0 });
const json = { "content-type": "application/json", accept: "application/json" };

snowflake.configure({ logLevel: "OFF", disableOCSPChecks: true, keepAlive: false });

/** Snowflake's own driver, over the protocol of its drivers: a session, a result in chunks. */
export async function snowflakeClient(port) {
  const connection = snowflake.createConnection({
    account: "fleet",
    accessUrl: `http://127.0.0.1:${port}`,
    username: "alice",
    password: "none",
  });
  await new Promise((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  return {
    cells: (sqlText) =>
      new Promise((resolve, reject) => {
        const complete = (error, _statement, rows) =>
          error ? reject(error) : resolve(rows.map((row) => Object.values(row)));
        connection.execute({ sqlText, complete });
      }),
    close: () => new Promise((resolve) => connection.destroy(resolve)),
  };
}

export async function snowflakeOrphan(owner) {
  const login = { data: { LOGIN_NAME: "alice", PASSWORD: "none" } };
  const path = "/session/v1/login-request?requestId=00000000-0000-4000-8000-000000000001";
  const { body } = await ask(owner, `POST ${path}`, login);
  const headers = { authorization: `Snowflake Token="${body.data.token}"` };
  const query = "/queries/v1/query-request?requestId=00000000-0000-4000-8000-000000000002";
  return async (other) => {
    const answer = await ask(other, `POST ${query}`, { sqlText: "select 1" }, headers);
    return String(answer.body.code);
  };
}

const bearer = { authorization: `Basic ${Buffer.from("alice:none").toString("base64")}` };

/** The SQL API: a statement that is polled, its result in partitions. */
export function sqlApiClient(port) {
  return {
    cells: async (statement) => {
      const begun = await ask(port, "POST /api/v2/statements?async=true", { statement }, bearer);
      let page = begun;
      while (page.status === 202)
        page = await ask(port, `GET ${begun.body.statementStatusUrl}`, undefined, bearer);
      if (page.status !== 200) throw new Error(`status ${page.status}: ${page.body.message}`);
      const rows = [...page.body.data];
      const { length } = page.body.resultSetMetaData.partitionInfo;
      for (let at = 1; at < length; at += 1) {
        const path = `${begun.body.statementStatusUrl.split("?")[0]}?partition=${at}`;
        const part = await ask(port, `GET ${path}`, undefined, bearer);
        if (part.status !== 200) throw new Error(`partition ${at}: ${part.status}`);
        rows.push(...part.body.data);
      }
      return rows;
    },
    close: async () => undefined,
  };
}

export async function sqlApiOrphan(owner) {
  const body = { statement: "select 1" };
  const begun = await ask(owner, "POST /api/v2/statements?async=true", body, bearer);
  return async (other) => {
    const answer = await ask(other, `GET ${begun.body.statementStatusUrl}`, undefined, bearer);
    return `${answer.status} ${answer.body.code}`;
  };
}

/** The npm client of Flight SQL. */
export async function flightClient(port) {
  const host = `127.0.0.1:${port}`;
  const client = await FlightClient.connect({
    host,
    username: "alice",
    password: "none",
    insecure: true,
  });
  return {
    cells: async (sql) =>
      (await (await client.query(sql)).collectToObjects()).map((row) => Object.values(row)),
    close: async () => undefined,
  };
}

/** The SDK's client of MCP. */
export async function mcpClient(port) {
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: bearer },
    fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }),
  });
  const client = new McpClient({ name: "fleet", version: "1" });
  await client.connect(transport);
  const call = async (name, args, options) => {
    const answer = await client.callTool({ name, arguments: args }, undefined, options);
    return answer.structuredContent;
  };
  return {
    call,
    cells: async (sql) => {
      const rows = [];
      let told = await call("execute_query", { sql, waitSecs: 0, maxRows: 10_000 });
      for (;;) {
        if (told.error !== undefined) throw new Error(told.error.message);
        rows.push(...(told.rows ?? []));
        if (told.handle === undefined) return rows;
        told = await call("get_query_status", { handle: told.handle, maxRows: 10_000 });
      }
    },
    close: () => client.close(),
  };
}

export async function mcpOrphan(owner) {
  const client = await mcpClient(owner);
  const { handle } = await client.call("execute_query", { sql: slow, waitSecs: 0 });
  return async (other) => {
    const asking = await mcpClient(other);
    const { error } = await asking.call("get_query_status", { handle });
    await asking.close();
    return error?.code;
  };
}

/** Runs for minutes unless it is interrupted. */
export const slow =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";

/** `what`: method and path. */
function ask(port, what, body, headers = {}) {
  const [method, path] = what.split(" ");
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, agent };
    const asked = request({ ...options, headers: { ...json, ...headers } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode, body: parsed(text) }));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
