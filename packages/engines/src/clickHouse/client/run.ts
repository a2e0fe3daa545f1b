/** Runs one statement and says in the port's events what came of it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { waited, type Course, type Reading } from "@gateway/core/query/course.ts";
import type {
  DoneEvent,
  EngineWork,
  FailedEvent,
  LastEvent,
  QueryStats,
} from "@gateway/core/query/event.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import type { Block } from "../page/block.ts";
import { errorOf, readException } from "../errors.ts";
import type { Exchanged, HttpResponse } from "./exchange.ts";
import type { Judged } from "../sql/guard.ts";
import { textFor } from "../identity.ts";
import { blocksOf, type StreamEnd } from "./stream.ts";
import { headerOf, submit, textOf, type Submission, type Wire } from "./wire.ts";

/** How much of a refusal is read. */
const refusalBytesMax = 64 * 1024;

/** A statement that was judged and has its parameters written. */
export interface Running {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly submission: Submission;
  readonly judged: Judged;
  /** The client's own text, where positions in it hold. */
  readonly shown: string | undefined;
  /** A result that is there with its end may come with it. */
  readonly whole: boolean;
  /** Columns of an answer without a block. */
  readonly described: (submission: Submission, judged: Judged) => Promise<Block["columns"]>;
  /** Where it was sent before it is run. */
  readonly sent?: Sent | undefined;
}

/** A statement whose request is on its way. */
export interface Sent {
  readonly exchanged: Exchanged;
  readonly shiftBytes: number;
  readonly sentMs: number;
}

/** What is known of the statement in the server, for whoever may have to end it there. */
export interface Trace {
  /** It was sent and its end was not seen. */
  open: boolean;
  /** The answer, once its head came. */
  response: HttpResponse | undefined;
}

/** Runs it, and returns the last event. The caller ends what is still open, and drops what is left of the answer. */
export function* runStatement(
  running: Running,
  trace: Trace,
  signal: AbortSignal,
): Course<LastEvent> {
  const sent = send(running, signal);
  if ("code" in sent) return failedBy(sent);
  const startedMs = sent.sentMs;
  const response = yield* answered(running, sent, trace, signal);
  if ("code" in response) return failedBy(response);
  const work = workOf(response);
  if (work !== undefined) {
    const executionMs = running.clock.nowMs() - startedMs;
    yield {
      kind: "progress",
      state: "running",
      stats: { queueMs: 0, executionMs, rows: 0, bytes: 0, work },
    };
  }
  const format = headerOf(response, "x-clickhouse-format");
  if (running.judged.reads && format !== undefined && format !== "Native") {
    const message = "a FORMAT clause is the gateway's: leave it out";
    return failedBy(gatewayError("query.unsupported", { message }));
  }
  const blocks = blocksOf(response.body);
  const counted = { rows: 0, bytes: 0 };
  let columns: Block["columns"] | undefined;
  for (;;) {
    const step = yield* blocks.next();
    if (step.done === true) {
      trace.open = step.value.kind === "broken" || step.value.kind === "unsupported";
      const failed = failureOf(step.value, running);
      if (failed !== undefined) return failedBy(failed);
      break;
    }
    const block = step.value;
    if (columns === undefined) {
      ({ columns } = block);
      yield { kind: "columns", columns };
    } else if (!sameColumns(columns, block.columns)) {
      trace.open = true;
      return failedBy(gatewayError("engine.broken", { detail: "blocks of another shape" }));
    }
    if (block.rows === 0) continue;
    const batch: ColumnarBatch = { form: "columnar", rows: block.rows, columns: block.vectors };
    counted.rows += block.rows;
    counted.bytes += batchBytes(batch);
    yield { kind: "batch", batch };
  }
  if (running.judged.reads && columns === undefined) {
    yield {
      kind: "columns",
      columns: yield* waited(running.described(running.submission, running.judged)),
    };
  }
  const executionMs = running.clock.nowMs() - startedMs;
  const stats = { queueMs: 0, executionMs, ...counted };
  return doneOf(running, response, work === undefined ? stats : { ...stats, work });
}

/** The last event of a statement that went well. */
export function doneOf({ judged }: Running, response: HttpResponse, stats: QueryStats): DoneEvent {
  if (judged.reads) return { kind: "done", stats };
  const written = writtenRows(response);
  const done = { kind: "done", stats, updateType: judged.tag } as const;
  return written === undefined ? done : { ...done, updateCount: written };
}

function sameColumns(a: Block["columns"], b: Block["columns"]): boolean {
  return (
    a.length === b.length && a.every((column, index) => column.engineType === b[index]?.engineType)
  );
}

/** The last event of a statement that went wrong. */
export function failedBy(error: GatewayError): FailedEvent {
  return { kind: "failed", error };
}

/** Sends it, or says why it can not be sent. */
export function send(
  { wire, clock, submission }: Pick<Running, "wire" | "clock" | "submission">,
  signal: AbortSignal,
): Sent | GatewayError {
  const text = textFor(submission.caller, submission.sql);
  if (!text.ok) return text.error;
  const sentMs = clock.nowMs();
  try {
    const exchanged = submit(wire, submission, text.value.sql, signal);
    return { exchanged, shiftBytes: text.value.shiftBytes, sentMs };
  } catch {
    // Half of a surrogate pair in a field.
    return gatewayError("engine.broken", { detail: "an address that can not be written" });
  }
}

/** The answer whose status is good, or why there is none. */
export function* answered(
  running: Running,
  { exchanged, shiftBytes }: Sent,
  trace: Trace,
  signal: AbortSignal,
): Reading<HttpResponse | GatewayError> {
  const { submission } = running;
  trace.open = true;
  const due = exchanged.answered();
  const outcome = due instanceof Promise ? yield* waited(due) : due;
  if (!outcome.ok) {
    trace.open = outcome.error === "closed" || outcome.error === "aborted";
    if (signal.aborted) return gatewayError("query.cancelled");
    const detail = outcome.error;
    return gatewayError(trace.open ? "engine.broken" : "cluster.connectFailed", { detail });
  }
  const response = outcome.value;
  trace.response = response;
  if (isOfAnother(response, submission)) {
    return gatewayError("engine.broken", { detail: "an answer to another query" });
  }
  if (response.statusCode === 200) return response;
  return yield* refusalOf(response, trace, { ...running, shiftBytes });
}

/** An answer to another question is never handed on. */
export function isOfAnother(
  response: HttpResponse,
  { queryId }: Pick<Submission, "queryId">,
): boolean {
  const echoed = headerOf(response, "x-clickhouse-query-id");
  return echoed !== undefined && echoed !== queryId;
}

function* refusalOf(
  response: HttpResponse,
  trace: Trace,
  about: Pick<Running, "shown" | "submission"> & { readonly shiftBytes: number },
): Reading<GatewayError> {
  const number = headerOf(response, "x-clickhouse-exception-code");
  const text = yield* textOf(response, refusalBytesMax);
  const exception = readException(text, number);
  trace.open = exception.number === 0;
  if (exception.number > 0) return errorOf(exception, { ...about, ...about.submission });
  // A proxy's answer, or a redirect: nothing that ran is known.
  const code =
    response.statusCode === 502 || response.statusCode === 503
      ? "cluster.connectFailed"
      : "engine.broken";
  return gatewayError(code, { detail: `status ${response.statusCode}` });
}

function failureOf(end: StreamEnd, { shown, submission }: Running): GatewayError | undefined {
  switch (end.kind) {
    case "complete":
      return undefined;
    case "exception":
      return errorOf(readException(end.text), { shown, caller: submission.caller, shiftBytes: 0 });
    case "unsupported": {
      const message = `a column of type ${end.type.slice(0, 200)} can not be read; cast it to String`;
      return gatewayError("query.unsupported", { message });
    }
    case "broken":
      return gatewayError("engine.broken", { detail: end.reason });
  }
}

interface Summary {
  readonly [key: string]: unknown;
}

function summaryOf(response: HttpResponse): Summary | undefined {
  const text =
    headerOf(response, "x-clickhouse-summary") ?? headerOf(response, "x-clickhouse-progress");
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as Summary) : undefined;
  } catch {
    return undefined;
  }
}

function countIn(summary: Summary, key: string): number {
  const value = Number(summary[key] ?? 0);
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/** What the head of the answer says of the work so far. */
function workOf(response: HttpResponse): EngineWork | undefined {
  const summary = summaryOf(response);
  if (summary === undefined || Object.keys(summary).length === 0) return undefined;
  const rowsRead = countIn(summary, "read_rows");
  const total = countIn(summary, "total_rows_to_read");
  return {
    splitsQueued: 0,
    splitsRunning: 0,
    splitsDone: 0,
    nodes: 1,
    cpuMs: 0,
    rowsRead,
    bytesRead: countIn(summary, "read_bytes"),
    peakBytes: countIn(summary, "memory_usage"),
    ...(total > 0 ? { percent: Math.min(100, (rowsRead / total) * 100) } : {}),
  };
}

function writtenRows(response: HttpResponse): number | undefined {
  const summary = summaryOf(response);
  if (summary === undefined || summary["written_rows"] === undefined) return undefined;
  return countIn(summary, "written_rows");
}
