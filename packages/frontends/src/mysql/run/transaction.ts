/**
 * What MySQL does with transactions around a statement: BEGIN commits an open one, and without
 * autocommit the first statement that may write begins one.
 *
 * A read begins none, so that a client that never commits holds no slot. READ COMMITTED allows that; under
 * REPEATABLE READ a read begins one as well.
 */
import { allRead } from "@gateway/core/query/reached.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
import type { NextTransaction } from "@gateway/core/query/mysqlCall.ts";
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { relays } from "./relaying.ts";
import type { Responder } from "./responder.ts";
import type { BoundStatement } from "./statement.ts";
import { errorReply, ownErrors } from "../errors.ts";

/** Kinds that neither read nor write tables, or that are about the transaction itself. */
const outside: ReadonlySet<StatementClass["kind"]> = new Set([
  "begin",
  "commit",
  "rollback",
  "set",
  "show",
  "use",
  "kill",
  "empty",
]);

/** True while the session is in a transaction. */
export function inTransaction({ client }: Responder): boolean {
  const { pin } = client.session;
  return pin !== undefined && pin.state !== "ended";
}

/** Does what must happen before the statement, mostly nothing. The error when that failed. */
export function beforeStatement(
  responder: Responder,
  statement: StatementClass,
): Promise<ErrorReply | undefined> | ErrorReply | undefined {
  const { client } = responder;
  if (statement.kind === "begin") {
    return inTransaction(responder) ? quietly(responder, "COMMIT") : undefined;
  }
  if (statement.kind === "savepoint") {
    return client.autocommit || inTransaction(responder) ? undefined : beginQuietly(responder);
  }
  if (outside.has(statement.kind)) return undefined;
  if (statement.writes && (client.readOnly || client.readOnlyTransaction) && !relays(responder)) {
    return ownErrors.readOnlyTransaction();
  }
  if (client.autocommit || client.session.pin !== undefined) return undefined;
  // What was asked for the next one holds for all that follows up to its end.
  const begins = statement.writes || client.next !== undefined || repeatsReads(responder);
  return begins ? beginQuietly(responder) : undefined;
}

/**
 * What `SET TRANSACTION` asked for, where this statement begins the transaction that it is meant for, or is that
 * itself; undefined otherwise. A server counts a SELECT without any table as none.
 */
export function nextFor(
  responder: Responder,
  { statement, source }: Pick<BoundStatement, "statement" | "source">,
): NextTransaction | undefined {
  const { next } = responder.client;
  if (next === undefined || inTransaction(responder) || !relays(responder)) return undefined;
  // COMMIT and ROLLBACK are the end of one also where none is open.
  if (!ending.has(statement.kind) && outside.has(statement.kind)) return undefined;
  const reads = statement.kind === "select" || statement.tag === "DO";
  return reads && !namesTable(source) ? undefined : next;
}

const ending: ReadonlySet<StatementClass["kind"]> = new Set(["begin", "commit", "rollback"]);

function namesTable(source: string): boolean {
  const cursor = openSql(source, "mysql");
  while (nextSignificant(cursor)) if (upperWord(cursor) === "FROM") return true;
  return false;
}

/** True where a second read finds what the first one found. That is what MySQL's family does when nobody asked. */
function repeatsReads({ client, door }: Responder): boolean {
  const { session, settings } = client;
  if (allRead("mysql", door.engines(session)))
    return !session.settings.get("transaction_isolation")?.toUpperCase().startsWith("READ-");
  return settings.get("transaction_isolation") === "REPEATABLE-READ";
}

/** Ends an open transaction, for statements that do so implicitly. */
export async function commitOpen(responder: Responder): Promise<ErrorReply | undefined> {
  return inTransaction(responder) ? await quietly(responder, "COMMIT") : undefined;
}

/** Gives back what a transaction holds. The client is not told. */
export async function abandon(responder: Responder): Promise<void> {
  const { pin } = responder.client.session;
  if (pin === undefined) return;
  responder.client = {
    ...responder.client,
    session: { ...responder.client.session, pin: undefined },
  };
  await pin.end();
}

/** An engine without transactions is like a table without them on a MySQL server: the statement simply runs. */
async function beginQuietly(responder: Responder): Promise<ErrorReply | undefined> {
  const { next } = responder.client;
  const error = await responder.runQuietly("BEGIN", next);
  if (error === undefined) responder.client = { ...responder.client, next: undefined };
  return error === undefined || error.code === "query.unsupported" ? undefined : errorReply(error);
}

async function quietly(responder: Responder, sql: string): Promise<ErrorReply | undefined> {
  const error = await responder.runQuietly(sql);
  return error === undefined ? undefined : errorReply(error);
}

/** A deadlock's victim, whose whole transaction was rolled back. */
const deadlock = 1213;

/**
 * Gives back what the session holds for a transaction that the server ended by itself: a statement that commits
 * (CREATE TABLE), a deadlock. Undefined where the transaction, if there is one, goes on.
 */
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
