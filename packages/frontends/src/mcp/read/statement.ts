/**
 * What an agent's text is, in the dialect of the engines that it would go to, and whether it can run at all.
 *
 * Whether a statement may write is not decided here: the group's `agentWrites` says so where the query is policed,
 * from the reading that is made here and goes along with the query.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { ReachedEngine } from "@gateway/core/query/reached.ts";
import { allRead } from "@gateway/core/query/reached.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { StatementKind } from "@gateway/core/sql/classify/statementKind.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";

/** Statements of a session: each call has one of its own, so nothing of them would be left for the next. */
const ofSessions: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "begin",
  "commit",
  "rollback",
  "savepoint",
  "prepare",
  "execute",
  "deallocate",
  "set",
  "reset",
  "use",
  "discard",
  "declare",
  "fetch",
  "close",
]);

type ReadDoor = Pick<Door, "engines" | "target" | "query">;

/** A statement and the session that it is read in. */
export interface Read {
  readonly session: Session;
  readonly statement: Statement;
}

/** Takes a text in for reading in a dialect; a long one takes turns with others. Undefined for one that may be read at once. */
export type Admit = (
  sql: string,
  dialect: Dialect,
) => Promise<GatewayError | undefined> | undefined;

/** What a reading needs: whom to ask where texts go, and who takes long ones in. */
export interface Reading {
  readonly door: ReadDoor;
  readonly admit: Admit;
  readonly signal: AbortSignal;
}

/**
 * Reads the text as its engines do. `session` may have any dialect; the answer's has the one that was found: that of
 * all engines, or of those where a text in that dialect goes. Where they differ, the careful reading of `generic`.
 */
export async function readFor(
  sql: string,
  session: Session,
  reading: Reading,
): Promise<Result<Read, GatewayError>> {
  const found = await dialectOf(sql, session, reading);
  if (!found.ok) return found;
  const dialect = found.value;
  const read = readStatement(sql, dialect);
  const refusal = refusalOf(read);
  if (refusal !== undefined) return err(refusal);
  return ok({ session: { ...session, dialect }, statement: read });
}

/** Why no engine is asked; undefined for a statement that may go on. */
function refusalOf({ kind, doubt }: Statement): GatewayError | undefined {
  if (kind === "empty") return gatewayError("query.syntax", { message: "There is no statement." });
  if (doubt === "severalStatements") return oneStatement;
  return ofSessions.has(kind) ? noSessions : undefined;
}

/** The statement that explains `sql` without running it. Refuses what an engine would run instead. */
export async function explained(
  { session, statement }: Read,
  admit: Admit,
): Promise<Result<Read, GatewayError>> {
  if (!explainable.has(statement.kind)) return err(onlyQueries);
  const sql = `EXPLAIN ${statement.sql}`;
  const refused = await admit(sql, session.dialect);
  if (refused !== undefined) return err(refused);
  const explaining = readStatement(sql, session.dialect);
  // `EXPLAIN` and a text that begins with `ANALYZE` would run it.
  if (explaining.kind !== "explain" || explaining.writes) return err(onlyQueries);
  return ok({ session, statement: explaining });
}

const explainable: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "select",
  "insert",
  "update",
  "delete",
  "merge",
]);

/** The dialect to read in; the text has been taken in for it. */
async function dialectOf(
  sql: string,
  session: Session,
  { door, admit, signal }: Reading,
): Promise<Result<Dialect, GatewayError>> {
  const candidates = dialectsOf(door.engines(session));
  const [only = "generic"] = candidates;
  const isCertain = candidates.length <= 1;
  for (const dialect of isCertain ? [only] : candidates) {
    const refused = await admit(sql, dialect);
    if (refused !== undefined) return err(refused);
    if (isCertain) return ok(dialect);
    // Routers may look at the text, so each dialect is asked where it leads; asking takes no slot.
    const query = door.query(readStatement(sql, dialect), [], { ...session, dialect });
    const target = await door.target(query, signal);
    if (target.ok && allRead(dialect, target.value)) return ok(dialect);
  }
  const refused = await admit(sql, "generic");
  return refused === undefined ? ok("generic") : err(refused);
}

/** Each dialect once, in a fixed order, so that the same text is always read alike. */
function dialectsOf(reached: readonly ReachedEngine[]): readonly Dialect[] {
  return [...new Set(reached.map(({ dialect }) => dialect ?? "generic"))].toSorted();
}

const oneStatement = gatewayError("query.unsupported", {
  message: "A call runs one statement; send each in a call of its own.",
});
const noSessions = gatewayError("query.unsupported", {
  message:
    "Each call is a session of its own: transactions, settings, cursors and prepared statements do not outlive it. Name catalog and schema as arguments.",
});
const onlyQueries = gatewayError("query.unsupported", {
  message: "Only a single query or change of rows can be explained; it is not run.",
});
