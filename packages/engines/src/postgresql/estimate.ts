/**
 * How much a statement would read: the relations of its plan, by their sizes on the server's disk.
 *
 * Rows by their width would understate it: a page is read whole, and dead rows with it. What an index finds is counted by
 * the planner's own cost of it, which no page that is read is below, and at most as the table with its indexes.
 */
import { withoutPosition, type GatewayError } from "@gateway/core/error.ts";
import type { ScanEstimate } from "@gateway/core/port/backend.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { ask } from "./client/ask.ts";
import type { Member } from "./client/member.ts";
import { judgedIn } from "./call.ts";
import { runOn, type RunContext } from "./lane.ts";
import { spansOf } from "./page/cells.ts";
import { plannedScans, type PlannedScan } from "./sql/plan.ts";
import { quoteText } from "./sql/quote.ts";
import { scanningOf, type Scanning } from "./sql/scanning.ts";

/**
 * Asks on a connection of the statement's own identity. The text goes behind EXPLAIN in the extended protocol, which
 * takes one statement, with the client's own values.
 */
export async function estimateOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<ScanEstimate, GatewayError>> {
  const until = context.pins === undefined ? context.until : "session";
  const within = { ...context, until } as const;
  const judged = judgedIn(query, within);
  if (!judged.ok) return judged;
  const scanning = scanningOf(query.engineSql);
  if (scanning.kind === "nothing") return ok({ bytes: 0 });
  if (scanning.kind === "unknown")
    return ok({ unknown: "the server has no plan of such a statement" });
  const plan = await planOf(member, { query, scanning }, within, signal);
  if (!plan.ok) return plan;
  const scans = plan.value === undefined ? tooLong : plannedScans(plan.value);
  if ("unknown" in scans) return ok(scans);
  return scans.length === 0 ? ok({ bytes: 0 }) : await sizeOf(member, scans, signal);
}

type Planned = Extract<Scanning, { readonly kind: "planned" }>;

const explain = "EXPLAIN (FORMAT JSON, VERBOSE) ";

/** UTF-8 bytes. A plan of ten thousand partitions has about ten megabytes. */
const planBytesMax = 16 * 1024 * 1024;
const tooLong = { unknown: "its plan is too long" } as const;

/** The plan's JSON; undefined where it is too long. */
async function planOf(
  member: Member,
  { query, scanning }: { readonly query: Identified; readonly scanning: Planned },
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<string | undefined, GatewayError>> {
  const { call } = query;
  const explained: Identified = {
    ...query,
    engineSql: `${explain}${scanning.sql}`,
    call: call && {
      types: call.types,
      formats: call.formats,
      values: call.values,
      resultFormats: [],
      simple: false,
    },
  };
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const event of runOn(member, explained, context, signal)) {
    if (event.kind === "failed") return err(behindExplain(event.error, scanning));
    if (event.kind !== "batch") continue;
    // Read to its end all the same: to break off would end a transaction.
    for (const cell of cellsOf(event.batch)) {
      bytes += cell.length;
      if (bytes <= planBytesMax) pieces.push(cell);
    }
  }
  return ok(bytes <= planBytesMax ? Buffer.concat(pieces).toString("utf8") : undefined);
}

/** Positions count in the statement itself, as if it had been run. */
function behindExplain(error: GatewayError, { start }: Planned): GatewayError {
  const { position } = error;
  if (start === undefined || position === undefined || position <= explain.length)
    return withoutPosition(error);
  return { ...error, position: position - explain.length + start };
}

/** The cells of the only column. */
function cellsOf(batch: Batch): readonly Uint8Array[] {
  if (batch.form === "native") {
    const { starts, lengths } = spansOf(batch.bytes, batch.rows, 1);
    return Array.from({ length: batch.rows }, (_, row) => {
      const start = starts[row] ?? 0;
      return batch.bytes.slice(start, start + Math.max(0, lengths[row] ?? 0));
    });
  }
  const [column] = columnarOf(batch).columns;
  if (column === undefined) return [];
  const writer = cellWriter(column, postgresText);
  return Array.from({ length: batch.rows }, (_, row) => {
    const bytes = new Uint8Array(writer.bound(row));
    return bytes.subarray(0, writer.write(bytes, 0, row));
  });
}

async function sizeOf(
  member: Member,
  scans: readonly PlannedScan[],
  signal: AbortSignal,
): Promise<Result<ScanEstimate, GatewayError>> {
  const answer = await ask(member, sizesSql(scans), signal);
  if (!answer.ok) return err(withoutPosition(answer.error));
  const { rows } = answer.value;
  if (rows.length !== scans.length) return ok(gone);
  let bytes = 0;
  for (const [index, [table, total, page, cost]] of rows.entries()) {
    const scan = scans[index];
    if (scan === undefined || table == null || total == null) return ok(gone);
    const most = Number(scan.whole ? table : total);
    // Pages may be free by the server's settings: then all there is counts.
    const found = (scan.costMax / Number(cost)) * Number(page);
    bytes += found < most ? found : most;
  }
  return ok({ bytes: Math.ceil(bytes) });
}

const gone = { unknown: "the server does not tell the size of a table that it reads" } as const;

/** Sizes with what is kept out of line, and with indexes; of a page, and the least that reading one costs. In the order of the scans. */
function sizesSql(scans: readonly PlannedScan[]): string {
  const wanted = scans.map(
    ({ schema, relation }, at) => `(${at}, ${quoteText(schema)}, ${quoteText(relation)})`,
  );
  return `SELECT pg_catalog.pg_table_size(c.oid), pg_catalog.pg_total_relation_size(c.oid),
  pg_catalog.current_setting('block_size'),
  LEAST(pg_catalog.current_setting('seq_page_cost')::float8, pg_catalog.current_setting('random_page_cost')::float8,
    (SELECT pg_catalog.min(o.option_value::float8)
      FROM pg_catalog.pg_tablespace t, pg_catalog.pg_options_to_table(t.spcoptions) o
      WHERE o.option_name IN ('seq_page_cost', 'random_page_cost')))
FROM (VALUES ${wanted.join(", ")}) AS w (at, schema, relation)
JOIN pg_catalog.pg_namespace n ON CASE w.schema WHEN 'pg_temp' THEN n.oid = pg_catalog.pg_my_temp_schema()
  ELSE n.nspname::text = w.schema END
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname::text = w.relation
ORDER BY w.at`;
}
