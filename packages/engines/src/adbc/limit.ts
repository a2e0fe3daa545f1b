/**
 * The engine's own time limit of a statement, as a parameter of its connection: said before the statement
 * where the connection does not have it already. What a statement may have done to it, or failed before,
 * is said anew.
 */
import type { Identified } from "@gateway/core/query/query.ts";
import type { Taken } from "./client/connections.ts";
import type { Profile } from "./profile.ts";

/** How an engine's connections are told. */
export interface LimitStatements {
  set(secs: number): string;
  /** Makes it what the connection began with. */
  readonly unset: string;
  readonly secsMax: number;
}

/** A connection's limit in seconds; undefined is what it began with. */
export interface LimitState {
  secs: number | "unknown" | undefined;
}

/**
 * Words of statements that may change a parameter of their session, themselves or in a procedure. Read
 * widely, because the price is to say the limit again; in a text of its own a limit counts from the next
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
  // Where none was ever said, what a client says of it is for itself.
  if (before === undefined && secs === undefined) return [];
  taken.limit.secs = changing.test(engineSql) ? "unknown" : secs;
  if (before === secs) return [];
  return [secs === undefined ? limit.unset : limit.set(secs)];
}
