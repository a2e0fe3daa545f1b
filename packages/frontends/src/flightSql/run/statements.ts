/** Statements from their text to what the door takes: admitted, read, their placeholders in one form. */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { DoneEvent, SessionChange } from "@gateway/core/query/event.ts";
import type { Query, Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import {
  findPlaceholders,
  rewritePlaceholders,
  type Placeholders,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { TakenFormat } from "@gateway/core/type/vector.ts";
import { longTexts } from "../../listener/longTexts.ts";
import { textTooLarge, unsupported, violation } from "../read/command.ts";

export interface StatementContext {
  readonly door: Door;
  readonly host: Host;
  readonly config: ListenerConfig;
}

/** Kinds that change a session or a transaction, which in this protocol messages do. */
const ofSession: ReadonlySet<Statement["kind"]> = new Set([
  "set",
  "reset",
  "use",
  "begin",
  "commit",
  "rollback",
  "savepoint",
  "prepare",
  "deallocate",
]);

/** Admits a text: refuses one that is too long, empty, or about the session. */
export async function admit(
  { host, config }: StatementContext,
  sql: string,
  session: Session,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  if (Buffer.byteLength(sql) > config.maxStatementBytes)
    return textTooLarge(config.maxStatementBytes);
  if (sql.trim() === "") return violation("The statement is empty.");
  const client = {
    get over() {
      return signal.aborted;
    },
  };
  const { dialect, identity } = session;
  const text = { sql, dialect, limits: config, user: identity.user, client };
  const refused = await longTexts.admit(text, host.slices);
  if (refused !== undefined) return refused;
  const { kind, tag } = readStatement(sql, dialect);
  if (!ofSession.has(kind)) return undefined;
  return unsupported(
    `${tag} is not run: sessions and transactions have messages of their own in this protocol.`,
  );
}

const takenRows: readonly TakenFormat[] = ["arrowMessages"];

/** The query of an admitted text, word for word. */
export function plainQuery({ door }: StatementContext, sql: string, session: Session): Query {
  return door.query(readStatement(sql, session.dialect), [], session, takenRows);
}

/** The query of a prepared text: with these values, or without any where it is only described. */
export function preparedQuery(
  { door }: StatementContext,
  sql: string,
  parameters: readonly Parameter[] | "none",
  session: Session,
): Result<Query, GatewayError> {
  const placed = placesOf(sql, session.dialect);
  if (!placed.ok) return placed;
  const { count } = placed.value;
  const values = parameters === "none" ? [] : parameters;
  if (parameters !== "none" && values.length !== count) {
    const message = `The statement has ${count} parameters and got ${values.length} values.`;
    return err(gatewayError("query.parameters", { message }));
  }
  const text = count === 0 ? sql : rewritePlaceholders(placed.value, "dollarNumber").sql;
  return ok(door.query(readStatement(text, session.dialect), values, session, takenRows));
}

/** The placeholders of a text: those of its dialect, and question marks where there are none of them. */
function placesOf(sql: string, dialect: Dialect): Result<Placeholders, GatewayError> {
  const own = findPlaceholders(sql, dialect);
  const found =
    own.ok && own.value.count === 0 ? findPlaceholders(sql, dialect, ["question"]) : own;
  if (found.ok) return found;
  const message =
    found.error.code === "unterminated"
      ? "The statement ends inside a string or a comment."
      : "The placeholders of the statement can not be told apart, or are too many.";
  const code = found.error.code === "unterminated" ? "query.syntax" : "query.parameters";
  return err(gatewayError(code, { message }));
}

/** Runs a statement to its end and leaves its rows out. */
export async function runToEnd(
  { door }: StatementContext,
  query: Query,
  signal: AbortSignal,
  onChange: (change: SessionChange) => void,
): Promise<Result<DoneEvent, GatewayError>> {
  for await (const event of door.run(query, signal)) {
    if (event.kind === "session") onChange(event.change);
    if (event.kind === "done") return ok(event);
    if (event.kind === "failed") return err(event.error);
  }
  // A stream that ends without a last event would look like a complete result.
  return err(gatewayError("engine.broken"));
}
