/**
 * Small events of a query as messages: notices, what changed in the session, errors.
 *
 * Rows are not here: `value/rows.ts` writes them from the batch into the buffer.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import { warningCode, type ResultEvent } from "@gateway/core/query/event.ts";
import type { ClientSession } from "./session/clientSession.ts";
import { errorReport, serverReport, type ErrorPlace } from "./errors.ts";
import type { Outbox } from "./outbox.ts";

/** Notices that PostgreSQL gives as warnings, each with PostgreSQL's SQLSTATE. */
const warnings: ReadonlyMap<string, string> = new Map([
  ["noTransaction", "25P01"],
  ["inTransaction", "25001"],
  ["setLocal", "25P01"],
  [warningCode, "01000"],
]);

/** PostgreSQL's warning for the end of a transaction that nobody began. */
export const noTransaction = {
  code: "noTransaction",
  text: "there is no transaction in progress",
} as const;

/** Writes a notice, unless `client_min_messages` hides it. */
export function encodeEvent(
  { code, text, fields }: Omit<Extract<ResultEvent, { kind: "notice" }>, "kind">,
  session: ClientSession,
  out: Outbox,
): void {
  // What the server sent, the client's own setting let through there.
  if (fields !== undefined) return out.put({ kind: "notice", report: serverReport(fields) });
  const sqlState = warnings.get(code);
  if (!session.wants(sqlState === undefined ? "notice" : "warning")) return;
  const severity = sqlState === undefined ? "NOTICE" : "WARNING";
  out.put({ kind: "notice", report: { severity, sqlState: sqlState ?? "00000", message: text } });
}

/** Tells the client which reported settings changed. */
export function encodeSettings(session: ClientSession, out: Outbox): void {
  for (const { name, value } of session.takeChanges()) {
    out.put({ kind: "parameterStatus", name, value });
  }
}

/**
 * Tells the id by which a query is found in logs and records. A parameter status disturbs no client; one that gets its
 * answer as the server made it (`relayed`) gets nothing else with it, unless it asked.
 */
export function encodeQueryId(
  id: string,
  session: ClientSession,
  out: Outbox,
  relayed: boolean,
): void {
  session.lastQueryId = id;
  const wish = session.asked.tellsQueryId;
  if (wish === "off" || (wish === "auto" && relayed)) return;
  out.put({ kind: "parameterStatus", name: "gateway.query_id", value: id });
}

/** Writes the error; answers whether the connection is over with it. */
export function encodeError(error: GatewayError, place: ErrorPlace, out: Outbox): boolean {
  const report = errorReport(error, place);
  out.put({ kind: "error", report });
  return report.severity === "FATAL";
}
