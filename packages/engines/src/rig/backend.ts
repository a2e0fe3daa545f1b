/** What tests of engines share: a host, a query at the end of its way, and what a statement answered. */
import { sessionOf } from "@gateway/core/rig/session.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Lane } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Identified, QueryId, Session } from "@gateway/core/query/query.ts";
import type { Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column, Parameter, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";

/** What a statement answered, read to its end. */
export interface Ran {
  readonly kinds: readonly ResultEvent["kind"][];
  readonly columns: readonly Pick<Column, "name" | "type" | "engineType" | "numeric">[];
  readonly rows: readonly (readonly Value[])[];
  readonly last: ResultEvent | undefined;
}

/** A signal that is never aborted. */
export const never = new AbortController().signal;

/** Runs a statement to its end. */
export async function ran(
  lane: Pick<Lane, "execute">,
  sql: string,
  more: Partial<Pick<Identified, "parameters" | "maxExecutionMs">> & {
    readonly signal?: AbortSignal;
    readonly session?: Partial<Session>;
  } = {},
): Promise<Ran> {
  const asked = identifiedOf(sql, more.parameters, more.session);
  const query = { ...asked, maxExecutionMs: more.maxExecutionMs };
  const kinds: ResultEvent["kind"][] = [];
  const rows: (readonly Value[])[] = [];
  let columns: Ran["columns"] = [];
  let last: ResultEvent | undefined;
  for await (const event of lane.execute(query, more.signal ?? new AbortController().signal)) {
    // How far the work is may be said at any time, and is no part of the answer.
    if (event.kind === "progress") continue;
    kinds.push(event.kind);
    last = event;
    if (event.kind === "columns") columns = event.columns;
    if (event.kind !== "batch") continue;
    const batch = columnarOf(event.batch);
    for (let row = 0; row < batch.rows; row += 1) {
      rows.push(batch.columns.map((column) => valueAt(column, row)));
    }
  }
  return { kinds, columns, rows, last };
}

/** The error code of a failed statement; undefined when it went well. */
export function codeOf({ last }: Ran): string | undefined {
  return last?.kind === "failed" ? last.error.code : undefined;
}

/** The value of a result that must be one. */
export function valueOf<T>(result: Result<T, GatewayError>): T {
  if (!result.ok)
    throw new Error(`${result.error.code}: ${result.error.detail ?? result.error.message}`);
  return result.value;
}

/** A host of this process, with the threads of the bundle and a silent log. */
export function hostOf(): Host {
  return nodeHost(new URL("../../../gateway/dist/", import.meta.url), "silent");
}

/** A query at the end of its way to the engine. */
export function identifiedOf(
  sql: string,
  parameters: readonly Parameter[] = [],
  session: Partial<Session> = {},
): Identified {
  return {
    id: "suite" as QueryId,
    sql,
    statement: readStatement(sql, session.dialect ?? "duckdb"),
    allowedSql: sql,
    engineSql: sql,
    maxExecutionMs: undefined,
    parameters,
    takes: [],
    receivedAtMs: 0,
    group: "suite",
    trace: [],
    backendIdentity: { mode: "serviceAccount" },
    slot: {
      cluster: "suite",
      fence: 0,
      holder: "suite/0",
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    session: sessionOf({
      frontend: "suite",
      identity: { user: "somebody", groups: [], roles: [], method: "none" },
      dialect: "duckdb",
      ...session,
    }),
  };
}
