/** Statements about a transaction when none is open. No engine is asked. */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { LastEvent, Stage } from "../../query/event.ts";
import type { Result } from "../../result.ts";
import type { Division } from "../../sql/session/statement.ts";
import type { OpenQuery } from "../step/lifecycle.ts";
import { divideNothing, wordsOf } from "./savepoints.ts";
import { outcomeOf, type EndWish } from "./wish.ts";

/** COMMIT or ROLLBACK: PostgreSQL and MySQL both answer success, unless another is to follow. */
export async function* endOutside({ kind, chain, prepares }: EndWish, open: OpenQuery): Stage {
  if (chain) {
    const message = `${kind.toUpperCase()} AND CHAIN can only be used in transaction blocks`;
    const error = gatewayError("query.transaction", { sqlState: "25P01", message });
    return { kind: "failed", error };
  }
  yield { kind: "notice", code: "noTransaction", text: "there is no transaction in progress" };
  yield { kind: "session", change: { kind: "unpinned", outcome: outcomeOf[kind] } };
  // Nothing was prepared, and PostgreSQL says so by this word.
  const updateType = prepares ? "ROLLBACK" : kind.toUpperCase();
  return { kind: "done", stats: open.live.stats(), updateType };
}

/** A savepoint's statement. */
export function divideOutside(
  division: Result<Division, GatewayError>,
  open: OpenQuery,
): LastEvent {
  if (!division.ok) return { kind: "failed", error: division.error };
  const refused = divideNothing(division.value, open.query);
  if (refused !== undefined) return { kind: "failed", error: refused };
  const updateType = wordsOf[division.value.kind];
  return { kind: "done", stats: open.live.stats(), updateType };
}
