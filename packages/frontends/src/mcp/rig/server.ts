/** Open listeners and their clients for the tests of this folder. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Door } from "@gateway/core/port/door.ts";
import { PolledQueries } from "@gateway/core/run/poll/polled.ts";
import { afterEach } from "vitest";
import type { AskedElsewhere, Carrier, RelayedRequest } from "../../listener/elsewhere.ts";
import { suiteHost, type SuiteHost } from "../../rig/host.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { mcpConfig } from "../config.ts";
import { listen } from "../listen.ts";

export interface TestServer {
  readonly door: ScriptedDoor;
  readonly host: SuiteHost;
  readonly port: number;
  /** The endpoint. */
  readonly url: string;
  /** Posts a body as it is, as nobody unless the headers say otherwise. */
  post(body: string | object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** A client of the SDK that has begun its session. */
  client(user?: string, password?: string): Promise<Client>;
  /** The server's clocks go so much ahead; timers do not. */
  later(ms: number): void;
  drain(deadline: AbortSignal): Promise<void>;
  /** A request that another gateway's client sent. */
  relayed(asked: AskedElsewhere): void;
}

const fleetKey = new Uint8Array(32).fill(7);
const servers: TestServer[] = [];
const clients: Client[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(servers.splice(0).map((server) => server.drain(AbortSignal.abort())));
});

/** A listener on a free port over a scripted door that parks its queries as the gateway does. */
export async function opened(
  script: Script,
  config: Readonly<Record<string, unknown>> = {},
  elsewhere?: Carrier,
): Promise<TestServer> {
  const real = suiteHost();
  let aheadMs = 0;
  const clock = {
    ...real.clock,
    nowMs: () => real.clock.nowMs() + aheadMs,
    unixMs: () => real.clock.unixMs() + aheadMs,
  };
  // Those who send requests on to each other share the keys of sessions.
  const keys = elsewhere === undefined ? {} : { fleetKeys: () => [fleetKey] };
  const host = { ...real, clock, ...keys };
  const door = parkingDoor(script, host);
  const parsed = mcpConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const listening = await listen(parsed, door, host, elsewhere);
  if (!listening.ok) throw new Error(listening.error.detail);
  const frontend = listening.value;
  const url = `http://127.0.0.1:${frontend.port}/mcp`;
  const server: TestServer = {
    door,
    host,
    port: frontend.port,
    url,
    post: (body, headers = {}) => postTo(url, body, headers),
    client: (user, password) => clientOf(url, basicOf(user, password)),
    later: (ms) => void (aheadMs += ms),
    drain: (deadline) => frontend.drain(deadline),
    // What a request is read of is there, whoever read it.
    relayed: (asked) => frontend.relayed?.(asked as RelayedRequest),
  };
  servers.push(server);
  return server;
}

/** A client of the SDK with these headers; the end of the test closes it. */
export async function clientOf(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = new Client({ name: "tester", version: "7.1" });
  clients.push(client);
  await client.connect(transport);
  return client;
}

/** The header of a login; empty for nobody. */
export function basicOf(user?: string, password = ""): Readonly<Record<string, string>> {
  if (user === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}

/** What every client of the protocol sends along. */
export const plainHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
} as const;

function postTo(
  url: string,
  body: string | object,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(url, { method: "POST", headers: { ...plainHeaders, ...headers }, body: text });
}

/** A JSON-RPC request. */
export function requestOf(method: string, params: object = {}, id: string | number = 1): object {
  return { jsonrpc: "2.0", id, method, params };
}

/** A call of a tool as a JSON-RPC request. */
export function callOf(name: string, args: object, id: string | number = 1): object {
  return requestOf("tools/call", { name, arguments: args }, id);
}

/** The first message of a session. */
export const initialize = requestOf("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});

/** What a tool answered, as its structure. */
export interface Told {
  readonly status?: string;
  readonly queryId?: string;
  readonly rows?: readonly (readonly unknown[])[];
  readonly firstRow?: number;
  readonly complete?: boolean;
  readonly truncated?: readonly string[];
  readonly handle?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly retry: string };
  readonly [more: string]: unknown;
}

export interface ToolAnswer {
  readonly told: Told;
  readonly text: string;
  readonly failed: boolean;
}

/** Calls a tool. */
export async function call(client: Client, name: string, args: object = {}): Promise<ToolAnswer> {
  const answer = await client.callTool({ name, arguments: { ...args } });
  const [content] = answer.content as readonly { readonly text: string }[];
  return {
    told: answer.structuredContent as Told,
    text: content?.text ?? "",
    failed: answer.isError === true,
  };
}

function parkingDoor(script: Script, host: SuiteHost): ScriptedDoor {
  const door = scriptedDoor(script);
  const polled = new PolledQueries(host);
  const parked: Pick<Door, "start" | "resume" | "cancel"> = {
    start: (query) => polled.start(query, (started, signal) => door.run(started, signal)),
    resume: (id, owner) => polled.resume(id, owner),
    cancel: async (id, by) => polled.cancel(id, by),
  };
  return Object.assign(door, parked);
}
