/** Transactions as statements of their own: how one begins, and how it ends. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { unsupported } from "../read/command.ts";
import { runToEnd, type StatementContext } from "./statements.ts";

/** Begins one: what its statements run on. Refused where the engine has none; nothing stays open then. */
export async function begin(
  context: StatementContext,
  session: Session,
  signal: AbortSignal,
): Promise<Result<Pin, GatewayError>> {
  const statement = readStatement("START TRANSACTION", session.dialect);
  let pin: Pin | undefined;
  const query = context.door.query(statement, [], session);
  const done = await runToEnd(context, query, signal, (change) => {
    if (change.kind === "pinned") pin = change.pin;
  });
  if (done.ok && pin !== undefined && !signal.aborted) return ok(pin);
  await pin?.end();
  return done.ok ? err(unsupported("The engine has no transactions.")) : done;
}

export interface Ending {
  /** In the transaction. */
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly onChange: (change: SessionChange) => void;
}

/** Ends one. A commit that the engine answered with a rollback is refused. */
export async function end(
  context: StatementContext,
  text: "COMMIT" | "ROLLBACK",
  { session, signal, onChange }: Ending,
): Promise<Result<undefined, GatewayError>> {
  const query = context.door.query(readStatement(text, session.dialect), [], session);
  let outcome: string | undefined;
  const done = await runToEnd(context, query, signal, (change) => {
    if (change.kind === "unpinned") outcome = change.outcome;
    onChange(change);
  });
  if (!done.ok) return done;
  // A transaction in which a statement failed is rolled back, and its client must not believe otherwise.
  const undone = text === "COMMIT" && outcome === "rolledBack";
  return undone ? err(rolledBack) : ok(undefined);
}

const rolledBack = gatewayError("query.transactionAborted", {
  message: "The transaction was rolled back, because a statement in it failed.",
});
