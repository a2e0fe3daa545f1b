/** The gateway's own questions to the server, asked with mysql2: lists, KILL. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { QueryError } from "mysql2";
import { errorOf } from "../errors.ts";
import type { Member } from "./member.ts";

export type Rows = readonly (readonly unknown[])[];

/** Every row of a small answer. The connection is closed when the signal comes first. */
export async function ask(
  member: Member,
  sql: string,
  signal: AbortSignal,
): Promise<Result<Rows, GatewayError>> {
  return await driven<Rows>(member, signal, (settle) => {
    member.driver.query({ sql, rowsAsArray: true }, (error, rows) =>
      settle(
        error === null ? ok(Array.isArray(rows) ? (rows as Rows) : []) : err(readFailure(error)),
      ),
    );
  });
}

async function driven<T>(
  member: Member,
  signal: AbortSignal,
  begin: (settle: (result: Result<T, GatewayError>) => void) => void,
): Promise<Result<T, GatewayError>> {
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  using _driving = member.drive();
  const destroy = (): void => member.destroy();
  signal.addEventListener("abort", destroy, { once: true });
  let settle: (result: Result<T, GatewayError>) => void = nothing;
  const settled = new Promise<Result<T, GatewayError>>((resolve) => {
    settle = resolve;
  });
  // A connection that is destroyed answers nothing any more.
  using _ended = member.ended(() => {
    settle(err(gatewayError(signal.aborted ? "query.cancelled" : "engine.broken")));
  });
  try {
    begin(settle);
    return await settled;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}

function readFailure(error: QueryError): GatewayError {
  const { errno, sqlState } = error as QueryError & { readonly sqlState?: string };
  if (typeof errno !== "number" || sqlState === undefined) {
    return gatewayError("engine.broken", { detail: error.code });
  }
  return errorOf({ number: errno, sqlState: sqlState.replace("#", ""), message: error.message });
}

function nothing(): void {}
