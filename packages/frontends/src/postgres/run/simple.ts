/**
 * The simple protocol: the statements of one text, one after the other, each with its own answer; the
 * first failure ends the rest. Several of them are one transaction, as PostgreSQL has it.
 */
import type { ClientSession } from "../session/clientSession.ts";
import { encodeEvent, noTransaction } from "../encode.ts";
import type { Stop } from "./execution.ts";
import type { Implicit } from "./implicit.ts";
import type { Outbox } from "../outbox.ts";
import type { Executor } from "./executor.ts";
import type { Failure } from "../failure.ts";
import type { Series } from "./series.ts";
import {
  needsTransaction,
  type Prepared,
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
  let failure: Failure | undefined;
  for (const [index, statement] of statements.value.entries()) {
    const piece = { statement, text, several: length > 1, last: index === length - 1 };
    failure = await answerOne(piece, parts);
    if (failure !== undefined) break;
  }
  if (implicit.open) await series.end();
  const leaving = implicit.open ? implicit.leave(failure !== undefined) : implicit.forget();
  const error = leaving instanceof Promise ? await leaving : leaving;
  if (session.pin === undefined && length > 1) session.endTransaction(failure === undefined);
  const ending = series.sync();
  if (ending !== undefined) await ending;
  return failure ?? (error && { error, place: {} });
}

async function answerOne(piece: Piece, parts: SimpleParts): Promise<Failure | undefined> {
  const { statement, text, several } = piece;
  const place = { sql: text, statementStart: statement.start };
  const { session, out, implicit } = parts;
  if (several && session.pin === undefined) session.mark();
  const entering = implicit.refusal(statement) ?? enter(piece, parts);
  const refused = entering instanceof Promise ? await entering : entering;
  if (refused !== undefined) return { error: refused, place };
  const { stop, queryId } = await run(statement, text, parts);
  if (stop.kind === "failed") {
    return { error: stop.error, place: queryId === undefined ? place : { ...place, queryId } };
  }
  if (stop.kind === "suspended") throw new Error("a simple query has no row limit");
  // The implicit transaction commits before the client is told that its last statement is done.
  if (piece.last && implicit.open) {
    await parts.series.end();
    const error = await implicit.leave(false);
    if (error !== undefined) return { error, place };
  }
  out.put({ kind: "commandComplete", tag: stop.tag });
  return undefined;
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
  const order = { statement, parameters: [], formats: [], promised: undefined };
  const execution = executor.prepare(order);
  const stop = await executor.step(execution, { maxRows: 0, announce: "rows" });
  return { stop, queryId: execution.plan.queryId };
}

function preparedFrom(statement: ReadStatement, text: string): Prepared {
  return { ...statement, text, types: [], description: undefined, casts: undefined };
}
