/** A step of the protocol that failed, and where in the client's text it points. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { ErrorPlace } from "./errors.ts";
import type { Prepared } from "./read/statement.ts";

/** A step that failed, and where to point at. */
export interface Failure {
  readonly error: GatewayError;
  readonly place: ErrorPlace;
}

/** A failure that points nowhere unless `place` says where. */
export function failure(error: GatewayError, place: ErrorPlace = {}): Failure {
  return { error, place };
}

/** Where errors of a prepared statement point, with the id of its query if one ran. */
export function placeOf(prepared: Prepared, queryId?: string): ErrorPlace {
  const place = { sql: prepared.text, statementStart: prepared.start };
  return queryId === undefined ? place : { ...place, queryId };
}

/** Nothing runs in a transaction that failed. */
export async function* refusal(): ResultStream {
  yield { kind: "failed", error: gatewayError("query.transactionAborted") };
}

/** The engines changed behind the session's back: what it set for a server of PostgreSQL would be lost. */
export async function* notFollowed(name: string): ResultStream {
  const message = `the engine does not follow ${name}`;
  yield { kind: "failed", error: gatewayError("query.unsupported", { message }) };
}
