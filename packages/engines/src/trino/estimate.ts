/**
 * How much a statement would read: what Trino's statistics say that its scans hand over, before anything else is done
 * with it. Trino knows of no bytes on a disk: those are its connectors'.
 */
import { withoutPosition, type GatewayError } from "@gateway/core/error.ts";
import type { ScanEstimate } from "@gateway/core/port/backend.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { askOwn, textOf } from "./client/own.ts";
import type { RunContext } from "./client/run.ts";
import type { RequestHead } from "./client/session.ts";
import { plannedBytes } from "./sql/plan.ts";
import { scanningOf, type Planned } from "./sql/scanning.ts";
import { placedFor, sentPlaced } from "./sql/statement.ts";

const explain = "EXPLAIN (TYPE DISTRIBUTED, FORMAT JSON) ";

/** Asks under the headers of its query and as its user, with the client's own values. */
export async function estimateStatement(
  context: RunContext,
  query: Identified,
  { headers, tags, caller }: RequestHead,
  signal: AbortSignal,
): Promise<Result<ScanEstimate, GatewayError>> {
  const placed = placedFor(query);
  if (!placed.ok) return placed;
  const scanning = scanningOf(placed.value.sql);
  if (scanning.kind === "nothing") return ok({ bytes: 0 });
  if (scanning.kind === "unknown")
    return ok({ unknown: "Trino has no plan of such a statement before it begins to run" });
  const sent = sentPlaced({ ...placed.value, sql: scanning.sql }, query.parameters);
  if (!sent.ok) return sent;
  const { sql, offset } = sent.value;
  const asked = { sql: explain + sql, headers, tags, caller, rowsMax: 1 };
  const answer = await askOwn(context, asked, signal);
  if (!answer.ok) return err(behindExplain(answer.error, scanning, offset));
  return ok(plannedBytes(textOf(answer.value.rows[0]?.[0])));
}

/** Positions count in the statement itself, as if it had been run. */
function behindExplain(
  error: GatewayError,
  { start, own }: Planned,
  offset: number | undefined,
): GatewayError {
  const { position } = error;
  const before = explain.length + own;
  if (offset === undefined || position === undefined || position <= before)
    return withoutPosition(error);
  return { ...error, position: position - before + start + offset };
}
