/** What the frontend says about itself and, to its owner, about a query. */
import type { ServerInfo } from "@gateway/wire/trino/results.ts";
import { durationText } from "@gateway/wire/trino/results.ts";
import { queryError } from "./errors.ts";
import type { PolledStatement } from "./run/polledStatement.ts";

/** Clients take the leading number for the version of the protocol's features. */
export const version = "476-gateway";

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

/** `GET /v1/query/{id}`: the few fields that clients look at. */
export function queryInfo(statement: PolledStatement, nowMs: number): unknown {
  const { progress, polled } = statement;
  const { id, sql, session, receivedAtMs } = polled.query;
  const error = progress.error === undefined ? undefined : queryError(progress.error, undefined);
  const elapsedMs = nowMs - receivedAtMs;
  return {
    queryId: id,
    state: progress.state,
    query: sql,
    session: {
      queryId: id,
      user: session.identity.user,
      catalog: session.catalog,
      schema: session.schema,
    },
    queryStats: {
      elapsedTime: durationText(elapsedMs),
      queuedTime: durationText(progress.stats?.queueMs ?? progress.queuedMs ?? elapsedMs),
      executionTime: durationText(progress.stats?.executionMs ?? 0),
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
