/**
 * What a client's statement may not do on a connection that sessions share, and what it may leave there.
 *
 * The server would take such a statement and keep what it made on its connection, where the client's next
 * statement does not find it and another session's does. Its success would be a lie, so it is refused.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { copiesToClient } from "./copyTarget.ts";
import { keepingIn } from "./keeping.ts";

/** A statement that may run. */
export interface Judged {
  readonly tag: string;
  /** A plain query, which is told by the number of its rows and not by a name. */
  readonly query: boolean;
  /** Something may be left on the connection: it is cleaned before another session gets it. */
  readonly leaves: boolean;
}

/** Kinds that leave nothing by themselves. What the functions do that they call is looked at besides. */
const harmless: ReadonlySet<StatementClass["kind"]> = new Set([
  "select",
  "show",
  "explain",
  "describe",
  "insert",
  "update",
  "delete",
  "merge",
]);

/** `pinned`: in a transaction, on a connection that is its own until then. `copies`: its client takes part in a COPY. `shared`: under an account that runs the statements of others too. */
export interface Circumstances {
  readonly pinned: boolean;
  readonly copies: boolean;
  readonly shared: boolean;
}

/** Judges one statement. */
export function judge(
  sql: string,
  { pinned, copies, shared }: Circumstances,
): Result<Judged, GatewayError> {
  if (sql.includes("\0")) return refuse("query.syntax", "the text holds a NUL character");
  const found = classifyStatement(sql, "postgres");
  if (found.kind === "empty") return refuse("query.syntax", "the text holds no statement");
  if (found.doubt === "severalStatements")
    return refuse("query.unsupported", "one statement at a time; the text holds several");
  const passes = copies && found.kind === "copy" && copiesToClient(sql);
  const refused = (passes ? undefined : kindRefusal(found)) ?? keepingRefusal(found, sql, pinned);
  if (refused !== undefined) return err(refused);
  if (shared && keepingIn(sql).ends)
    return refuse("query.permission", "statements of others are ended through the gateway");
  const leaves = !(harmless.has(found.kind) || passes) || keepingIn(sql).calls;
  const { tag } = found;
  return ok({ tag, query: found.kind === "select" && tag !== "SELECT INTO", leaves });
}

/** Reads of a long text, in steps, what `judge` asks of it. */
export function judgeAhead(sql: string): Steps<void> {
  return keepingIn.ahead(sql);
}

function kindRefusal({ kind, tag, firstWord }: StatementClass): GatewayError | undefined {
  switch (kind) {
    case "begin":
    case "commit":
    case "rollback":
    case "savepoint":
      return refusal("query.transaction", `${tag} is not possible here`);
    case "set":
    case "reset":
    case "discard":
      return refusal("query.unsupported", `this ${firstWord} is not kept by the gateway`);
    case "use":
      return refusal("query.unsupported", "PostgreSQL has no USE");
    case "prepare":
    case "execute":
    case "deallocate":
      return refusal("query.unsupported", `${tag} as text; use the client's protocol`);
    case "kill":
      return refusal("query.permission", "queries are ended through the gateway");
    case "copy":
      return refusal("query.unsupported", `this form of ${firstWord} is not passed on`);
    default:
      return firstWord === "LISTEN" || firstWord === "LOAD"
        ? refusal("query.unsupported", `${firstWord} would be kept by a connection that is shared`)
        : undefined;
  }
}

function keepingRefusal(
  { kind }: StatementClass,
  sql: string,
  pinned: boolean,
): GatewayError | undefined {
  const { temporary, lock, setting, hold } = keepingIn(sql);
  if (kind === "declare" && hold)
    return refusal(
      "query.unsupported",
      "a cursor lives in its transaction only: WITH HOLD is not kept",
    );
  const makes = temporary && (kind === "ddl" || kind === "select" || kind === "explain");
  if (makes && !pinned)
    return refusal("query.unsupported", "temporary objects live in a transaction only");
  if (setting) {
    const message = "set_config: SET keeps a setting, and set_config as the whole query";
    return refusal("query.unsupported", message);
  }
  if (!lock) return undefined;
  const message =
    "a lock of the session is not kept between statements; pg_advisory_xact_lock in a transaction is";
  return refusal("query.unsupported", message);
}

function refusal(code: GatewayError["code"], message: string): GatewayError {
  return gatewayError(code, { message });
}

function refuse(code: GatewayError["code"], message: string): Result<never, GatewayError> {
  return err(refusal(code, message));
}
