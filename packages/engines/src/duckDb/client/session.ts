/**
 * Where a session stands: the catalog and schema in which unqualified names are looked for.
 *
 * The gateway's session keeps it and every statement brings it along, so it holds on whichever
 * connection the next statement runs. `USE` is tried out here and told as a change of the session.
 */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import { readSessionStatement } from "@gateway/core/sql/session/session.ts";
import { quotePath } from "../sql/quote.ts";
import { textOf } from "../listing.ts";
import { failureOf, rowsOf, type RunContext } from "./run.ts";
import { ownStatement } from "../library/statementTypes.ts";

/** Schemas that every catalog has and none holds. */
const ownSchemas: ReadonlySet<string> = new Set(["information_schema", "pg_catalog"]);

/** The `USE` that makes a new connection stand where the session does, or undefined when it does by itself. */
export function useFor(
  { catalog, schema }: Pick<Session, "catalog" | "schema">,
  defaultCatalog: string,
): string | undefined {
  const there = { catalog: catalog ?? defaultCatalog, schema: schema ?? "main" };
  if (there.catalog === defaultCatalog && there.schema === "main") return undefined;
  // DuckDB says that they are the current catalog's, but finds them there without its name only.
  if (ownSchemas.has(there.schema)) return useStatement(there.schema);
  return useStatement(there.catalog, there.schema);
}

/** The `USE` that makes any connection stand somewhere. */
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
