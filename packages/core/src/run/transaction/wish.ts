/** What a statement wants of the session's transaction. Read here once; nothing behind reads the text again. */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Outcome } from "../../query/event.ts";
import type { Query } from "../../query/query.ts";
import { err, ok, type Result } from "../../result.ts";
import { classifyStatement } from "../../sql/classify/classify.ts";
import { readSessionStatement } from "../../sql/session/session.ts";
import {
  noModes,
  type Division,
  type SessionStatement,
  type TransactionModes,
} from "../../sql/session/statement.ts";

export type Wish =
  | { readonly kind: "begin"; readonly modes: TransactionModes }
  | EndWish
  /** Refused with `query.syntax` where it begins like a savepoint's statement and can not be read. */
  | { readonly kind: "divide"; readonly division: Result<Division, GatewayError> };

/** `chain`: another transaction follows at once. */
export interface EndWish {
  readonly kind: "commit" | "rollback";
  readonly chain: boolean;
}

/** What a client is told of a statement that ended a transaction. */
export const outcomeOf = {
  commit: "committed",
  rollback: "rolledBack",
} as const satisfies Record<EndWish["kind"], Outcome>;

/** Undefined for every statement that is none about transactions in the client's dialect. */
export function wishOf({ sql, session }: Query): Wish | undefined {
  const { dialect } = session;
  const { kind } = classifyStatement(sql, dialect);
  switch (kind) {
    case "begin": {
      const found = readSessionStatement(sql, dialect);
      return { kind, modes: found?.kind === "begin" ? found.modes : noModes };
    }
    case "commit":
    case "rollback": {
      const found = readSessionStatement(sql, dialect);
      const ends = found?.kind === "commit" || found?.kind === "rollback";
      return { kind, chain: ends && found.chain };
    }
    case "savepoint": {
      if (dialect === "trino" || dialect === "clickhouse") return undefined;
      return { kind: "divide", division: divisionOf(readSessionStatement(sql, dialect)) };
    }
    default:
      return undefined;
  }
}

function divisionOf(found: SessionStatement | undefined): Result<Division, GatewayError> {
  switch (found?.kind) {
    case "savepoint":
    case "releaseSavepoint":
    case "rollbackToSavepoint":
      return ok(found);
    default:
      return err(gatewayError("query.syntax"));
  }
}
