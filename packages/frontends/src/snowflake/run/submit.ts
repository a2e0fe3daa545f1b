/** From the text of a request to statements that run, one after the other, in a session. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import type { StatementKind } from "@gateway/core/sql/classify/statementKind.ts";
import { splitStatements } from "@gateway/core/sql/lex/split.ts";
import { findPlaceholders, rewritePlaceholders } from "@gateway/core/sql/rewrite/placeholders.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { SignalledClient } from "@gateway/core/tool/canceller.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { longTexts } from "../../listener/longTexts.ts";
import type { SnowflakeConfig } from "../config.ts";
import { bulkOf } from "../read/arrays.ts";
import { dialectOf } from "../read/dialect.ts";
import { respelled } from "../read/literals.ts";
import { readLocal } from "../read/local.ts";
import type { LiveSession } from "../session/sessions.ts";
import { changed, sessionOf, withoutAutocommit } from "../session/state.ts";
import type { Executions } from "../value/bindings.ts";
import { severalSuffix } from "../value/queryUuid.ts";
import { Execution } from "./execution.ts";
import type { Registry, Submitted } from "./registry.ts";

export interface Served {
  readonly config: SnowflakeConfig;
  readonly door: Door;
  readonly host: Host;
  readonly registry: Registry;
  /** Names this gateway where something of it is asked for again. */
  readonly mark: string;
}

/** What a request asks to be run. */
export interface Asked {
  readonly sql: string;
  readonly executions: Executions;
  readonly requestId: string;
  /** How many statements the text may hold; 0 for any number. */
  readonly statements: number;
  /** The driver does not wait, and asks for the result later. */
  readonly isAsync: boolean;
  /** It would rather have rows as Arrow than as JSON. */
  readonly wantsArrow: boolean;
  /** It writes bound values into the text, as texts in Snowflake's spelling. */
  readonly writesValues: boolean;
  readonly signal: AbortSignal;
}

/** One statement, ready for the door. */
export interface Ready {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** Statements of a text, and the session that they are read in. */
export interface Prepared {
  readonly ready: readonly Ready[];
  readonly dialect: Dialect;
  /** More than one statement in the text itself. */
  readonly several: boolean;
}

/** Reads the text and what is bound to it. Nothing runs yet. */
export async function prepare(
  asked: Asked,
  session: LiveSession,
  { config, door, host }: Served,
): Promise<Result<Prepared, GatewayError>> {
  const { sql: came, executions, signal } = asked;
  if (Buffer.byteLength(came) > config.maxStatementBytes)
    return err(gatewayError("query.textTooLarge"));
  const { user } = session.owner.login.identity;
  const client = new SignalledClient(signal);
  const text = { sql: came, dialect: "generic", limits: config, user, client } as const;
  const refused = await longTexts.admit(text, host.slices);
  if (refused !== undefined) return err(refused);
  const dialect = await dialectOf(
    came,
    sessionOf(session.state, session.owner, "generic"),
    door,
    signal,
  );
  const spelled = asked.writesValues ? respelled(came, dialect) : ok(came);
  if (!spelled.ok) return spelled;
  const { value: sql } = spelled;
  const split = splitStatements(sql, dialect);
  if (!split.ok) return err(gatewayError("query.textTooLarge"));
  const texts = split.value.map(({ start, end }) => sql.slice(start, end));
  if (texts.length === 0) {
    return err(gatewayError("query.syntax", { message: "Empty SQL statement." }));
  }
  if (texts.length > 1 && asked.statements !== 0 && asked.statements !== texts.length) {
    return err(countMismatch(texts.length, asked.statements));
  }
  const ready = readyOf(texts, executions, dialect);
  return ready.ok ? ok({ ready: ready.value, dialect, several: texts.length > 1 }) : ready;
}

function readyOf(
  texts: readonly string[],
  executions: Executions,
  dialect: Dialect,
): Result<readonly Ready[], GatewayError> {
  const [sql = ""] = texts;
  if (executions.length > 1) {
    return texts.length > 1 ? err(bindsOfSeveral) : bulkOf(sql, executions);
  }
  const parameters = executions[0] ?? [];
  if (parameters.length === 0) return ok(texts.map((one) => ({ sql: one, parameters })));
  if (texts.length > 1) return err(bindsOfSeveral);
  const found = findPlaceholders(sql, dialect, ["question", "colonName"]);
  if (!found.ok) return err(gatewayError("query.parameters"));
  const { names, count } = found.value;
  if (names.some((one) => !/^\d+$/.test(one))) {
    return err(
      gatewayError("query.parameters", { message: "Bound values are numbered, not named." }),
    );
  }
  if (count !== parameters.length) return err(bindCount(count, parameters.length));
  return ok([{ sql: rewritePlaceholders(found.value, "dollarNumber").sql, parameters }]);
}

/** Runs them one after the other; those behind one that failed are not run. */
export function submit(
  { ready, dialect, several }: Prepared,
  asked: Asked,
  session: LiveSession,
  served: Served,
): Submitted {
  const executions: Execution[] = [];
  const begin = (one: Ready): Execution => {
    const execution = executionOf(one, { dialect, wantsArrow: asked.wantsArrow }, session, served);
    executions.push(execution);
    return execution;
  };
  const [first, ...later] = ready;
  if (first === undefined) throw new Error("nothing was prepared");
  const begun = begin(first);
  const runAll = async (): Promise<void> => {
    await begun.over;
    let last = begun;
    for (const one of later) {
      if (last.outcome?.kind !== "done") return;
      last = begin(one);
      await last.over;
    }
  };
  const { id: firstId } = begun.polled.query;
  // The first of several has its own result, under its own id.
  const id = several ? `${firstId}${severalSuffix}` : firstId;
  return served.registry.add({
    id,
    several,
    handle: `${served.mark}.${id}`,
    session,
    requestId: asked.requestId,
    sql: asked.sql,
    isAsync: asked.isAsync,
    executions,
    over: runAll(),
  });
}

function executionOf(
  { sql, parameters }: Ready,
  { dialect, wantsArrow }: Pick<Prepared, "dialect"> & Pick<Asked, "wantsArrow">,
  session: LiveSession,
  { config, door, host, registry }: Served,
): Execution {
  const query = door.query(readStatement(sql, dialect), parameters, sessionNow(session, dialect));
  return new Execution({
    polled: door.start(query),
    host,
    resultBytesMax: config.maxResultBytes,
    pot: registry.pot,
    wantsArrow,
    onChange: (change) => {
      session.state = changed(session.state, change);
    },
  });
}

/**
 * Begins the transaction that a session without autocommit has with its first change of rows. Answers why it did not
 * begin: the change is not to run then, because it could not be taken back.
 */
export async function beginImplicitly(
  { ready, dialect }: Prepared,
  session: LiveSession,
  served: Served,
  signal: AbortSignal,
): Promise<Result<void, GatewayError>> {
  const { state } = session;
  const changes = ready.some(({ sql }) => changingKinds.has(readStatement(sql, dialect).kind));
  if (!changes || state.pin !== undefined || !withoutAutocommit(state)) return ok(undefined);
  const begin = { sql: "BEGIN", parameters: [] };
  const execution = executionOf(begin, { dialect, wantsArrow: false }, session, served);
  const leave = (): void => execution.cancel();
  signal.addEventListener("abort", leave, { once: true });
  await execution.over;
  signal.removeEventListener("abort", leave);
  const { outcome } = execution;
  await execution.spool.close();
  return outcome?.kind === "failed" ? err(outcome.error) : ok(undefined);
}

const changingKinds: ReadonlySet<StatementKind> = new Set(["insert", "update", "delete", "merge"]);

/** The session as it is at this moment. */
export function sessionNow(session: LiveSession, dialect: Dialect): Session {
  return sessionOf(session.state, session.owner, dialect);
}

/** Answers a statement about the session; undefined for one that an engine gets. */
export function answerLocally(
  sql: string,
  session: LiveSession,
): Result<void, GatewayError> | undefined {
  const state = readLocal(sql, session.state);
  if (state === undefined) return undefined;
  if (!state.ok) return state;
  session.state = state.value;
  return ok(undefined);
}

const bindsOfSeveral = gatewayError("query.unsupported", {
  message: "Values can be bound to a single statement only.",
});

function bindCount(wanted: number, bound: number): GatewayError {
  const message = `The statement has ${wanted} placeholders, and ${bound} values were bound.`;
  return gatewayError("query.parameters", { message });
}

function countMismatch(found: number, wanted: number): GatewayError {
  return gatewayError("query.parameters", {
    message: `Actual statement count ${found} did not match the desired statement count ${wanted}.`,
  });
}
