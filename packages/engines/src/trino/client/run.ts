/** One statement's answers as the events of the port. One whose answers came without a course goes on here (asked.ts). */
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { courseOf, waited, type Course } from "@gateway/core/query/course.ts";
import type {
  ColumnsEvent,
  DoneEvent,
  EngineWork,
  QueryStats,
  ResultEvent,
  WholeResult,
} from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { jsonSpan, valueOfSpan, type Span } from "@gateway/wire/trino/clientPage.ts";
import { columnsOf, isOutcome } from "../page/columns.ts";
import {
  StatementClient,
  type PageResponse,
  type PageResult,
  type Submission,
} from "./statementClient.ts";
import { errorOf, readFailure } from "../errors.ts";
import type { TrinoHttp } from "./http.ts";
import * as limits from "../limits.ts";
import { RowReader } from "../page/rows.ts";
import { ChangeReader } from "./session.ts";
import { segmentsOf, type SpooledRows } from "./spool.ts";
import { statsOf } from "./stats.ts";
import { noticesOf } from "./warnings.ts";

/** What a statement runs with. */
export interface RunContext {
  readonly http: TrinoHttp;
  readonly host: Host;
}

/** A statement ready to be sent. */
export interface EngineStatement extends Submission {
  readonly session: Session;
  /** The client takes rows as Trino wrote them. */
  readonly native: boolean;
  /** See `Sent.offset`. */
  readonly offset: number | undefined;
  /** Called once it was submitted. */
  begun?(statementClient: StatementClient): void;
}

/** Runs it. Ending the course early ends the query in the engine, and waits for that. */
export function* runStatement(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Course {
  if (signal.aborted) {
    yield { kind: "failed", error: abortError(signal) };
    return;
  }
  const statementClient = new StatementClient(context.http, context.host, statement, signal);
  statement.begun?.(statementClient);
  yield* followed({ statementClient, reading: new Reading(context, statement), signal });
}

/** A statement under way. */
export interface Running {
  readonly statementClient: StatementClient;
  readonly reading: Reading;
  readonly signal: AbortSignal;
}

/** What came of it already: events of answers that were read, and how the last of those ended it. */
export interface Came {
  readonly events: readonly ResultEvent[];
  /** An answer that was taken and not read. */
  readonly taken: PageResult | undefined;
  readonly error: GatewayError | undefined;
}

/** The rest of a statement, to its end in the engine. */
export function* followed({ statementClient, reading, signal }: Running, came?: Came): Course {
  try {
    if (came !== undefined) {
      for (const event of came.events) yield event;
      if (came.error !== undefined) {
        yield { kind: "failed", error: came.error };
        return;
      }
    }
    for (let taken = came?.taken; ; taken = undefined) {
      // What is there already is not awaited: a promise costs memory and a turn of the loop.
      const due = taken === undefined ? statementClient.heard() : undefined;
      if (due !== undefined) yield* waited(due);
      const answer = taken ?? statementClient.take();
      if (answer === undefined) {
        yield reading.done();
        return;
      }
      if (!answer.ok) {
        yield { kind: "failed", error: answer.error };
        return;
      }
      const { events, spooled, error } = reading.read(answer.value);
      for (const event of events) yield event;
      const over =
        spooled === undefined ? error : yield* courseOf(reading.spooled(spooled, signal));
      const progress = over === undefined ? reading.progress(answer.value) : undefined;
      if (progress !== undefined) yield progress;
      if (over !== undefined || signal.aborted) {
        yield { kind: "failed", error: over ?? abortError(signal) };
        return;
      }
    }
  } finally {
    const ending = statementClient.end();
    if (ending !== undefined) yield* waited(ending);
  }
}

/** What one page says, apart from its progress. */
interface Read {
  readonly events: readonly ResultEvent[];
  /** Rows that come as segments, in place of a batch. */
  readonly spooled: unknown;
  /** What the statement ends with. */
  readonly error: GatewayError | undefined;
}

/** What is known of a result while its answers come in. */
export class Reading {
  readonly #context: RunContext;
  readonly #statement: EngineStatement;
  readonly #changes: ChangeReader;
  readonly #startedMs: number;
  #saidMs: number;
  #columns: readonly Column[] | undefined;
  /** The columns hold the outcome of a change, which `done` reports. */
  #outcome = false;
  #rows: RowReader | undefined;
  #rowCount = 0;
  #byteCount = 0;
  #work: EngineWork | undefined;
  #updateType: string | undefined;
  #updateCount: number | undefined;
  #warnings = 0;

  constructor(context: RunContext, statement: EngineStatement) {
    this.#context = context;
    this.#statement = statement;
    this.#changes = new ChangeReader(statement.session);
    this.#startedMs = context.host.clock.nowMs();
    this.#saidMs = this.#startedMs;
  }

  /** `whole`: the result, where nobody was given it before. */
  done(whole?: WholeResult): DoneEvent {
    const updateType = this.#updateType;
    const updateCount = this.#updateCount;
    return { kind: "done", stats: this.#stats(), updateType, updateCount, whole };
  }

  /** Reads one answer. */
  read(answer: PageResponse): Read {
    const { page, bytes, headers } = answer;
    const events: ResultEvent[] = [];
    for (const change of this.#changes.read(headers)) events.push({ kind: "session", change });
    if (page.warnings !== undefined) this.#notice(bytes, page.warnings, events);
    if (page.error !== undefined) return ended(events, this.#failure(bytes, page.error));
    this.#updateType ??= page.updateType?.toUpperCase();
    this.#updateCount = page.updateCount ?? this.#updateCount;
    if (page.columns !== undefined && this.#columns === undefined) {
      const columns = this.#begin(answer);
      if (!columns.ok) return ended(events, columns.error);
      if (columns.value !== undefined) events.push(columns.value);
    }
    if (page.data === undefined || this.#outcome) return ended(events, undefined);
    if (this.#rows === undefined) return ended(events, unreadable("rows without columns"));
    if (bytes[page.data.start] !== openArray) {
      return { events, spooled: valueOfSpan(bytes, page.data) ?? null, error: undefined };
    }
    const batch = this.#batch(bytes, page.data);
    if (!batch.ok) return ended(events, batch.error);
    events.push({ kind: "batch", batch: batch.value });
    return ended(events, undefined);
  }

  /**
   * Yields a batch for each segment of spooled rows, as it comes. Returns the error that ended them, if one
   * did.
   */
  async *spooled(
    spooled: unknown,
    signal: AbortSignal,
  ): AsyncGenerator<ResultEvent, GatewayError | undefined, void> {
    const from = { http: this.#context.http, caller: this.#statement.caller };
    for await (const segment of segmentsOf(from, spooled, signal)) {
      const batch = segment.ok ? this.#segment(segment.value) : segment;
      if (!batch.ok) return batch.error;
      yield { kind: "batch", batch: batch.value };
    }
    return undefined;
  }

  /** The progress. Sent now and then, so that a client can draw a bar; the last page's goes into `done`. */
  progress({ page, bytes }: PageResponse): ResultEvent | undefined {
    const nowMs = this.#context.host.clock.nowMs();
    const last = page.nextUri === undefined;
    if (!last && nowMs - this.#saidMs < limits.progressMs) return undefined;
    // Who was not told of the engine's work while it ran is not told at the end: most statements are over before.
    if (last && this.#work === undefined) return undefined;
    this.#saidMs = nowMs;
    const stats = statsOf(bytes, page.stats);
    this.#work = stats?.work ?? this.#work;
    if (last) return undefined;
    const state = stats?.queued === true ? "queued" : "running";
    return { kind: "progress", state, stats: this.#stats() };
  }

  #begin({ page, bytes }: PageResponse): Result<ColumnsEvent | undefined, GatewayError> {
    const columns = columnsOf(page, bytes);
    if (columns === undefined) return err(unreadable("columns that can not be read"));
    this.#columns = columns;
    this.#outcome = this.#updateType !== undefined && isOutcome(columns);
    if (this.#outcome || columns.length === 0) return ok(undefined);
    const { native } = this.#statement;
    this.#rows = new RowReader(columns, native);
    if (!native || page.columns === undefined) return ok({ kind: "columns", columns });
    const { start, end } = page.columns;
    const described = { format: "trinoData", bytes: bytes.subarray(start, end) } as const;
    return ok({ kind: "columns", columns, native: described });
  }

  #segment(segment: SpooledRows): Result<Batch, GatewayError> {
    return this.#batch(segment.bytes, jsonSpan(segment.bytes));
  }

  #batch(bytes: Uint8Array, span: Span): Result<Batch, GatewayError> {
    const batch = this.#rows?.read(bytes, span) ?? err(unreadable("rows without columns"));
    if (batch.ok) {
      this.#rowCount += batch.value.rows;
      this.#byteCount += batchBytes(batch.value);
    }
    return batch;
  }

  #notice(bytes: Uint8Array, span: Span, events: ResultEvent[]): void {
    const all = noticesOf(bytes, span);
    if (all.length === 0) return;
    for (const notice of all.slice(this.#warnings, limits.warningsMax)) events.push(notice);
    this.#warnings = Math.max(this.#warnings, all.length);
  }

  #failure(bytes: Uint8Array, span: Span): GatewayError {
    const { sql, offset, caller } = this.#statement;
    const failure = readFailure(valueOfSpan(bytes, span));
    const error = errorOf(failure, offset === undefined ? undefined : sql, caller);
    if (error.position === undefined || offset === undefined) return error;
    return { ...error, position: error.position + offset };
  }

  #stats(): QueryStats {
    const executionMs = this.#context.host.clock.nowMs() - this.#startedMs;
    const rows = this.#rowCount;
    const bytes = this.#byteCount;
    const work = this.#work;
    if (work === undefined) return { queueMs: 0, executionMs, rows, bytes };
    return { queueMs: 0, executionMs, rows, bytes, work };
  }
}

function ended(events: readonly ResultEvent[], error: GatewayError | undefined): Read {
  return { events, spooled: undefined, error };
}

export const openArray = 0x5b;

function unreadable(detail: string): GatewayError {
  return gatewayError("engine.broken", { detail });
}
