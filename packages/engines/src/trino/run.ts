/** One statement's answers as the events of the port. */
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type {
  ColumnsEvent,
  DoneEvent,
  EngineWork,
  QueryStats,
  ResultEvent,
  ResultStream,
} from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { valueOfSpan, type Span } from "@gateway/wire/trino/clientPage.ts";
import { columnsOf, isOutcome } from "./columns.ts";
import { Conversation, type Answer, type Submission } from "./conversation.ts";
import { errorOf, readFailure } from "./errors.ts";
import type { TrinoHttp } from "./http.ts";
import * as limits from "./limits.ts";
import { RowReader } from "./rows.ts";
import { ChangeReader } from "./session.ts";
import { segmentsOf, type SpooledRows } from "./spool.ts";
import { statsOf } from "./stats.ts";
import { noticesOf } from "./warnings.ts";

/** Where statements run. */
export interface Lane {
  readonly http: TrinoHttp;
  readonly host: Host;
}

/** A statement ready to be sent. */
export interface Statement extends Submission {
  readonly session: Session;
  /** The client takes rows as Trino wrote them. */
  readonly native: boolean;
  /** See `Sent.offset`. */
  readonly offset: number | undefined;
  /** Told when it is under way. */
  begun?(conversation: Conversation): void;
}

/** Runs it. Ending the generator early ends the query in the engine, and waits for that. */
export async function* runStatement(
  lane: Lane,
  statement: Statement,
  signal: AbortSignal,
): ResultStream {
  if (signal.aborted) return yield { kind: "failed", error: abortError(signal) };
  const conversation = new Conversation(lane.http, lane.host, statement, signal);
  statement.begun?.(conversation);
  const reading = new Reading(lane, statement);
  try {
    for (;;) {
      const answer = await conversation.next();
      if (answer === undefined) return yield reading.done();
      if (!answer.ok) return yield { kind: "failed", error: answer.error };
      const over = yield* reading.events(answer.value, signal);
      if (over !== undefined) return yield { kind: "failed", error: over };
      if (signal.aborted) return yield { kind: "failed", error: abortError(signal) };
    }
  } finally {
    await conversation.end();
  }
}

/** What is known of a result while its answers come in. */
class Reading {
  readonly #lane: Lane;
  readonly #statement: Statement;
  readonly #changes: ChangeReader;
  readonly #startedMs: number;
  #saidMs: number;
  #columns: readonly Column[] | undefined;
  /** The columns are a change's outcome, which is told by `done`. */
  #outcome = false;
  #rows: RowReader | undefined;
  #counted = { rows: 0, bytes: 0 };
  #work: EngineWork | undefined;
  #updateType: string | undefined;
  #updateCount: number | undefined;
  #warnings = 0;

  constructor(lane: Lane, statement: Statement) {
    this.#lane = lane;
    this.#statement = statement;
    this.#changes = new ChangeReader(statement.session);
    this.#startedMs = lane.host.clock.nowMs();
    this.#saidMs = this.#startedMs;
  }

  done(): DoneEvent {
    const { updateType, updateCount } = {
      updateType: this.#updateType,
      updateCount: this.#updateCount,
    };
    return {
      kind: "done",
      stats: this.#stats(),
      ...(updateType === undefined ? {} : { updateType }),
      ...(updateCount === undefined ? {} : { updateCount }),
    };
  }

  /** The events of one answer, and the error that it ends with, if it does. */
  async *events(
    answer: Answer,
    signal: AbortSignal,
  ): AsyncGenerator<ResultEvent, GatewayError | undefined, void> {
    const { page, bytes, headers } = answer;
    for (const change of this.#changes.read(headers)) yield { kind: "session", change };
    if (page.warnings !== undefined) yield* this.#notices(bytes, page.warnings);
    if (page.error !== undefined) return this.#failure(bytes, page.error);
    this.#updateType ??= page.updateType?.toUpperCase();
    this.#updateCount = page.updateCount ?? this.#updateCount;
    if (page.columns !== undefined && this.#columns === undefined) {
      const columns = this.#begin(answer);
      if (!columns.ok) return columns.error;
      if (columns.value !== undefined) yield columns.value;
    }
    if (page.data !== undefined && !this.#outcome) {
      const over = yield* this.#data(bytes, page.data, signal);
      if (over !== undefined) return over;
    }
    yield* this.#progress(answer);
    return undefined;
  }

  #begin({ page, bytes }: Answer): Result<ColumnsEvent | undefined, GatewayError> {
    const columns = columnsOf(page, bytes);
    if (columns === undefined) return err(unreadable("columns that can not be read"));
    this.#columns = columns;
    this.#outcome = this.#updateType !== undefined && isOutcome(columns);
    if (this.#outcome || columns.length === 0) return ok(undefined);
    const { native } = this.#statement;
    this.#rows = new RowReader(columns, native);
    if (!native || page.columns === undefined) return ok({ kind: "columns", columns });
    const { start, end } = page.columns;
    const described = { format: "trinoData", bytes: bytes.slice(start, end) } as const;
    return ok({ kind: "columns", columns, native: described });
  }

  async *#data(
    bytes: Uint8Array,
    span: Span,
    signal: AbortSignal,
  ): AsyncGenerator<ResultEvent, GatewayError | undefined, void> {
    if (this.#rows === undefined) return unreadable("rows without columns");
    if (bytes[span.start] === openArray) {
      const batch = this.#batch(bytes, span);
      if (!batch.ok) return batch.error;
      yield { kind: "batch", batch: batch.value };
      return undefined;
    }
    const spooled = valueOfSpan(bytes, span);
    const from = { http: this.#lane.http, caller: this.#statement.caller };
    for await (const segment of segmentsOf(from, spooled, signal)) {
      const batch = segment.ok ? this.#segment(segment.value) : segment;
      if (!batch.ok) return batch.error;
      yield { kind: "batch", batch: batch.value };
    }
    return undefined;
  }

  #segment(segment: SpooledRows): Result<Batch, GatewayError> {
    return this.#batch(segment.bytes, { start: 0, end: segment.bytes.length });
  }

  #batch(bytes: Uint8Array, span: Span): Result<Batch, GatewayError> {
    const batch = this.#rows?.read(bytes, span) ?? err(unreadable("rows without columns"));
    if (batch.ok) {
      this.#counted.rows += batch.value.rows;
      this.#counted.bytes += batchBytes(batch.value);
    }
    return batch;
  }

  *#notices(bytes: Uint8Array, span: Span): Generator<ResultEvent, void, void> {
    const all = noticesOf(bytes, span);
    for (const notice of all.slice(this.#warnings, limits.warningsMax)) yield notice;
    this.#warnings = Math.max(this.#warnings, all.length);
  }

  /** Now and then, so that a client can draw a bar. */
  *#progress({ page, bytes }: Answer): Generator<ResultEvent, void, void> {
    const nowMs = this.#lane.host.clock.nowMs();
    const last = page.nextUri === undefined;
    if (!last && nowMs - this.#saidMs < limits.progressMs) return;
    this.#saidMs = nowMs;
    const stats = statsOf(bytes, page.stats);
    this.#work = stats?.work ?? this.#work;
    if (last) return;
    const state = stats?.queued === true ? "queued" : "running";
    yield { kind: "progress", state, stats: this.#stats() };
  }

  #failure(bytes: Uint8Array, span: Span): GatewayError {
    const { sql, offset, caller } = this.#statement;
    const failure = readFailure(valueOfSpan(bytes, span));
    const error = errorOf(failure, offset === undefined ? undefined : sql, caller);
    if (error.position === undefined || offset === undefined) return error;
    return { ...error, position: error.position + offset };
  }

  #stats(): QueryStats {
    const executionMs = this.#lane.host.clock.nowMs() - this.#startedMs;
    const work = this.#work === undefined ? {} : { work: this.#work };
    return { queueMs: 0, executionMs, ...this.#counted, ...work };
  }
}

const openArray = 0x5b;

function unreadable(detail: string): GatewayError {
  return gatewayError("engine.broken", { detail });
}
