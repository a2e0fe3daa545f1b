/**
 * One statement that the engine answers: what MySQL does before it, the session's limits, its answer.
 *
 * What the frontend answers itself never comes here.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
import type { MysqlAttributes, NextTransaction } from "@gateway/core/query/mysqlCall.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { isolationNames, type ClientSession } from "../session/clientSession.ts";
import type { Responder } from "./responder.ts";
import { AskedResult, putResult, type AnswerForm } from "./resultSet.ts";
import { beforeStatement, nextFor } from "./transaction.ts";
import { relays, type Relayed } from "./relaying.ts";
import { rowCountRefusal } from "../read/rowCount.ts";
import { bringVariables, variablesRefusal } from "./userVariables.ts";

/** A statement with the values of one execution. */
export interface BoundStatement {
  /** As the client wrote it, and what that is. */
  readonly source: string;
  readonly statement: StatementClass;
  /** For the engine. */
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** The same question for an engine that does not know what it is asked. */
  readonly otherwise: string | undefined;
  /** For a server of MySQL's, in the place of `sql` and `parameters`. */
  readonly relayed?: Relayed | undefined;
}

/** A text that goes on in its client's own words. */
export function boundAsIs(
  source: string,
  statement: StatementClass,
  relayed: Relayed,
  otherwise?: string,
): BoundStatement {
  return { source, statement, sql: source, parameters: [], otherwise, relayed };
}

/** What the engine is asked. */
export interface EngineStatement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** A result ends after so many rows, as if it had no more; undefined means all. */
  readonly rowLimit: number | undefined;
  /** Milliseconds after which it fails; undefined means as long as the group allows. */
  readonly timeMs: number | undefined;
  /** In the place of both. */
  readonly relayed?: Relayed | undefined;
  /** What the transaction that it begins, or is, has for itself alone. */
  readonly next?: NextTransaction | undefined;
  /** What came with the client's own statement. */
  readonly attributes?: MysqlAttributes | undefined;
  /** The same question for an engine that has no such tables. Asked only while nothing is answered. */
  readonly otherwise?: string | undefined;
  /** Answers without the engine while nothing is answered; undefined where the engine's error is the answer. */
  readonly orElse?: (error: GatewayError) => Promise<boolean | undefined>;
}

/** Runs it and writes its whole answer. False when it failed. */
export function runStatement(
  responder: Responder,
  bound: BoundStatement,
  form: AnswerForm,
): Promise<boolean> | boolean {
  const { next } = responder.client;
  if (next?.isolation !== undefined && !relays(responder))
    return isolated(responder, bound, form, isolationNames[next.isolation]);
  const before =
    rowCountRefusal(bound.source) ??
    variablesOf(responder, bound.source) ??
    beforeStatement(responder, bound.statement);
  return before === undefined
    ? answer(responder, bound, form)
    : answerBehind(before, responder, bound, form);
}

function answerBehind(
  before: Promise<ErrorReply | undefined> | ErrorReply,
  responder: Responder,
  bound: BoundStatement,
  form: AnswerForm,
): Promise<boolean> | boolean {
  return before instanceof Promise
    ? behind(before, responder, bound, form)
    : responder.putError(before);
}

/** Runs one of which `plainly` says that it names nothing of the session, on servers of MySQL's. */
export function runPlain(
  responder: Responder,
  bound: BoundStatement,
  form: AnswerForm,
): AskedResult | Promise<boolean> | boolean {
  const before = beforeStatement(responder, bound.statement);
  if (before !== undefined) return answerBehind(before, responder, bound, form);
  const asked = responder.again(bound) ?? responder.keep(bound, engineStatement(responder, bound));
  return asked.next === undefined
    ? new AskedResult(responder, asked, form)
    : ofNext(responder, asked.next, () => putResult(responder, asked, form));
}

/** A server of MySQL's gets the session's variables before a statement that names some; elsewhere it is refused. */
export function variablesOf(
  responder: Responder,
  source: string,
): Promise<ErrorReply | undefined> | ErrorReply | undefined {
  return relays(responder)
    ? bringVariables(responder, source)
    : variablesRefusal(responder.client, source);
}

/** Runs it under an isolation of its own, on an engine that is only asked for the session's. */
async function isolated(
  responder: Responder,
  bound: BoundStatement,
  form: AnswerForm,
  level: string,
): Promise<boolean> {
  const { settings } = responder.client.session;
  responder.settle(new Map(settings).set("transaction_isolation", level));
  responder.client = { ...responder.client, next: undefined };
  const answered = await runStatement(responder, bound, form);
  // A statement may have changed other settings, such as the last id.
  const after = new Map(responder.client.session.settings);
  const before = settings.get("transaction_isolation");
  if (before === undefined) after.delete("transaction_isolation");
  else after.set("transaction_isolation", before);
  responder.settle(after);
  return answered;
}

/** What the engine is asked. SELECT alone ends at the session's limits. */
export function engineStatement(responder: Responder, bound: BoundStatement): EngineStatement {
  const { client } = responder;
  const { sql, parameters, otherwise, relayed } = bound;
  const isSelect = bound.statement.kind === "select";
  return {
    sql,
    parameters,
    rowLimit: isSelect ? client.rowLimit : undefined,
    timeMs: isSelect ? executionMs(client) : undefined,
    otherwise,
    relayed,
    attributes: responder.attributes,
    next: nextFor(responder, bound),
  };
}

async function behind(
  before: Promise<ErrorReply | undefined>,
  responder: Responder,
  bound: BoundStatement,
  form: AnswerForm,
): Promise<boolean> {
  const failed = await before;
  return failed === undefined ? await answer(responder, bound, form) : responder.putError(failed);
}

/** Passes the promise on: awaiting it here would cost every query a turn of the event loop's microtasks. */
function answer(responder: Responder, bound: BoundStatement, form: AnswerForm): Promise<boolean> {
  const asked = engineStatement(responder, bound);
  if (asked.next === undefined) return putResult(responder, asked, form);
  return ofNext(responder, asked.next, () => putResult(responder, asked, form));
}

/** The transaction that was asked for by `SET TRANSACTION`. What failed was none, and its client may well try again. */
export async function ofNext<Done>(
  responder: Responder,
  next: NextTransaction,
  run: () => Promise<Done>,
): Promise<Done> {
  responder.client = { ...responder.client, next: undefined };
  const done = await run();
  if (done === false) responder.client = { ...responder.client, next };
  return done;
}

function executionMs({ settings }: ClientSession): number | undefined {
  const value = settings.get("max_execution_time");
  return typeof value === "bigint" && value > 0n ? Number(value) : undefined;
}
