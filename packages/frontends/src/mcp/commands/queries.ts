/** The tools that run, explain, follow and cancel statements. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { SignalledClient } from "@gateway/core/tool/canceller.ts";
import type { z } from "zod";
import { longTexts } from "../../listener/longTexts.ts";
import { tableText, toldColumns, type AnswerLimits, type Cut } from "../encode.ts";
import type { Facts } from "../machine.ts";
import { explained, readFor, type Admit, type Read } from "../read/statement.ts";
import { OpenStatement, type Answer, type Waiting } from "../run/openStatement.ts";
import { sessionOf } from "../session/session.ts";
import type { Call, Served } from "./context.ts";
import { dataNote, failedResult, resultOf, type ToolResult } from "./result.ts";
import type { cancelInput, executeInput, explainInput, statusInput } from "./schemas.ts";

type Execute = z.output<typeof executeInput>;

/** Rows of an answer whose agent named no number: enough to see, and little to read. */
const defaultRows = 200;

/** Runs a statement and waits for its rows. */
export async function executeQuery(args: Execute, call: Call, served: Served): Promise<ToolResult> {
  const read = await readOf(args, call, served);
  return read.ok ? started(read.value, args, call, served) : failedResult(read.error, notRun);
}

/** Asks the engine how it would run a statement. */
export async function explainQuery(
  args: z.output<typeof explainInput>,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const read = await readOf(args, call, served);
  const explaining = read.ok ? await explained(read.value, admitOf(call, served)) : read;
  if (!explaining.ok) return failedResult(explaining.error, notRun);
  return started(explaining.value, { ...args, maxRows: served.config.maxAnswerRows }, call, served);
}

/** The next answer of a statement. */
export async function getQueryStatus(
  args: z.output<typeof statusInput>,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const found = foundBy(args.handle, call, served);
  if (!found.ok) return failedResult(found.error, notRun);
  const { statement, token } = found.value;
  const answer = await statement.answer(token, waitingOf(args, call, served, statement));
  if (answer === undefined) return failedResult(gatewayError("query.unknown"), notRun);
  return answered(statement, answer, call, served);
}

/** Ends a statement: of this agent by its handle, or any of the caller's by its id. */
export async function cancelQuery(
  args: z.output<typeof cancelInput>,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const ended = await cancelled(args, call, served);
  if (!ended.ok) return failedResult(ended.error, { cancelled: false });
  return resultOf("The query was cancelled.", { cancelled: true });
}

async function cancelled(
  args: z.output<typeof cancelInput>,
  call: Call,
  served: Served,
): Promise<Result<void, GatewayError>> {
  const { identity } = call.caller.login;
  if ("handle" in args) {
    const found = foundBy(args.handle, call, served);
    if (found.ok) found.value.statement.cancel();
    return found.ok ? ok(undefined) : found;
  }
  const id = args.queryId as QueryId;
  const own = served.shelf.find(id, identity.user);
  if (own === undefined) return served.door.cancel(id, identity);
  own.cancel();
  return ok(undefined);
}

const notRun = { status: "failed" };

/** The statement of a call, read in the words of its engines. */
async function readOf(
  args: Pick<Execute, "sql" | "catalog" | "schema" | "purpose">,
  call: Call,
  served: Served,
): Promise<Result<Read, GatewayError>> {
  const { config, door, shelf } = served;
  const { sql } = args;
  if (Buffer.byteLength(sql) > config.maxStatementBytes) {
    return err(gatewayError("query.textTooLarge"));
  }
  const refusal = shelf.refusalOf(call.caller.login.identity.user);
  if (refusal !== undefined) return err(refusal);
  const session = sessionOf(call.caller, args, "generic");
  if (!session.ok) return session;
  const admit = admitOf(call, served);
  return await readFor(sql, session.value, { door, admit, signal: call.signal });
}

/** Long texts take turns with those of others, and are no more than the process can hold. */
function admitOf({ caller, signal }: Call, { config, host }: Served): Admit {
  const client = new SignalledClient(signal);
  const { user } = caller.login.identity;
  return (sql, dialect) =>
    longTexts.admit({ sql, dialect, limits: config, user, client }, host.slices);
}

async function started(
  { session, statement: read }: Read,
  args: Partial<Pick<Execute, "maxRows" | "waitSecs" | "timeoutSecs" | "keepOpen">>,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const { config, door, host, shelf } = served;
  const statement = new OpenStatement({
    polled: door.start(door.query(read, [], session)),
    host,
    idleMs: config.idleQuerySecs * 1000,
    timeLimitMs: args.timeoutSecs === undefined ? undefined : args.timeoutSecs * 1000,
    keepsOpen: args.keepOpen === true,
    whenOver: (over) => shelf.over(over),
  });
  shelf.add(statement);
  const answer = await statement.answer(0, waitingOf(args, call, served, statement));
  if (answer === undefined) throw new Error("a new statement has no first answer");
  return answered(statement, answer, call, served);
}

function waitingOf(
  { maxRows, waitSecs }: Partial<Pick<Execute, "maxRows" | "waitSecs">>,
  { signal, tell }: Call,
  { config, host }: Served,
  { polled }: OpenStatement,
): Waiting {
  const limits: AnswerLimits = {
    rows: Math.min(maxRows ?? defaultRows, config.maxAnswerRows),
    bytes: config.maxAnswerBytes,
  };
  const waitMs = Math.min(waitSecs ?? config.maxWaitSecs, config.maxWaitSecs) * 1000;
  const { id, receivedAtMs } = polled.query;
  const progress = (facts: Facts): void => {
    tell({ elapsedMs: host.clock.nowMs() - receivedAtMs, text: progressText(id, facts) });
  };
  return { signal, waitMs, limits, progress };
}

/** One line for a person who waits. */
function progressText(id: string, { state, queuePosition, stats }: Facts): string {
  if (state === "queued") {
    const place = queuePosition === undefined ? "" : ` at place ${queuePosition}`;
    return `Query ${id} waits for a slot${place}.`;
  }
  const rows = stats?.work?.rowsRead ?? stats?.rows;
  const percent = stats?.work?.percent;
  const done = percent === undefined ? "" : `, ${Math.round(percent)} % done`;
  return `Query ${id} is ${state}${rows === undefined ? "" : `, ${rows} rows so far`}${done}.`;
}

interface Found {
  readonly statement: OpenStatement;
  readonly token: number;
}

/** The caller's statement behind a handle. One answer for all that are forged, expired, forgotten or another's. */
function foundBy(
  handle: string,
  { caller }: Call,
  { handles, shelf }: Served,
): Result<Found, GatewayError> {
  const { user } = caller.login.identity;
  const place = handles.open(handle, user);
  if (place === "elsewhere") return err(gatewayError("query.elsewhere"));
  const statement = place === undefined ? undefined : shelf.find(place.queryId, user);
  if (place === undefined || statement === undefined) return err(gatewayError("query.unknown"));
  return ok({ statement, token: place.token });
}

function answered(
  statement: OpenStatement,
  answer: Answer,
  { caller }: Call,
  { handles, shelf }: Served,
): ToolResult {
  const queryId = statement.polled.query.id;
  const { facts, next } = answer;
  if (facts.error !== undefined) {
    return failedResult(facts.error, { status: "failed", queryId }, true);
  }
  const { user } = caller.login.identity;
  const handle = next === undefined ? undefined : handles.seal({ queryId, token: next }, user);
  if (handle !== undefined) shelf.hold(statement);
  return resultOf(
    answerText(queryId, answer, handle),
    structureOf(queryId, answer, handle),
    queryId,
  );
}

function structureOf(
  queryId: string,
  { facts, rows, firstRow, cuts, elapsedMs }: Answer,
  handle: string | undefined,
): Record<string, unknown> {
  const { state, columns, queuePosition, updateType, updateCount, notices } = facts;
  return {
    status: state,
    queryId,
    ...(columns === undefined ? {} : { columns: toldColumns(columns), rows, firstRow }),
    complete: handle === undefined && cuts.length === 0,
    ...(cuts.length === 0 ? {} : { truncated: cuts }),
    ...(handle === undefined ? {} : { handle }),
    ...(queuePosition === undefined ? {} : { queuePosition }),
    elapsedMs,
    ...(updateType === undefined ? {} : { statement: updateType }),
    ...(updateCount === undefined ? {} : { affectedRows: updateCount }),
    ...(notices.length === 0 ? {} : { notices }),
  };
}

const cutTexts: Readonly<Record<Cut, string>> = {
  rows: "the limit of rows was reached: more rows exist and the query was ended",
  bytes: "the limit of bytes was reached: more rows exist and the query was ended",
  values: "long values were cut",
  time: "the time limit ended the query: more rows may exist",
};

function answerText(queryId: string, answer: Answer, handle: string | undefined): string {
  const { facts, rows, firstRow, cuts } = answer;
  const { state, columns, updateType, updateCount, notices } = facts;
  const lines = [`Query ${queryId}: ${state}.`];
  if (updateType !== undefined) {
    lines.push(
      updateCount === undefined ? `${updateType}.` : `${updateType}: ${updateCount} rows.`,
    );
  }
  if (columns !== undefined) {
    const behind = firstRow === 0 ? "" : ` behind the first ${firstRow}`;
    lines.push(`${rows.length} rows${behind}.`);
  }
  for (const cut of cuts) lines.push(`TRUNCATED: ${cutTexts[cut]}.`);
  if (handle !== undefined) {
    lines.push(`Not complete. Go on with get_query_status and this handle: ${handle}`);
  }
  if (notices.length > 0) lines.push(`${notices.length} notices of the engine, see notices.`);
  if (columns === undefined) return lines.join("\n");
  const names = columns.map(({ name }) => name);
  return [...lines, dataNote, tableText(names, rows)].join("\n");
}
