/** What the frontend says about itself and, to its owner, about a query. */
import { listItems, requestHeader } from "@gateway/wire/trino/headers.ts";
import type { ServerInfo } from "@gateway/wire/trino/results.ts";
import { durationText } from "@gateway/wire/trino/results.ts";
import { queryError } from "./errors.ts";
import type { QueryFacts } from "./page/recent.ts";
import { EndedStatement, type Statement } from "./run/ended.ts";

/**
 * The version whose protocol is spoken, before whatever engine: clients ask before they have a session. They
 * read it as a number, and those that want to know whom they talk to read the environment.
 */
export const version = "476";

/** `GET /v1/info`. */
export function serverInfo(uptimeMs: number, starting: boolean): ServerInfo {
  return {
    nodeVersion: { version },
    environment: "gateway",
    coordinator: true,
    starting,
    uptime: durationText(uptimeMs),
  };
}

/** What is known of it now. */
export function factsOf(statement: Statement, nowMs: number): QueryFacts {
  if (statement instanceof EndedStatement) return statement.facts;
  const { id, sql, session, receivedAtMs } = statement.polled.query;
  const { identity, catalog, schema, headers } = session;
  const { state, error, queuedMs, stats } = statement.progress;
  const queueMs = stats?.queueMs ?? queuedMs;
  const executionMs = stats?.executionMs ?? 0;
  const progress = { state, error, queueMs, executionMs };
  return { id, sql, identity, catalog, schema, headers, progress, elapsedMs: nowMs - receivedAtMs };
}

/** `GET /v1/query/{id}`: the fields that clients look at. */
export function queryInfo(facts: QueryFacts): object {
  const { id, sql, progress, elapsedMs } = facts;
  const error = progress.error === undefined ? undefined : queryError(progress.error, undefined);
  return {
    queryId: id,
    state: progress.state,
    query: sql,
    session: sessionInfo(facts),
    queryStats: {
      elapsedTime: durationText(elapsedMs),
      queuedTime: durationText(progress.queueMs ?? elapsedMs),
      executionTime: durationText(progress.executionMs),
    },
    ...(error === undefined
      ? {}
      : {
          errorType: error.errorType,
          errorCode: { code: error.errorCode, name: error.errorName, type: error.errorType },
          failureInfo: error.failureInfo,
        }),
  };
}

/** `GET /v1/query`: the same of several, and where each is. */
export function queryList(
  all: readonly QueryFacts[],
  state: string | null,
  baseUrl: string,
): unknown {
  const wanted = state?.toUpperCase();
  return all
    .filter(({ progress }) => wanted === undefined || progress.state === wanted)
    .map((facts) => Object.assign(queryInfo(facts), { self: `${baseUrl}/v1/query/${facts.id}` }));
}

/** What the client said of itself, as it said it. */
function sessionInfo({ id, identity, catalog, schema, headers }: QueryFacts): unknown {
  return {
    queryId: id,
    user: identity.user,
    catalog,
    schema,
    source: headers.get(requestHeader.source),
    traceToken: headers.get(requestHeader.traceToken),
    clientInfo: headers.get(requestHeader.clientInfo),
    clientTags: listItems(headers.get(requestHeader.clientTags) ?? ""),
    userAgent: headers.get("user-agent"),
  };
}
