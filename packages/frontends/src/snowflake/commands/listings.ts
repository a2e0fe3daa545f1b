/**
 * `SHOW`, `DESC` and the version, answered here before an engine that has other words for them. An engine that no lexer of
 * ours knows gets them as they were written: it may be Snowflake itself.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { catalogAsk } from "../catalog/asked.ts";
import { shownOf, type Shown } from "../catalog/shown.ts";
import { sessionNow, type Prepared, type Served } from "../run/submit.ts";
import type { LiveSession } from "../session/sessions.ts";
import { serverVersion } from "./sessions.ts";

/** Rows that are answered at once. */
export interface Listed {
  readonly columns: readonly Column[];
  readonly rows: Shown["rows"];
}

/** Counts; everything else is text. */
const numberColumns: ReadonlySet<string> = new Set([
  "key_sequence",
  "CHARACTER_MAXIMUM_LENGTH",
  "NUMERIC_PRECISION",
  "NUMERIC_SCALE",
]);

/** The answer; undefined for a statement that is the engine's. */
export async function listed(
  { ready, dialect }: Prepared,
  session: LiveSession,
  { door }: Pick<Served, "door">,
  signal: AbortSignal,
): Promise<Result<Listed, GatewayError> | undefined> {
  const [only, second] = ready;
  const isPlain = only !== undefined && second === undefined && only.parameters.length === 0;
  const ask = isPlain && dialect !== "generic" ? catalogAsk(only.sql) : undefined;
  if (ask === undefined) return undefined;
  if (ask.kind === "version") {
    return ok(typed({ columns: ["CURRENT_VERSION()"], rows: [[serverVersion]] }));
  }
  // What routers and policies see of it: a statement that asks nothing.
  const asking = readStatement("SELECT 1", dialect);
  const scope = await door.tables(door.query(asking, [], sessionNow(session, dialect)), signal);
  if (!scope.ok) return scope;
  const tables = await scope.value.list(signal);
  if (!tables.ok) return tables;
  const { database, schema } = session.state;
  const shown = shownOf(ask, tables.value, { database, schema });
  return shown.ok ? ok(typed(shown.value)) : shown;
}

function typed({ columns, rows }: Shown): Listed {
  const typedColumns = columns.map((name): Column => {
    const integer = { kind: "integer", bits: 64, signed: true } as const;
    return { name, type: numberColumns.has(name) ? integer : { kind: "text" }, nullable: true };
  });
  return { columns: typedColumns, rows };
}
