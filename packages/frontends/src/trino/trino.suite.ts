/** Statements, sessions and listeners for the tests of this folder. */
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import type { Door } from "@gateway/core/door.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/port/virtual.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { DoneEvent, QueryStats, ResultEvent } from "@gateway/core/query/event.ts";
import { PolledQueries, type RunQuery } from "@gateway/core/query/polled.ts";
import type { Query, QueryId } from "@gateway/core/query/query.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../scriptedDoor.ts";
import { suiteHost, type SuiteHost } from "../suite/host.suite.ts";
import { trinoConfig } from "./config.ts";
import { listenWith, times, type HttpTimes } from "./listen.ts";
import { pageHead, pageTail, type Page } from "./page.ts";
import { sessionFrom, type TrinoSession } from "./session.ts";
import { Statement, type StatementParts } from "./statement.ts";

export const stats: QueryStats = { queueMs: 1, executionMs: 2, rows: 3, bytes: 4 };
export const done: DoneEvent = { kind: "done", stats };

/** One bigint column. */
export const numbers: readonly Column[] = [
  columnOf("n", { kind: "integer", bits: 64, signed: true }),
];

/** The events of a whole result. */
export function resultOf(
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
): readonly ResultEvent[] {
  return [{ kind: "columns", columns }, { kind: "batch", batch: batchOf(columns, rows) }, done];
}

/** A batch event of numbers. */
export function batchOfNumbers(values: readonly number[]): ResultEvent {
  const vector: Vector = {
    type: { kind: "integer", bits: 64, signed: true },
    length: values.length,
    offset: 0,
    validity: undefined,
    values: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
    offsets: undefined,
    children: [],
  };
  return { kind: "batch", batch: { form: "columnar", rows: values.length, columns: [vector] } };
}

export const alice: Login = {
  identity: { user: "alice", groups: [], roles: [], method: "none" },
  credential: { kind: "none" },
};

/** The session of a request with these headers. */
export function sessionOf(headers: Readonly<Record<string, string>> = {}): TrinoSession {
  const session = sessionFrom(headers, alice, "127.0.0.1");
  if (!session.ok) throw new Error(session.error.message);
  return session.value;
}

/** A statement over scripted events, on a virtual clock. */
export function statementOf(run: RunQuery, more: Partial<StatementParts> = {}) {
  const host = virtualHost(1);
  const queries = new PolledQueries(host);
  const bugs: unknown[] = [];
  const statement = new Statement({
    polled: queries.start(queryOf("q1"), run),
    slug: "secret",
    clock: host.clock,
    sql: "SELECT 1",
    headersOf: () => [],
    endHeaders: [],
    report: (bug) => void bugs.push(bug),
    ...more,
  });
  return { host, queries, statement, bugs };
}

export function queryOf(id: string): Query {
  return {
    id: id as QueryId,
    sql: "SELECT 1",
    parameters: [],
    receivedAtMs: 0,
    session: sessionOf().session,
  };
}

/** Waits on the host's clock. */
export function elapsed(host: VirtualHost, ms: number): Promise<void> {
  return new Promise((resolve) => {
    host.clock.timer(ms, resolve);
  });
}

/** A page as a client reads it. */
export function resultsOf(page: Page | undefined): QueryResults {
  if (page === undefined) throw new Error("the page is gone");
  const links = { baseUrl: "http://localhost:8080", id: "q1", slug: "secret" };
  const rows = page.rows === undefined ? "" : new TextDecoder().decode(page.rows);
  return JSON.parse(pageHead(page, links) + rows + pageTail(page)) as QueryResults;
}

export interface TestServer {
  readonly door: ScriptedDoor;
  readonly host: SuiteHost;
  readonly port: number;
  readonly url: string;
  /** A request to the listener; `user` is claimed unless the headers say otherwise. */
  ask(path: string, init?: RequestInit & { readonly sql?: string }): Promise<Response>;
  /** Posts a statement and follows its links to the end; every answer in order. */
  follow(sql: string, headers?: Readonly<Record<string, string>>): Promise<readonly Answer[]>;
  drain(deadline: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly headers: Headers;
  readonly results: QueryResults;
}

/** A scripted door with the real parking place behind it. */
export function parkingDoor(script: Script, host: SuiteHost): ScriptedDoor {
  const door = scriptedDoor(script);
  const parking = new PolledQueries(host);
  const parked: Pick<Door, "start" | "resume" | "cancel"> = {
    start: (query) => parking.start(query, door.run),
    resume: (id, owner) => parking.resume(id, owner),
    cancel: (id, by) => parking.cancel(id, by),
  };
  return Object.assign(door, parked);
}

/** A listener on a free port over a scripted door. */
export async function serverOf(
  script: Script,
  config: Readonly<Record<string, unknown>> = {},
  limits: Partial<HttpTimes> = {},
): Promise<TestServer> {
  const host = suiteHost();
  const door = parkingDoor(script, host);
  const parsed = trinoConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const opened = await listenWith({ ...times, ...limits }, parsed, door, host);
  if (!opened.ok) throw new Error(opened.error.detail);
  const frontend = opened.value;
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
    drain: (deadline) => frontend.drain(deadline),
    stop: () => frontend.drain(AbortSignal.abort()),
  };
}

async function follow(
  ask: TestServer["ask"],
  sql: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let response = await ask("/v1/statement", { sql, headers });
  for (;;) {
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const results = (await response.json()) as QueryResults;
    answers.push({ headers: response.headers, results });
    if (results.nextUri === undefined) return answers;
    response = await ask(results.nextUri, { headers });
  }
}

/** Every row of a conversation. */
export function rowsOf(answers: readonly Answer[]): readonly (readonly unknown[])[] {
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
