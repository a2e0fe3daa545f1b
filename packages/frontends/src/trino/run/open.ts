/** Opens a statement: answered here, or started in the pipeline with what its session brings. */
import type { Door } from "@gateway/core/port/door.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { allRead, catalogsOf } from "@gateway/core/query/reached.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { PolledQueries } from "@gateway/core/run/poll/polled.ts";
import type { Query, Session } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { responseHeader } from "@gateway/wire/trino/headers.ts";
import { statementPathOf } from "@gateway/wire/trino/path.ts";
import { durationMs } from "@gateway/wire/trino/results.ts";
import { failure, type Handling } from "../read/handling.ts";
import type { Handles, LinkedQuery } from "../page/handles.ts";
import { asksForEngine, handle, type Behind } from "../commands/local.ts";
import { rolesRefusal } from "../commands/roles.ts";
import { changeHeaders, type TrinoSession } from "../session/session.ts";
import { PolledStatement, type StatementParts } from "./polledStatement.ts";
import { rewriteSystem } from "../catalog/systemRewrite.ts";
import type { Transactions } from "../session/transactions.ts";

export interface OpenParts {
  readonly door: Door;
  readonly host: Host;
  /** Parks the statements that are answered here. */
  readonly local: PolledQueries;
  readonly transactions: Transactions;
  readonly handles: Handles;
}

/**
 * The statement, begun but not read. An error in it, or in its text, is its first event. A promise only where
 * the statement has to know its engines before it begins.
 */
export function openStatement(
  text: Result<string, GatewayError>,
  asked: TrinoSession,
  parts: OpenParts,
): PolledStatement | Promise<PolledStatement> {
  if (!text.ok) return statementOf("", failure(text.error), asked, parts);
  const sql = text.value;
  const found = inTransaction(asked, parts.transactions);
  if (!found.ok) return statementOf(sql, failure(found.error), asked, parts);
  const session = found.value;
  const routed = asksForEngine(sql, session);
  if (routed !== undefined) return openFor(sql, routed, session, parts);
  const handling = runnable(handle(sql, session, parts.door), session);
  return statementOf(sql, handling, session, parts);
}

/** Opens it for the engines where `routed` would go. */
async function openFor(
  sql: string,
  routed: string,
  session: TrinoSession,
  parts: OpenParts,
): Promise<PolledStatement> {
  const behind = await behindOf(routed, session, parts.door);
  const handling = runnable(handle(sql, session, behind), session);
  return statementOf(sql, forEngine(handling, session, behind), session, parts);
}

/** Where nothing may run, the statement meets the same refusal when it is run; until then no engine speaks Trino. */
async function behindOf(sql: string, asked: TrinoSession, door: Door): Promise<Behind> {
  const { session, refusal } = asked;
  const describe: Door["describe"] = (described, signal) => door.describe(described, signal);
  // Wherever it goes it comes to a Trino, so it is read and routed once, when it is run.
  const all = refusal === undefined ? door.engines(session) : [];
  if (allRead("trino", all))
    return { describe, catalogs: () => catalogsOf(all), speaksTrino: true };
  await door.learned?.();
  const query = door.query(readStatement(sql, "trino"), [], session);
  const target = await door.target(query, neverAborted);
  if (!target.ok) return { describe, catalogs: () => door.catalogs(session) };
  // In a zone that nobody knows nothing runs, so what mends it is answered here.
  const speaksTrino = allRead("trino", target.value) && refusal === undefined;
  const catalogs = catalogsOf(target.value);
  return { describe, catalogs: () => catalogs, speaksTrino };
}

/** What is run, or why nothing can run in the session. */
function runnable(handling: Handling, { session, refusal }: TrinoSession): Handling {
  if (handling.kind === "answer") return handling;
  const refused = refusal ?? rolesRefusal(session);
  return refused === undefined ? handling : failure(refused);
}

/** With subqueries for Trino's own tables, where the engine has none. */
function forEngine(handling: Handling, { session }: TrinoSession, behind: Behind): Handling {
  if (handling.kind === "answer" || behind.speaksTrino === true) return handling;
  const names = { catalogs: behind.catalogs(session), catalog: session.catalog };
  const rewritten = rewriteSystem(handling.sql, handling.parameters, names);
  return rewritten === undefined ? handling : { ...handling, ...rewritten, verbatim: false };
}

function statementOf(
  sql: string,
  handling: Handling,
  asked: TrinoSession,
  parts: OpenParts,
): PolledStatement {
  const { door, host } = parts;
  const local = handling.kind === "answer";
  const query = local
    ? door.query(readStatement(sql, "trino"), [], asked.session)
    : door.query(
        readStatement(handling.sql, "trino"),
        handling.parameters,
        asked.session,
        takenRows,
      );
  const { linked, linksTo } = linksOf(query, parts.handles);
  // One shape for all statements, written out: this is made for each of them.
  return new PolledStatement({
    polled: local ? parts.local.start(query, handling.events) : door.start(query),
    linked,
    linksTo,
    clock: host.clock,
    sql: local || handling.verbatim ? sql : undefined,
    headersOf: (change) => headersOf(change, asked, parts.transactions),
    endHeaders: handling.headers,
    timeLimitMs: timeLimitMs(asked.session),
    style: asked.style,
    encoding: asked.encoding,
    report: (bug) => host.log.bug(bug),
  });
}

const takenRows: readonly NativeFormat[] = ["trinoData"];

/** The links to a query's answers. They say whether it waits or runs, which clients show and logs tell apart. */
function linksOf(
  { id, session }: Query,
  handles: Handles,
): Pick<StatementParts, "linked" | "linksTo"> {
  const { instance } = handles;
  let known: LinkedQuery | undefined;
  // Made late: a query that ends with its first answer needs no link.
  const linked = (): LinkedQuery => (known ??= handles.linkedQuery(id, session.identity.user));
  const linksTo: StatementParts["linksTo"] = (token, phase) => {
    const sealed = handles.seal(linked(), token);
    const path = statementPathOf({ phase, instance, sealed });
    if (phase === "queued") return { path, partialCancel: undefined };
    const partialCancel = statementPathOf({ phase: "partialCancel", instance, sealed });
    return { path, partialCancel };
  };
  return { linked, linksTo };
}

/** The session with the pin of the transaction it names. */
function inTransaction(
  asked: TrinoSession,
  transactions: Transactions,
): Result<TrinoSession, GatewayError> {
  const { session, transactionId } = asked;
  if (transactionId === undefined) return ok(asked);
  const pin = transactions.find(transactionId, session.identity.user);
  return pin.ok ? ok({ ...asked, session: { ...session, pin: pin.value } }) : pin;
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
    case "divided":
    case "chained":
    // Only a query with a `call` of PostgreSQL's protocol is given these two.
    case "kept":
    case "released":
      return [];
    case "unpinned":
      if (asked.transactionId === undefined) return [];
      transactions.end(asked.transactionId);
      return [[responseHeader.clearTransactionId, "true"]];
    case "catalog":
    case "setting":
      return changeHeaders(change);
  }
}

const timerMsMax = 2_147_483_647;

/** JDBC's `setQueryTimeout` is this session property. */
function timeLimitMs({ settings }: Session): number | undefined {
  const asked = settings.get("query_max_run_time");
  const limitMs = asked === undefined ? undefined : durationMs(asked);
  // Timers reach no further than some weeks, and no query runs as long.
  return limitMs === undefined || limitMs > timerMsMax ? undefined : limitMs;
}
