/** Open listeners and their clients for the tests of this folder. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { afterEach } from "vitest";
import type { Script, ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { suiteHost, type SuiteHost } from "../../rig/host.ts";
import type { AskedElsewhere, Elsewhere, RelayedRequest } from "../../listener/elsewhere.ts";
import { trinoConfig } from "../config.ts";
import type { HttpTimes } from "../../listener/http/serving.ts";
import { listenWith, times } from "../listen.ts";
import { batchOfNumbers, done, numbers, parkingDoor } from "./trino.ts";

export interface TestServer {
  readonly door: ScriptedDoor;
  readonly host: SuiteHost;
  readonly port: number;
  readonly url: string;
  /** A request to the listener; `user` is claimed unless the headers say otherwise. */
  ask(path: string, init?: RequestInit & { readonly sql?: string }): Promise<Response>;
  /** Posts a statement and follows its links to the end; every answer in order. */
  follow(sql: string, headers?: Readonly<Record<string, string>>): Promise<readonly PageAnswer[]>;
  /** The server's clock goes so much ahead; timers do not. */
  later(ms: number): void;
  drain(deadline: AbortSignal): Promise<void>;
  /** A request that another gateway's client sent. */
  relayed(asked: AskedElsewhere): void;
  stop(): Promise<void>;
}

export interface PageAnswer {
  readonly headers: Headers;
  readonly results: QueryResults;
}

/** A listener on a free port over a scripted door. */
export async function serverOf(
  script: Script,
  config: Readonly<Record<string, unknown>> = {},
  limits: Partial<HttpTimes> = {},
  elsewhere?: Elsewhere,
): Promise<TestServer> {
  const real = suiteHost();
  let aheadMs = 0;
  const host = { ...real, clock: { ...real.clock, nowMs: () => real.clock.nowMs() + aheadMs } };
  const door = parkingDoor(script, host);
  const parsed = trinoConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const listening = await listenWith({ ...times, ...limits }, parsed, door, host, elsewhere);
  if (!listening.ok) throw new Error(listening.error.detail);
  const frontend = listening.value;
  const url = `http://127.0.0.1:${frontend.port}`;
  const ask: TestServer["ask"] = (path, { sql, ...init } = {}) => {
    const headers = { "x-trino-user": "alice", ...(init.headers as Record<string, string>) };
    const target = path.startsWith("http") ? path : url + path;
    const body = sql === undefined ? {} : { method: "POST", body: sql };
    return fetch(target, { ...body, ...init, headers });
  };
  return {
    door,
    host,
    port: frontend.port,
    url,
    ask,
    follow: (sql, headers = {}) => follow(ask, sql, headers),
    later: (ms) => void (aheadMs += ms),
    drain: (deadline) => frontend.drain(deadline),
    // What a request is read of is there, whoever read it.
    relayed: (asked) => frontend.relayed?.(asked as RelayedRequest),
    stop: () => frontend.drain(AbortSignal.abort()),
  };
}

async function follow(
  ask: TestServer["ask"],
  sql: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly PageAnswer[]> {
  const answers: PageAnswer[] = [];
  let response = await ask("/v1/statement", { sql, headers });
  for (;;) {
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const results = (await response.json()) as QueryResults;
    answers.push({ headers: response.headers, results });
    if (results.nextUri === undefined) return answers;
    response = await ask(results.nextUri, { headers });
  }
}

/** Every row of all answers to one statement. */
export function rowsOf(answers: readonly PageAnswer[]): readonly (readonly unknown[])[] {
  return answers.flatMap(({ results }) => results.data ?? []);
}

/** Sends bytes as they are and answers everything that comes until the server closes. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = await rawClient(port);
  socket.write(text);
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("latin1");
  });
  await once(socket, "close");
  return answer;
}

/** A connected socket whose errors end in "close". */
export async function rawClient(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const servers: TestServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A server that the end of the test stops. */
export async function opened(...args: Parameters<typeof serverOf>): Promise<TestServer> {
  const server = await serverOf(...args);
  servers.push(server);
  return server;
}

/** The answer to the POST of a statement. */
export async function start(server: TestServer, sql: string): Promise<QueryResults> {
  return (await (await server.ask("/v1/statement", { sql })).json()) as QueryResults;
}

/** A query that fails at once. */
export function failing(code: Parameters<typeof gatewayError>[0]) {
  return [{ kind: "failed", error: gatewayError(code) }] as const;
}

/** Sixty thousand numbers in six batches. */
export async function* manyBatches(): ResultStream {
  yield { kind: "columns", columns: numbers };
  for (let batch = 0; batch < 6; batch += 1) {
    yield batchOfNumbers(Array.from({ length: 10_000 }, (_, index) => batch * 10_000 + index));
  }
  yield done;
}

/** A query that runs until it is cancelled. */
export async function* untilAborted(_query: Query, signal: AbortSignal): ResultStream {
  yield { kind: "columns", columns: numbers };
  if (!signal.aborted) await once(signal, "abort");
  yield { kind: "failed", error: gatewayError("query.cancelled") };
}
