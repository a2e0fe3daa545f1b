/**
 * A statement while it runs: its events become what is known of it, and rows for its next answer.
 *
 * The engine is asked for the next batch only when the one before is written out, so a slow client
 * slows the engine. The end is decided here: by an event, by the client, or by the client's time limit.
 * It does not know answers and their numbers.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import type { DoneEvent, ResultEvent } from "@gateway/core/query/event.ts";
import type { Absorb, PolledQuery } from "@gateway/core/port/door.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";
import { durationText } from "@gateway/wire/trino/results.ts";
import { Draft, type DraftRows } from "../page/draft.ts";
import {
  carried,
  endedEarly,
  isOver,
  lingerMs,
  noProgress,
  observe,
  type Progress,
} from "../machine.ts";
import { columnsText, resultlessColumns } from "../page/page.ts";

/** How long requests are held for something new: rows, an error, the end. */
export const holds = {
  /** The answer to the POST. */
  firstMs: 300,
  /** The answer to a poll. */
  pollMs: 1000,
  /** A POST whose client reads no rows from its answer waits only for an early refusal. */
  refusalMs: 1,
  /** With rows at hand, for the next batch or the end; longer where they took long, see machine.ts. */
  lingerMs: 5,
} as const;

export interface ExecutionParts {
  readonly polled: PolledQuery;
  readonly clock: Clock;
  /** The client's own limit from the receipt to the end; undefined when it set none. */
  readonly timeLimitMs: number | undefined;
  /** How cells look: the session's time zone. */
  readonly style: TextStyle;
  /** Takes what must not happen: the statement then fails as `internal.bug`. */
  readonly report: (bug: unknown) => void;
}

export class Execution {
  readonly draft: Draft;
  readonly #parts: ExecutionParts;
  #progress: Progress = noProgress;
  #columns = "";
  #rowsTaken = 0;
  /** Rows are at hand and nothing came behind them for a moment. */
  #lingered = false;
  /** The next event, shared by everybody who waits for it; the first of them takes it. */
  #step: Promise<ResultEvent | undefined> | undefined;
  #cancelled = false;
  /** Cancelled as it is, with the rows so far as its result. */
  #endsEarly = false;
  /** It ended by our own decision and not by an event. */
  #failedHere = false;
  #limit: Disposable | undefined;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
    this.draft = new Draft(parts.style);
    const { timeLimitMs, clock } = parts;
    if (timeLimitMs === undefined) return;
    this.#limit = clock.timer(timeLimitMs, () => this.#expire(timeLimitMs));
  }

  /** What its events told. */
  get progress(): Progress {
    return this.#progress;
  }

  /** Its columns as they stand in an answer; empty while they are not known. */
  get columns(): string {
    return this.#columns;
  }

  /** Rows that went into answers. */
  get rowsTaken(): number {
    return this.#rowsTaken;
  }

  /** True once its client, or its time limit, ended it. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** True when nothing comes behind the rows at hand. */
  get drained(): boolean {
    return isOver(this.#progress) && !this.draft.hasMore;
  }

  /** Milliseconds since its receipt. */
  get elapsedMs(): number {
    return this.#parts.clock.nowMs() - this.#parts.polled.query.receivedAtMs;
  }

  /** The rows for an answer; undefined when there are none. `last`: it is the last one. */
  takeRows(last: boolean): DraftRows | undefined {
    const rows = this.draft.take(last);
    if (rows === undefined) return undefined;
    this.#rowsTaken += rows.count;
    this.#lingered = false;
    return rows;
  }

  /** Called when an answer carries the changes and notices that there are. */
  carry(): void {
    this.#progress = carried(this.#progress);
  }

  /** Reads events until an answer is worth giving or the time is up. `absorbs`: events without rows or an end cost no turn each. */
  async fill(holdMs: number, absorbs: boolean): Promise<void> {
    const { clock } = this.#parts;
    const absorb = absorbs ? this.#absorb : undefined;
    const endMs = clock.nowMs() + holdMs;
    for (let leftMs = holdMs; !this.#ready() && leftMs > 0; leftMs = endMs - clock.nowMs()) {
      if (this.draft.hasMore) {
        this.draft.writeMore();
        continue;
      }
      const step = this.#ask(leftMs, absorb);
      this.#settle(step, await step);
    }
  }

  /** Reads one event, if it comes in time. */
  async step(waitMs: number): Promise<void> {
    const step = this.#ask(waitMs, undefined);
    this.#settle(step, await step);
  }

  /** Ends the query as its client's wish, or for that reason, unless it is over. */
  cancel(reason?: GatewayError): void {
    if (isOver(this.#progress)) return;
    this.#limit?.[Symbol.dispose]();
    this.#cancelled = true;
    this.draft.clear();
    this.#parts.polled.cancel(reason);
  }

  /**
   * Ends the query with the rows so far as its result, as Trino's partial cancel does. Without a row
   * an empty result would be taken for the whole one, so the query is then cancelled.
   */
  endEarly(): void {
    if (isOver(this.#progress) || this.#cancelled) return;
    const hasRows = this.#rowsTaken + this.draft.rows > 0;
    if (!hasRows) return this.cancel();
    this.#endsEarly = true;
    this.#parts.polled.cancel();
  }

  /** Ends the query and reads it to its end, as far as that comes in a poll's time. */
  async discard(): Promise<void> {
    this.cancel();
    await this.fill(holds.pollMs, false);
    if (isOver(this.#progress)) await this.readEnd();
  }

  /** Asks once more behind the last event, which tells the door that the client has seen the end. */
  async readEnd(): Promise<void> {
    const { polled } = this.#parts;
    await this.#step;
    // What failed here has its own last event still to come.
    if (this.#failedHere) await polled.next(holds.pollMs, neverAborted);
    await polled.next(0, neverAborted);
  }

  #ready(): boolean {
    if (this.draft.isFull) return true;
    return !this.draft.hasMore && (this.#lingered || isOver(this.#progress));
  }

  /** The next event: the one that somebody waits for already, or the query's next. */
  #ask(waitMs: number, absorb: Absorb | undefined): Promise<ResultEvent | undefined> {
    if (this.#step !== undefined) return this.#step;
    const limitMs =
      this.draft.rows > 0 ? Math.min(waitMs, lingerMs(this.elapsedMs, holds.lingerMs)) : waitMs;
    // No signal: `hold` of the statement counts leaving clients, and `cancel` says that none is left.
    this.#step = this.#parts.polled.next(limitMs, neverAborted, absorb);
    return this.#step;
  }

  /** Whoever waited first takes what came; to the others it is taken already. */
  #settle(step: Promise<ResultEvent | undefined>, event: ResultEvent | undefined): void {
    if (this.#step !== step) return;
    this.#step = undefined;
    if (event === undefined) this.#lingered = this.draft.rows > 0;
    else this.#takeSafely(event);
  }

  /** Takes what only tells something, while an answer waits for rows or the end. */
  readonly #absorb: Absorb = (event) => {
    if (event.kind === "batch" || event.kind === "done" || event.kind === "failed") return false;
    this.#takeSafely(event);
    // What could not be taken ends the statement, and the wait with it.
    return !isOver(this.#progress);
  };

  /** A batch that does not fit its columns must not leave its client waiting for ever. */
  #takeSafely(event: ResultEvent): void {
    try {
      this.#take(event);
    } catch (bug) {
      this.#parts.report(bug);
      this.#fail(gatewayError("internal.bug"));
    }
  }

  #expire(timeLimitMs: number): void {
    if (isOver(this.#progress)) return;
    const message = `Query exceeded the maximum run time limit of ${durationText(timeLimitMs)}`;
    this.#fail(gatewayError("query.timeout", { message }));
  }

  #fail(error: GatewayError): void {
    this.cancel();
    this.#failedHere = true;
    this.#progress = observe(this.#progress, { kind: "failed", error }, this.elapsedMs);
  }

  #take(event: ResultEvent): void {
    // It failed here meanwhile; what the engine says of its end is no news.
    if (isOver(this.#progress)) return;
    // Only the first sign that it runs is timed.
    const elapsedMs = this.#progress.queuedMs ?? this.elapsedMs;
    const wished = event.kind === "failed" && event.error.code === "query.cancelled";
    this.#progress =
      this.#endsEarly && wished
        ? endedEarly(this.#progress, elapsedMs)
        : observe(this.#progress, event, elapsedMs);
    if (event.kind === "columns") this.#columns = columnsText(event);
    if (event.kind === "batch") this.draft.put(event.batch, this.#progress.columns ?? []);
    if (event.kind === "done") this.#end(event);
    if (isOver(this.#progress)) this.#limit?.[Symbol.dispose]();
  }

  /** A statement without a result shows how many rows it changed, in the form that Trino's clients know. */
  #end({ updateCount }: DoneEvent): void {
    if (this.#progress.columns !== undefined) return;
    this.#columns = resultlessColumns(updateCount);
    // The one row that says how many were changed.
    if (updateCount !== undefined) this.draft.replace(Buffer.from(`[${updateCount}]`), 1);
  }
}
