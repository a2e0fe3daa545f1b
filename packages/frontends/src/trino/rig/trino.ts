/** Statements, sessions and batches for the tests of this folder. */
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { DoneEvent, QueryStats, ResultEvent } from "@gateway/core/query/event.ts";
import { PolledQueries, type RunQuery } from "@gateway/core/run/poll/polled.ts";
import type { Query, QueryId } from "@gateway/core/query/query.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import type { SuiteHost } from "../../rig/host.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { pageHead, type Page } from "../page/page.ts";
import { sessionFrom, type TrinoSession } from "../session/session.ts";
import { trinoText } from "../value/types.ts";
import { PolledStatement, type StatementParts } from "../run/polledStatement.ts";

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
  const statement = new PolledStatement({
    polled: queries.start(queryOf("q1"), run),
    linked: () => ({ queryId: "q1", userMark: new Uint8Array(16) }),
    linksTo: (token, phase) => ({
      path: `/v1/statement/${phase}/a1/${token}`,
      partialCancel: phase === "queued" ? undefined : `/v1/statement/partialCancel/a1/${token}`,
    }),
    style: trinoText,
    encoding: undefined,
    clock: host.clock,
    sql: "SELECT 1",
    headersOf: () => [],
    endHeaders: [],
    timeLimitMs: undefined,
    report: (bug) => void bugs.push(bug),
    ...more,
  });
  return { host, queries, statement, bugs };
}

export function queryOf(id: string): Query {
  return {
    id: id as QueryId,
    sql: "SELECT 1",
    statement: readStatement("SELECT 1", "trino"),
    parameters: [],
    takes: [],
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
  const links = { baseUrl: "http://localhost:8080", id: "q1" };
  return JSON.parse(pageHead(page, links) + dataText(page) + page.tail) as QueryResults;
}

/** The answer's rows and what stands around them. */
export function dataText({ data }: Page): string {
  if (data === undefined || typeof data === "string") return data ?? "";
  return data.before + new TextDecoder().decode(data.rows) + data.after;
}

/** A scripted door that parks its queries as the gateway does. */
export function parkingDoor(script: Script, host: SuiteHost): ScriptedDoor {
  const door = scriptedDoor(script);
  const polled = new PolledQueries(host);
  const parked: Pick<Door, "start" | "resume" | "cancel"> = {
    start: (query) => polled.start(query, (started, signal) => door.run(started, signal)),
    resume: (id, owner) => polled.resume(id, owner),
    cancel: async (id, by) => polled.cancel(id, by),
  };
  return Object.assign(door, parked);
}
