/**
 * The catalog and schema in which a session's unqualified names are looked for.
 *
 * The gateway's session keeps them and every statement brings them along, so the next one may run on any
 * connection. A client's `USE` runs on the engine first; where the connection then stands becomes a change
 * of the session.
 */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import { readSessionStatement } from "@gateway/core/sql/session/session.ts";
import { quotePath } from "../sql/quote.ts";
import { textOf } from "../listing.ts";
import { failureOf, rowsOf, type RunContext } from "./run.ts";
import { ownStatement } from "../library/statementTypes.ts";

/** Schemas that every catalog shows and none owns. */
const ownSchemas: ReadonlySet<string> = new Set(["information_schema", "pg_catalog"]);

/**
 * The `USE` that gives a new connection the session's catalog and schema; undefined where it has them by
 * itself.
 */
export function useFor(
  { catalog, schema }: Pick<Session, "catalog" | "schema">,
  defaultCatalog: string,
): string | undefined {
  const there = { catalog: catalog ?? defaultCatalog, schema: schema ?? "main" };
  if (there.catalog === defaultCatalog && there.schema === "main") return undefined;
  // DuckDB lists them under the current catalog, but finds them only without the catalog's name.
  if (ownSchemas.has(there.schema)) return useStatement(there.schema);
  return useStatement(there.catalog, there.schema);
}

/** The `USE` that sends a connection to a catalog, a schema or both. */
export function useStatement(...path: readonly string[]): string {
  return `USE ${quotePath(path)}`;
}

/** The name behind a client's `USE`, as DuckDB reads it or as its client wrote it; undefined for every other statement. */
export function usedPath({
  engineSql,
  statement,
}: Pick<Identified, "engineSql" | "statement">): readonly string[] | undefined {
  const found = readSessionStatement(engineSql, "duckdb") ?? statement.session;
  if (found?.kind !== "use" || found.object !== undefined) return undefined;
  return found.path.map(({ text }) => text);
}

/** Statements about the session, which have neither parameters nor columns. */
export function speaksOfSession(sql: string): boolean {
  const { kind } = classifyStatement(sql, "duckdb");
  return ["use", "begin", "commit", "rollback"].includes(kind);
}

/** Where a connection stands, as the engine says. */
export interface Standing {
  readonly catalog: string;
  readonly schema: string;
}

/** A client's `USE`: the name it goes to, and what must be said before it. */
export interface UseRequest {
  readonly path: readonly string[];
  readonly before: readonly string[];
}

/** Goes somewhere on the connection of `context` and answers where that is. Yields the events of the statement. */
export async function* runUse(
  context: RunContext,
  { path, before }: UseRequest,
  signal: AbortSignal,
): AsyncGenerator<ResultEvent, Standing | undefined, void> {
  const startedMs = context.clock.nowMs();
  const sql = useStatement(...path);
  const request = ownStatement("SELECT current_catalog(), current_schema()", context.database, [
    ...before,
    sql,
  ]);
  const rows = await rowsOf(context.thread, request, signal);
  if (!rows.ok) {
    yield { kind: "failed", error: failureOf(context, rows.error, { sql, writes: false }) };
    return undefined;
  }
  const [[catalog, schema] = []] = rows.value;
  const standing = { catalog: textOf(catalog), schema: textOf(schema) };
  yield { kind: "session", change: { kind: "catalog", ...standing } };
  const executionMs = context.clock.nowMs() - startedMs;
  yield { kind: "done", stats: { queueMs: 0, executionMs, rows: 0, bytes: 0 }, updateType: "USE" };
  return standing;
}
