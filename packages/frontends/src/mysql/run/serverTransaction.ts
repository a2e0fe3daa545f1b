/**
 * Transactions that the server ended by itself: a statement that commits (CREATE TABLE), a deadlock. What the session
 * holds for the transaction is given back, so that its next statement stands where it would on the server.
 */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { Responder } from "./responder.ts";
import { inTransaction } from "./transaction.ts";

/** A deadlock's victim, whose whole transaction was rolled back. */
const deadlock = 1213;

/** Undefined where the transaction, if there is one, goes on. */
export function endedByServer(responder: Responder, event: ResultEvent): Promise<void> | undefined {
  if (event.kind !== "done" && event.kind !== "failed") return undefined;
  if (!inTransaction(responder)) return undefined;
  if (event.kind === "failed") {
    const { vendor } = event.error;
    const over = vendor?.of === "mysql" && vendor.code === deadlock;
    return over ? ended(responder, "ROLLBACK") : undefined;
  }
  const status = event.report?.status;
  const over = status !== undefined && (status & serverStatus.inTransaction) === 0;
  return over ? ended(responder, "COMMIT") : undefined;
}

/** The server does nothing more for it. */
async function ended(responder: Responder, sql: "COMMIT" | "ROLLBACK"): Promise<void> {
  const { warnings } = responder.client;
  await responder.runQuietly(sql);
  responder.client = { ...responder.client, warnings };
}
