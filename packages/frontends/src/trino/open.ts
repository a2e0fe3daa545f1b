/** Opens a statement: answered here, or started in the pipeline with what its session brings. */
import type { Door } from "@gateway/core/door.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { PolledQueries } from "@gateway/core/query/polled.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { responseHeader } from "@gateway/wire/trino/headers.ts";
import { durationMs } from "@gateway/wire/trino/results.ts";
import { failure, type Handling } from "./answer.ts";
import { handle } from "./local.ts";
import { changeHeaders, type TrinoSession } from "./session.ts";
import { Statement } from "./statement.ts";
import type { Transactions } from "./transactions.ts";

export interface OpenParts {
  readonly door: Door;
  readonly host: Host;
  /** Parks the statements that are answered here. */
  readonly local: PolledQueries;
  readonly transactions: Transactions;
  readonly slug: string;
}

/** The statement, with nothing read from it yet. Whatever is wrong with it is its first event. */
export function openStatement(sql: string, asked: TrinoSession, parts: OpenParts): Statement {
  const session = inTransaction(asked, parts.transactions);
  const handling = session.ok
    ? handle(sql, { ...asked, session: session.value }, parts.door)
    : failure(session.error);
  return statementOf(
    sql,
    handling,
    session.ok ? { ...asked, session: session.value } : asked,
    parts,
  );
}

function statementOf(
  sql: string,
  handling: Handling,
  asked: TrinoSession,
  parts: OpenParts,
): Statement {
  const { door, host } = parts;
  const common = {
    slug: parts.slug,
    clock: host.clock,
    headersOf: (change: SessionChange) => headersOf(change, asked, parts.transactions),
    timeLimitMs: timeLimitMs(asked.session),
    report: (bug: unknown) => host.log.bug(bug),
  };
  if (handling.kind === "answer") {
    const query = door.query(sql, [], asked.session);
    const polled = parts.local.start(query, handling.events);
    return new Statement({ ...common, polled, sql, endHeaders: handling.headers });
  }
  const query = door.query(handling.sql, handling.parameters, asked.session);
  return new Statement({
    ...common,
    polled: door.start(query),
    sql: handling.verbatim ? sql : undefined,
    endHeaders: [],
  });
}

/** The session with the pin of the transaction it names. */
function inTransaction(
  { session, transactionId }: TrinoSession,
  transactions: Transactions,
): Result<Session, GatewayError> {
  if (transactionId === undefined) return ok(session);
  const pin = transactions.find(transactionId, session.identity.user);
  return pin.ok ? ok({ ...session, pin: pin.value }) : pin;
}

function headersOf(
  change: SessionChange,
  asked: TrinoSession,
  transactions: Transactions,
): readonly (readonly [string, string])[] {
  switch (change.kind) {
    case "pinned":
      return [
        [
          responseHeader.startedTransactionId,
          transactions.begin(change.pin, asked.session.identity.user),
        ],
      ];
    case "unpinned":
      if (asked.transactionId !== undefined) transactions.end(asked.transactionId);
      return [[responseHeader.clearTransactionId, "true"]];
    case "catalog":
    case "setting":
      return changeHeaders(change);
  }
}

const timerMsMax = 2_147_483_647;

/** JDBC's `setQueryTimeout` is this session property. */
function timeLimitMs({ settings }: Session): number | undefined {
  const limitMs = durationMs(settings.get("query_max_run_time") ?? "");
  // Weeks: timers of the system do not reach further, and no query does.
  return limitMs === undefined || limitMs > timerMsMax ? undefined : limitMs;
}
