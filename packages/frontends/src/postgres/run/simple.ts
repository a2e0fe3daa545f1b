/**
 * The simple protocol: the statements of one text, one after the other, each with its own answer; the
 * first failure ends the rest. Several of them are one transaction, as PostgreSQL has it.
 */
import type { ClientSession } from "../session/clientSession.ts";
import { encodeEvent, noTransaction } from "../encode.ts";
import type { ErrorPlace } from "../errors.ts";
import type { Order, Step, Stop } from "./execution/step.ts";
import type { Implicit } from "./implicit.ts";
import type { Outbox } from "../outbox.ts";
import type { Executor } from "./executor.ts";
import type { Failure } from "../failure.ts";
import type { Series } from "./series.ts";
import {
  needsTransaction,
  preparedFrom,
  type ReadStatement,
  type StatementReader,
} from "../read/statement.ts";

export interface SimpleParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly executor: Executor;
  readonly series: Series;
  readonly implicit: Implicit;
  readonly read: StatementReader;
}

/** One statement of a text. */
interface Piece {
  readonly statement: ReadStatement;
  readonly text: string;
  readonly several: boolean;
  readonly last: boolean;
}

/** Answers a text. A transaction that is open afterwards is one that the client began. */
export async function answerText(text: string, parts: SimpleParts): Promise<Failure | undefined> {
  const { session, out, series, implicit } = parts;
  const dropping = series.dropUnnamed();
  if (dropping !== undefined) await dropping;
  const statements = parts.read(text);
  if (!statements.ok) return { error: statements.error, place: { sql: text } };
  const { length } = statements.value;
  if (length === 0) out.put({ kind: "emptyQuery" });
  const [first] = statements.value;
  let failure: Failure | undefined;
  if (length === 1 && first !== undefined && isPlain(first, implicit)) {
    const { executor } = parts;
    const execution = executor.prepare(orderOf(first));
    const starting = executor.start(execution);
    const answer = starting instanceof Promise ? await starting : starting;
    const stopping =
      answer === undefined
        ? executor.step(execution, allRows)
        : executor.answered(execution, answer, allRows);
    const stop = stopping instanceof Promise ? await stopping : stopping;
    failure = tell({ stop, queryId: execution.plan.queryId }, placeOf(first, text), out);
  } else failure = await answerEach(statements.value, text, parts);
  if (implicit.open) await series.end();
  const leaving = implicit.open ? implicit.leave(failure !== undefined) : implicit.forget();
  const error = leaving instanceof Promise ? await leaving : leaving;
  if (session.pin === undefined && length > 1) session.endTransaction(failure === undefined);
  const ending = series.sync();
  if (ending !== undefined) await ending;
  return failure ?? (error && { error, place: {} });
}

/** Nothing of it is about more than the statement itself. Most texts are one of these, so they take no other turn. */
function isPlain({ kind, cursor }: ReadStatement, implicit: Implicit): boolean {
  return kind.kind === "query" && cursor === undefined && !implicit.open;
}

/** Answers one after the other, up to the first failure. */
async function answerEach(
  statements: readonly ReadStatement[],
  text: string,
  parts: SimpleParts,
): Promise<Failure | undefined> {
  const { length } = statements;
  for (const [index, statement] of statements.entries()) {
    const piece = { statement, text, several: length > 1, last: index === length - 1 };
    const failure = await answerOne(piece, parts);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

async function answerOne(piece: Piece, parts: SimpleParts): Promise<Failure | undefined> {
  const { statement, text, several } = piece;
  const place = placeOf(statement, text);
  const { session, out, implicit } = parts;
  if (several && session.pin === undefined) session.mark();
  const entering = implicit.refusal(statement) ?? enter(piece, parts);
  const refused = entering instanceof Promise ? await entering : entering;
  if (refused !== undefined) return { error: refused, place };
  const ran = await run(statement, text, parts);
  // The implicit transaction commits before the client is told that its last statement is done.
  if (ran.stop.kind === "complete" && piece.last && implicit.open) {
    await parts.series.end();
    const error = await implicit.leave(false);
    if (error !== undefined) return { error, place };
  }
  return tell(ran, place, out);
}

/** Tells the client that its statement is done. */
function tell({ stop, queryId }: Ran, place: ErrorPlace, out: Outbox): Failure | undefined {
  if (stop.kind === "failed") {
    return { error: stop.error, place: queryId === undefined ? place : { ...place, queryId } };
  }
  if (stop.kind === "suspended") throw new Error("a simple query has no row limit");
  if (stop.told !== true) out.put({ kind: "commandComplete", tag: stop.tag });
  return undefined;
}

function placeOf({ start }: ReadStatement, text: string): ErrorPlace {
  return { sql: text, statementStart: start };
}

/** Begins the transaction of the text where this statement is the first that needs it. */
function enter({ statement, several, last }: Piece, { implicit, session }: SimpleParts) {
  if (!several || session.pin !== undefined) return undefined;
  const needed = last ? statement.kind.kind === "declare" : needsTransaction(statement);
  return needed ? implicit.enter() : undefined;
}

interface Ran {
  readonly stop: Stop;
  readonly queryId?: string | undefined;
}

async function run(statement: ReadStatement, text: string, parts: SimpleParts): Promise<Ran> {
  const { kind } = statement;
  const { implicit, executor, series, session, out } = parts;
  if (kind.kind === "declare") {
    return { stop: await series.cursors.declare(preparedFrom(statement, text), []) };
  }
  const cursor = kind.kind === "cursor" ? kind.cursor : statement.cursor;
  if (cursor !== undefined && (kind.kind === "cursor" || series.cursors.knows(cursor))) {
    return { stop: await series.cursors.run(cursor, { formats: undefined, announce: "rows" }) };
  }
  if (kind.kind === "transaction" && implicit.open) {
    if (!kind.ends) {
      implicit.adopt();
      return { stop: { kind: "complete", rows: 0, tag: "BEGIN" } };
    }
    encodeEvent(noTransaction, session, out);
  }
  if (kind.kind === "transaction" && kind.ends) await series.end();
  const execution = executor.prepare(orderOf(statement));
  const stop = await executor.step(execution, allRows);
  return { stop, queryId: execution.plan.queryId };
}

const allRows: Step = { maxRows: 0, announce: "rows" };

function orderOf(statement: ReadStatement): Order {
  return { statement, parameters: [], formats: [], promised: undefined };
}
