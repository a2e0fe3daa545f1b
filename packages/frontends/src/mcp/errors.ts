/**
 * Every code of the catalogue as MCP shows it: the status of a request that is refused as a whole, the number of
 * a JSON-RPC error, and the result of a tool that failed.
 *
 * A failed query is a tool's result with `isError`, so that the model reads it and can mend its statement.
 * JSON-RPC errors are for what no statement is to blame for.
 */
import { errorCatalogue, type ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "@gateway/core/error.ts";

interface McpCode {
  /** Status of a refused request. 200 where only a call can meet it. */
  readonly status: 200 | 400 | 401 | 403 | 404 | 408 | 413 | 500 | 503;
  /** Number of the JSON-RPC error. Below -32000 and above -32100 are the server's own. */
  readonly rpc: number;
}

/** JSON-RPC 2.0 §5.1, and MCP's own for a resource that is not there. */
const invalidRequest = -32600;
const internalError = -32603;
const resourceNotFound = -32002;
const refused = -32001;
const failed = -32000;
const busy = -32003;

export const mcpErrors = {
  "config.notReady": { status: 503, rpc: busy },
  "gateway.draining": { status: 503, rpc: busy },
  "internal.bug": { status: 500, rpc: internalError },
  "auth.required": { status: 401, rpc: refused },
  "auth.refused": { status: 401, rpc: refused },
  "auth.cleartext": { status: 403, rpc: refused },
  "auth.expired": { status: 401, rpc: refused },
  "auth.unavailable": { status: 503, rpc: busy },
  "auth.noBackendIdentity": { status: 200, rpc: refused },
  "policy.denied": { status: 200, rpc: refused },
  "policy.unavailable": { status: 200, rpc: busy },
  "script.failed": { status: 200, rpc: internalError },
  "script.busy": { status: 200, rpc: busy },
  "translation.busy": { status: 200, rpc: busy },
  "route.denied": { status: 200, rpc: refused },
  "route.forbidden": { status: 200, rpc: refused },
  "route.noGroup": { status: 200, rpc: failed },
  "capacity.queueFull": { status: 200, rpc: busy },
  "capacity.timeout": { status: 200, rpc: busy },
  "capacity.lost": { status: 200, rpc: busy },
  "capacity.statementText": { status: 200, rpc: busy },
  "connection.limit": { status: 503, rpc: busy },
  "cluster.unavailable": { status: 200, rpc: busy },
  "cluster.connectFailed": { status: 200, rpc: busy },
  "engine.failed": { status: 200, rpc: failed },
  "engine.resources": { status: 200, rpc: busy },
  "engine.crashed": { status: 200, rpc: busy },
  "engine.broken": { status: 200, rpc: failed },
  "query.syntax": { status: 200, rpc: failed },
  "query.unknownObject": { status: 200, rpc: resourceNotFound },
  "query.invalid": { status: 200, rpc: failed },
  "query.data": { status: 200, rpc: failed },
  "query.constraint": { status: 200, rpc: failed },
  "query.conflict": { status: 200, rpc: failed },
  "query.permission": { status: 200, rpc: refused },
  "query.unsupported": { status: 200, rpc: failed },
  "query.parameters": { status: 200, rpc: failed },
  "query.transaction": { status: 200, rpc: failed },
  "query.transactionAborted": { status: 200, rpc: failed },
  "query.idleInTransaction": { status: 200, rpc: failed },
  "query.transactionTimeout": { status: 200, rpc: failed },
  "query.cancelled": { status: 200, rpc: failed },
  "query.abandoned": { status: 200, rpc: failed },
  "query.timeout": { status: 200, rpc: failed },
  "query.tooManyRows": { status: 200, rpc: failed },
  "query.textTooLarge": { status: 200, rpc: failed },
  "query.unknown": { status: 200, rpc: failed },
  "query.elsewhere": { status: 200, rpc: busy },
  "protocol.violation": { status: 400, rpc: invalidRequest },
  "protocol.tooLarge": { status: 413, rpc: invalidRequest },
  "protocol.timeout": { status: 408, rpc: invalidRequest },
} as const satisfies Record<ErrorCode, McpCode>;

/** An error as the model reads it. Public: nothing of `detail` and no value of a foreign row. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do next: change something, the same again later, or the same again over a new connection. */
  readonly retry: "never" | "later" | "reconnect";
  readonly retryAfterMs?: number;
  /** In the statement's text, counted from 1. */
  readonly position?: number;
  readonly hint?: string;
  readonly sqlState?: string;
}

/** The error for an answer. `position` goes only with the client's own text. */
export function toldError(error: GatewayError, showsPosition: boolean): ToldError {
  const { code, message, position, hint, sqlState, retryAfterMs } = error;
  return {
    code,
    message,
    retry: errorCatalogue[code].retry,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(position === undefined || !showsPosition ? {} : { position }),
    ...(hint === undefined ? {} : { hint }),
    ...(sqlState === undefined ? {} : { sqlState }),
  };
}

/**
 * The body of a request that is refused as a whole: nobody knows its id by then (JSON-RPC 2.0 §5). `rpc`: another
 * number than the code's own.
 */
export function refusalBody(error: GatewayError, rpc: number = mcpErrors[error.code].rpc): string {
  const { code, message, retryAfterMs } = error;
  const data = { code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: rpc, message, data } });
}
