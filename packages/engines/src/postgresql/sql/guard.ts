/**
 * What a client's statement may not do on a connection that sessions share, and what it leaves there.
 *
 * The server would take such a statement and keep what it made on its connection, where the client's next
 * statement does not find it and another session's does. Its success would be a lie, so it is refused, or the
 * connection stays with its session.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { copiesToClient } from "./copyTarget.ts";
import { keepingIn, type Keeping } from "./keeping.ts";
import { signalsIn, type Signals } from "./signals.ts";

/** A statement that may run. */
export interface Judged {
  readonly tag: string;
  /** A plain query, which is told by the number of its rows and not by a name. */
  readonly query: boolean;
  /** Something may be left on the connection: it is cleaned before another session gets it. */
  readonly leaves: boolean;
  /** What it leaves there for its session by its own words; undefined where they name nothing. */
  readonly lasting: string | undefined;
  /** Code that the text does not show may leave something for the session, or take it away: the server is asked. */
  readonly unsure: boolean;
  /** No cleaning removes what it leaves: the connection is closed behind its session. */
  readonly stains: boolean;
  /** It reads what the connection's sequences gave last, which is another's unless the connection is the session's own. */
  readonly readsSequences: boolean;
  /** It may give its connection's sequences a last value. */
  readonly movesSequences: boolean;
  /** It can tell which statements its connection has prepared, by their names or texts. */
  readonly lists: boolean;
  /** It signals connections, of which the server only says the numbers; the rest is said of what is sent for that. */
  readonly signals: Signals | undefined;
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

/** Where a statement runs, and what may come of it. */
export interface Circumstances {
  /** In a transaction, on a connection that is its own until then. */
  readonly pinned: boolean;
  /** What it leaves stays with its session. */
  readonly keeps: boolean;
  /** Its client takes part in a COPY. */
  readonly copies: boolean;
  /** Under an account that runs the statements of others too. */
  readonly shared: boolean;
  /** Whoever sent it knows which connections are its client's own to signal. */
  readonly signals: boolean;
}

/** Judges one statement. The same text comes again and again. */
export function judge(sql: string, circumstances: Circumstances): Result<Judged, GatewayError> {
  const { pinned, keeps, copies, shared, signals } = circumstances;
  const kind = circumstancesOf(pinned, keeps, copies, shared) | (signals ? withSignals : 0);
  return judgeBy(kind)(sql);
}

/** How statements are judged there; what was said of a text is remembered. */
export function judgeBy(kind: number): (sql: string) => Result<Judged, GatewayError> {
  return (byCircumstances[kind] ??= remembered((text) => judged(text, circumstancesIn(kind)), {
    textsMax: 1_000,
    lengthMax: 2_000,
  }));
}

/** As one number, so that no query makes an object of them. */
export function circumstancesOf(
  pinned: boolean,
  keeps: boolean,
  copies: boolean,
  shared: boolean,
): number {
  return (pinned ? 1 : 0) | (keeps ? 2 : 0) | (copies ? 4 : 0) | (shared ? 8 : 0);
}

/** Added to that number where `signals` holds. */
export const withSignals = 16;

function circumstancesIn(kind: number): Circumstances {
  return {
    pinned: (kind & 1) > 0,
    keeps: (kind & 2) > 0,
    copies: (kind & 4) > 0,
    shared: (kind & 8) > 0,
    signals: (kind & withSignals) > 0,
  };
}

const byCircumstances: ((sql: string) => Result<Judged, GatewayError>)[] = [];

function judged(sql: string, circumstances: Circumstances): Result<Judged, GatewayError> {
  const { pinned, keeps, copies, shared } = circumstances;
  if (sql.includes("\0")) return refuse("query.syntax", "the text holds a NUL character");
  const found = classifyStatement(sql, "postgres");
  if (found.kind === "empty") return refuse("query.syntax", "the text holds no statement");
  if (found.doubt === "severalStatements")
    return refuse("query.unsupported", "one statement at a time; the text holds several");
  const passes = copies && found.kind === "copy" && copiesToClient(sql);
  const keeping = keepingIn(sql);
  const refused =
    (passes ? undefined : kindRefusal(found, keeps)) ??
    (keeps ? undefined : keepingRefusal(found, keeping, pinned));
  if (refused !== undefined) return err(refused);
  if (shared && keeping.ends) return signalling(sql, found.kind, circumstances);
  const { kind, tag } = found;
  // NOTIFY has no part that the server evaluates.
  const isHarmless = harmless.has(kind) || passes || found.firstWord === "NOTIFY";
  const unsure = !isHarmless || keeping.calls;
  const lists = listsPrepared(sql, found, keeping);
  return ok({
    tag,
    query: kind === "select" && tag !== "SELECT INTO",
    leaves: unsure || lists,
    lasting: lastingOf(found, keeping),
    unsure,
    stains: keeping.stains || found.firstWord === "LOAD",
    readsSequences: keeping.sequences || keeping.calls,
    movesSequences: found.writes || keeping.moves,
    lists,
    signals: undefined,
  });
}

/** Of the functions that end what others run, a query may name one where the gateway says whom it ends. */
function signalling(
  sql: string,
  kind: StatementClass["kind"],
  circumstances: Circumstances,
): Result<Judged, GatewayError> {
  const signals = circumstances.signals && kind === "select" ? signalsIn(sql) : undefined;
  if (signals === undefined)
    return refuse("query.permission", "statements of others are ended through the gateway");
  const rest = judged(signals.sent.text, { ...circumstances, shared: false });
  return rest.ok ? ok({ ...rest.value, signals }) : rest;
}

/** Reads of a long text, in steps, what `judge` asks of it. */
export function judgeAhead(sql: string): Steps<void> {
  return keepingIn.ahead(sql);
}

/** What the words of a statement leave on its connection beyond a transaction. */
function lastingOf(
  { kind, firstWord }: StatementClass,
  { temporary, lock, setting, hold }: Keeping,
): string | undefined {
  if (makesTemporary(kind, temporary)) return "temporary table";
  if (kind === "declare" && hold) return "cursor WITH HOLD";
  if (kind === "prepare") return "prepared statement";
  if (kind === "set" || setting) return "setting";
  if (lock) return "advisory lock";
  return firstWord === "LISTEN" || firstWord === "LOAD" ? firstWord : undefined;
}

/** `CREATE TABLE … AS EXECUTE` and `EXPLAIN EXECUTE` name a statement too. */
function listsPrepared(sql: string, { kind }: StatementClass, keeping: Keeping): boolean {
  if (keeping.lists || kind === "prepare" || kind === "execute") return true;
  // DEALLOCATE ALL names none.
  if (kind === "deallocate") return !/\sALL\b/i.test(sql);
  return keeping.executes && (kind === "ddl" || kind === "explain");
}

function makesTemporary(kind: StatementClass["kind"], temporary: boolean): boolean {
  return temporary && (kind === "ddl" || kind === "select" || kind === "explain");
}

function kindRefusal(
  { kind, tag, firstWord }: StatementClass,
  keeps: boolean,
): GatewayError | undefined {
  switch (kind) {
    case "begin":
    case "commit":
    case "rollback":
    case "savepoint":
      return refusal("query.transaction", `${tag} is not possible here`);
    case "set":
    case "reset":
    case "discard":
      if (keeps) return undefined;
      return refusal("query.unsupported", `this ${firstWord} is not kept by the gateway`);
    case "use":
      return refusal("query.unsupported", "PostgreSQL has no USE");
    case "prepare":
    case "execute":
    case "deallocate":
      if (keeps) return undefined;
      return refusal("query.unsupported", `${tag} as text; use the client's protocol`);
    case "kill":
      return refusal("query.permission", "queries are ended through the gateway");
    case "copy":
      return refusal("query.unsupported", `this form of ${firstWord} is not passed on`);
    default:
      return !keeps && (firstWord === "LISTEN" || firstWord === "LOAD")
        ? refusal("query.unsupported", `${firstWord} would be kept by a connection that is shared`)
        : undefined;
  }
}

function keepingRefusal(
  { kind }: StatementClass,
  { temporary, lock, setting, hold, dropped }: Keeping,
  pinned: boolean,
): GatewayError | undefined {
  if (kind === "declare" && hold)
    return refusal(
      "query.unsupported",
      "a cursor lives in its transaction only: WITH HOLD is not kept",
    );
  if (makesTemporary(kind, temporary) && !(pinned && dropped)) {
    const message = "temporary objects are kept for a transaction only, and with ON COMMIT DROP";
    return refusal("query.unsupported", message);
  }
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
