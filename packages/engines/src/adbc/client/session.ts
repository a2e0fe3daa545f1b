/**
 * A client's `USE`. It runs on the engine first; where the connection then stands becomes a change of the
 * session, and every later statement starts there.
 */
import type { ResultEvent, ResultStream, SessionChange } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import { readSessionStatement } from "@gateway/core/sql/session/session.ts";
import type { ConnectionStep } from "../../native/message.ts";
import { errorOf } from "../errors.ts";
import { textOf } from "../listing.ts";
import { ownExpected } from "./prepared.ts";
import type { Profile } from "../profile.ts";
import { quoteIdentifier, quoteText } from "../sql/quote.ts";
import { rowsOf } from "./rows.ts";
import type { RunContext } from "./run.ts";

/** What a `USE` goes to. */
export interface Used {
  /** Snowflake's word before the name, in lower case. */
  readonly object: string | undefined;
  /** Parts of the name, as the engine keeps them. */
  readonly path: readonly string[];
}

/** The name behind a client's `USE`; undefined for every other statement, and where the engine has no such thing. */
export function usedName(
  { name, dialect }: Profile,
  { engineSql, statement }: Pick<Identified, "engineSql" | "statement">,
): Used | undefined {
  if (!["snowflake", "duckdb", "postgresql"].includes(name)) return undefined;
  const found = readSessionStatement(engineSql, dialect) ?? statement.session;
  if (found?.kind !== "use") return undefined;
  if (found.object !== undefined && name !== "snowflake") return undefined;
  const path = found.path.map(({ text, quoted }) =>
    name === "snowflake" && !quoted ? text.toUpperCase() : text,
  );
  return path.length === 0 || path.length > 2 ? undefined : { object: found.object, path };
}

/** Statements about the session, which have neither parameters nor columns. */
export function speaksOfSession({ dialect }: Profile, sql: string): boolean {
  const { kind } = classifyStatement(sql, dialect);
  return ["use", "begin", "commit", "rollback"].includes(kind);
}

/** Goes there on the connection of `context` and says what changed. */
export async function* runUse(
  context: RunContext,
  used: Used,
  before: readonly ConnectionStep[],
  signal: AbortSignal,
): ResultStream {
  const startedMs = context.clock.nowMs();
  const { profile, taken } = context;
  // The connection no longer stands where its pool believes, so it is closed after this statement.
  taken.spoil();
  const [goes, where] = statementsOf(profile, used);
  const request = { sql: where, expected: ownExpected(profile), before: [...before, ...goes] };
  const rows = await rowsOf(context, request, signal);
  if (!rows.ok) {
    context.failed(rows.error);
    const text = { sql: where, prefix: 0, original: where, writes: false };
    yield { kind: "failed", error: errorOf(profile, rows.error, text) };
    return;
  }
  const [[catalog, schema] = []] = rows.value;
  for (const change of changesOf(used, textOf(catalog), textOf(schema))) {
    yield { kind: "session", change } satisfies ResultEvent;
  }
  const executionMs = context.clock.nowMs() - startedMs;
  yield { kind: "done", stats: { queueMs: 0, executionMs, rows: 0, bytes: 0 }, updateType: "USE" };
}

/** The statements that go there, and the query that asks where the connection stands then. */
function statementsOf(
  { name }: Profile,
  { object, path }: Used,
): readonly [goes: readonly string[], where: string] {
  const quoted = path.map(quoteIdentifier).join(".");
  if (name === "postgresql") {
    const schema = quoteIdentifier(path.at(-1) ?? "");
    // A search path may name what is not there; the cast refuses it.
    const goes = [
      `SELECT ${quoteText(schema)}::regnamespace`,
      `SELECT set_config('search_path', ${quoteText(schema)}, false)`,
    ];
    return [goes, "SELECT current_database(), current_schema()"];
  }
  const word = object === undefined ? "" : `${object.toUpperCase()} `;
  const places =
    name === "duckdb"
      ? "current_catalog(), current_schema()"
      : "current_database(), current_schema()";
  return [[`USE ${word}${quoted}`], `SELECT ${places}`];
}

function changesOf(
  { object, path }: Used,
  catalog: string,
  schema: string,
): readonly SessionChange[] {
  if (object === "role" || object === "warehouse") {
    return [{ kind: "setting", name: object, value: path.at(-1) }];
  }
  return [{ kind: "catalog", catalog, schema: schema === "" ? undefined : schema }];
}
