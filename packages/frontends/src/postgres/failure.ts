/** A step of the protocol that failed, and where in the client's text it points. */
import type { GatewayError } from "@gateway/core/error.ts";
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
