/**
 * The engine's own time limit of a statement, set as a parameter of its connection before the statement,
 * unless the connection has it already. It is set again behind a statement that may have changed it, and
 * behind one that failed and perhaps never set it.
 */
import type { Identified } from "@gateway/core/query/query.ts";
import type { Taken } from "./client/connections.ts";
import type { Profile } from "./profile.ts";

/** Statements that set the limit of a connection. */
export interface LimitStatements {
  set(secs: number): string;
  /** Back to what the connection began with. */
  readonly unset: string;
  readonly secsMax: number;
}

/** A connection's limit in seconds; undefined is what it began with. */
export interface LimitState {
  secs: number | "unknown" | undefined;
}

/**
 * Words of statements that may change parameters of their session, directly or in a procedure. Too many is
 * fine: each only costs setting the limit again. A limit that a text sets itself counts from the next
 * statement on.
 */
const changing =
  /statement_timeout|\b(?:call|procedure|execute|session|begin|declare)\b|\btable\s*\(/i;

/** Statements that give the connection the query's limit, which it is taken to have from then on. */
export function limitStatements(
  { limit }: Profile,
  taken: Pick<Taken, "limit">,
  { engineSql, maxExecutionMs }: Pick<Identified, "engineSql" | "maxExecutionMs">,
): readonly string[] {
  if (limit === undefined) return [];
  const secs =
    maxExecutionMs === undefined
      ? undefined
      : Math.min(limit.secsMax, Math.max(1, Math.floor(maxExecutionMs / 1_000)));
  const before = taken.limit.secs;
  // No limit was ever set here, so what a client sets concerns nobody else.
  if (before === undefined && secs === undefined) return [];
  taken.limit.secs = changing.test(engineSql) ? "unknown" : secs;
  if (before === secs) return [];
  return [secs === undefined ? limit.unset : limit.set(secs)];
}
