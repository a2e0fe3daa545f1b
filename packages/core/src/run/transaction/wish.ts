/** What a statement wants of the session's transaction, as its reader found. */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Outcome } from "../../query/event.ts";
import type { Query } from "../../query/query.ts";
import { err, ok, type Result } from "../../result.ts";
import type { Division } from "../../sql/session/statement.ts";
import type { Statement } from "../../sql/statement.ts";

export type Wish =
  | { readonly kind: "begin" }
  | EndWish
  /** Refused with `query.syntax` where it begins like a savepoint's statement and can not be read. */
  | { readonly kind: "divide"; readonly division: Result<Division, GatewayError> };

/**
 * `chain`: another transaction follows at once. `prepares`: the commit is `PREPARE TRANSACTION`, whose transaction waits
 * in the engine for another statement to decide it.
 */
export interface EndWish {
  readonly kind: "commit" | "rollback";
  readonly chain: boolean;
  readonly prepares: boolean;
}

/** The tag of the statement that leaves a transaction to a later decision. */
export const preparing = "PREPARE TRANSACTION";

/** What a client is told of a statement that ended a transaction. */
export const outcomeOf = {
  commit: "committed",
  rollback: "rolledBack",
} as const satisfies Record<EndWish["kind"], Outcome>;

/** Undefined for every statement that, in the client's dialect, is not about transactions. */
export function wishOf({ statement, session: { dialect } }: Query): Wish | undefined {
  const { kind, session, tag } = statement;
  switch (kind) {
    case "begin":
      return { kind };
    case "commit":
    case "rollback": {
      const ends = session?.kind === "commit" || session?.kind === "rollback";
      return { kind, chain: ends && session.chain, prepares: tag === preparing };
    }
    case "savepoint":
      if (dialect === "trino" || dialect === "clickhouse") return undefined;
      return { kind: "divide", division: divisionOf(session) };
    default:
      return undefined;
  }
}

function divisionOf(found: Statement["session"]): Result<Division, GatewayError> {
  switch (found?.kind) {
    case "savepoint":
    case "releaseSavepoint":
    case "rollbackToSavepoint":
      return ok(found);
    default:
      return err(gatewayError("query.syntax"));
  }
}
