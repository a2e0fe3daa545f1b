/**
 * Drives one statement: reads its events as its client asks for answers, and keeps the two answers
 * that may be needed, the last one given and one built ahead while the client reads.
 *
 * The engine is asked for the next batch only when the one before is written out, so a slow client
 * slows the engine. It knows no socket; `listen.ts` sends what it answers.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import type { DoneEvent, ResultEvent, SessionChange } from "@gateway/core/query/event.ts";
import type { Absorb, PolledQuery } from "@gateway/core/port/door.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { TextStyle } from "@gateway/core/type/text.ts";
import { durationText } from "@gateway/wire/trino/results.ts";
import { Draft } from "../page/draft.ts";
import { trinoErrors } from "../errors.ts";
import type { LinkedQuery } from "../page/handles.ts";
import { Holder } from "../page/holder.ts";
import {
  ask,
  carried,
  endedEarly,
  firstTurn,
  given,
  isOver,
  lingerMs,
  nextToken,
  noProgress,
  observe,
  type Progress,
  type Turn,
} from "../machine.ts";
import {
  columnsText,
  keptData,
  pageBytes,
  plainData,
  resultlessColumns,
  tailText,
  type Page,
} from "../page/page.ts";
import type { Poll } from "../page/poll.ts";
import { encoded, type Encoding } from "../page/segment.ts";

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

export interface StatementParts {
  readonly polled: PolledQuery;
  /** What its links are bound to. */
  readonly linked: () => LinkedQuery;
  /** The links of the answer with that number; the same when they are asked for again. */
  readonly linksTo: (token: number, phase: "queued" | "executing") => NonNullable<Page["next"]>;
  readonly clock: Clock;
  /** The client's own text when the engine got exactly that, for positions in errors. */
  readonly sql: string | undefined;
  /** Turns a change of the session into response headers. */
  readonly headersOf: (change: SessionChange) => readonly (readonly [string, string])[];
  /** Further headers of the last answer, when the statement succeeded. */
  readonly endHeaders: readonly (readonly [string, string])[];
  /** The client's own limit from the receipt to the end; undefined when it set none. */
  readonly timeLimitMs: number | undefined;
  /** How cells look: the session's time zone. */
  readonly style: TextStyle;
  /** The form of rows that the client asked for; undefined for plain JSON. */
  readonly encoding: Encoding | undefined;
  /** Takes what must not happen: the statement then fails as `internal.bug`. */
  readonly report: (bug: unknown) => void;
}

export class Statement {
  readonly polled: PolledQuery;
  readonly #parts: StatementParts;
  #turn: Turn = firstTurn;
  #progress: Progress = noProgress;
  #columns = "";
  #last: Page | undefined;
  readonly #draft: Draft;
  #rowsGiven = 0;
  /** Rows are at hand and nothing came behind them for a moment. */
  #lingered = false;
  /** The event that is waited for, by everybody who waits; the first of them takes it. */
  #step: Promise<ResultEvent | undefined> | undefined;
  #upcoming: Promise<Page> | undefined;
  #holders = 0;
  #cancelled = false;
  /** Cancelled as it is, with the rows so far as its result. */
  #endsEarly = false;
  /** It ended by our own decision and not by an event. */
  #failedHere = false;
  #limit: Disposable | undefined;

  constructor(parts: StatementParts) {
    this.#parts = parts;
    this.polled = parts.polled;
    this.#draft = new Draft(parts.style);
    const { timeLimitMs, clock } = parts;
    if (timeLimitMs === undefined) return;
    this.#limit = clock.timer(timeLimitMs, () => this.#expire(timeLimitMs));
  }

  get linked(): LinkedQuery {
    return this.#parts.linked();
  }

  get id(): QueryId {
    return this.polled.query.id;
  }

  /** What is known of it, for people who ask. */
  get progress(): Progress {
    if (!this.#cancelled || isOver(this.#progress)) return this.#progress;
    return { ...this.#progress, state: "FAILED", error: gatewayError("query.cancelled") };
  }

  /** The failure that answers the POST by an HTTP status instead of an answer of the query. */
  get refusal(): GatewayError | undefined {
    const { error } = this.#progress;
    return error !== undefined && trinoErrors[error.code].status !== 200 ? error : undefined;
  }

  /** Bytes of rows kept for a repeated or a coming poll. */
  get retainedBytes(): number {
    return (this.#last === undefined ? 0 : pageBytes(this.#last)) + this.#draft.bytes;
  }

  /** True when the last answer of all was given: what is kept serves repeated polls only. */
  get over(): boolean {
    // Whoever cancelled it may never poll again, and a drain would wait for that.
    return this.#cancelled || this.#turn.over;
  }

  /**
   * The answer to the POST. Clients that do not look for rows in it (`readsRows` false) get the
   * state at once; what the statement gives meanwhile is in the next answer.
   */
  first(readsRows: boolean): Promise<Page> {
    return readsRows ? this.#produce(holds.firstMs) : this.#firstState();
  }

  /** The answer of that number, held until there is something new; undefined when it is past or not due. */
  answer(token: number, poll: Poll = {}): Promise<Page | undefined> {
    switch (ask(this.#turn, token)) {
      case "repeat":
        return Promise.resolve(this.#last);
      case "gone":
        return Promise.resolve(undefined);
      case "next":
        this.#draft.want(poll.targetBytes);
        this.#upcoming ??= this.#produce(Math.min(poll.holdMs ?? holds.pollMs, holds.pollMs));
        return this.#upcoming;
    }
  }

  /** Builds the next answer while the client reads the last one, as far as it comes within a poll's time. Never rejects. */
  ahead(): Promise<void> {
    return this.#fill(holds.pollMs, undefined);
  }

  /** A request waits here. Its leave without an answer cancels the query, unless another one waits too. */
  hold(): Holder {
    this.#holders += 1;
    return new Holder(this);
  }

  /** Called by a holder, once. */
  released(hungUp: boolean): void {
    this.#holders -= 1;
    if (hungUp && this.#holders === 0) this.cancel();
  }

  /** Ends the query as its client's wish, or for that reason, unless it is over. A later poll answers the failure. */
  cancel(reason?: GatewayError): void {
    if (isOver(this.#progress)) return;
    this.#limit?.[Symbol.dispose]();
    this.#cancelled = true;
    this.#draft.clear();
    this.polled.cancel(reason);
  }

  /**
   * Ends the query with the rows so far as its result, as Trino's partial cancel does. Without a row
   * an empty result would be taken for the whole one, so the query is then cancelled.
   */
  endEarly(): void {
    if (isOver(this.#progress) || this.#cancelled) return;
    const hasRows = this.#rowsGiven + this.#draft.rows > 0;
    if (!hasRows) return this.cancel();
    this.#endsEarly = true;
    this.polled.cancel();
  }

  /** Nobody will ask again: ends the query and reads it to its end, as far as that comes in a poll's time. */
  async discard(): Promise<void> {
    this.cancel();
    await this.#fill(holds.pollMs, undefined);
    if (isOver(this.#progress)) await this.#readEnd();
  }

  async #produce(holdMs: number): Promise<Page> {
    await this.#fill(holdMs, this.#absorb);
    const last = isOver(this.#progress) && !this.#draft.hasMore;
    const rows = this.#draft.take(last);
    const rowOffset = this.#rowsGiven;
    if (rows !== undefined) {
      this.#rowsGiven += rows.count;
      this.#lingered = false;
    }
    // Python's client does not look for segments in the answer to its POST, and for the few rows
    // of it they would be a detour to every other one.
    const encoding = nextToken(this.#turn) === 0 ? undefined : this.#parts.encoding;
    const isPlain = rows !== undefined && encoding === undefined;
    let page = this.#page(last, isPlain ? plainData(rows.bytes) : undefined);
    if (rows !== undefined && encoding !== undefined) {
      page = { ...page, data: keptData(await encoded(rows, rowOffset, encoding)) };
    }
    this.#upcoming = undefined;
    return this.#give(page);
  }

  /** The state at once, or a refusal that comes at once. */
  async #firstState(): Promise<Page> {
    const step = this.#ask(holds.refusalMs, undefined);
    this.#settle(step, await step);
    return this.#give(this.#statePage());
  }

  /** Reads events until an answer is worth giving or the time is up. */
  async #fill(holdMs: number, absorb: Absorb | undefined): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.nowMs() + holdMs;
    for (let leftMs = holdMs; !this.#ready() && leftMs > 0; leftMs = endMs - clock.nowMs()) {
      if (this.#draft.hasMore) {
        this.#draft.writeMore();
        continue;
      }
      const step = this.#ask(leftMs, absorb);
      this.#settle(step, await step);
    }
  }

  #ready(): boolean {
    if (this.#draft.isFull) return true;
    return !this.#draft.hasMore && (this.#lingered || isOver(this.#progress));
  }

  /** The next event: the one that somebody waits for already, or what the parking place has next. */
  #ask(waitMs: number, absorb: Absorb | undefined): Promise<ResultEvent | undefined> {
    if (this.#step !== undefined) return this.#step;
    const limitMs =
      this.#draft.rows > 0 ? Math.min(waitMs, lingerMs(this.#elapsedMs(), holds.lingerMs)) : waitMs;
    // Leaving clients are counted by `hold`, and `cancel` says that none is left.
    this.#step = this.polled.next(limitMs, neverAborted, absorb);
    return this.#step;
  }

  /** Whoever waited first takes what came; to the others it is taken already. */
  #settle(step: Promise<ResultEvent | undefined>, event: ResultEvent | undefined): void {
    if (this.#step !== step) return;
    this.#step = undefined;
    if (event === undefined) this.#lingered = this.#draft.rows > 0;
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
    this.#progress = observe(this.#progress, { kind: "failed", error }, this.#elapsedMs());
  }

  #take(event: ResultEvent): void {
    // It failed here meanwhile; what the engine says of its end is no news.
    if (isOver(this.#progress)) return;
    // Only the first sign that it runs is timed.
    const elapsedMs = this.#progress.queuedMs ?? this.#elapsedMs();
    const wished = event.kind === "failed" && event.error.code === "query.cancelled";
    this.#progress =
      this.#endsEarly && wished
        ? endedEarly(this.#progress, elapsedMs)
        : observe(this.#progress, event, elapsedMs);
    if (event.kind === "columns") this.#columns = columnsText(event);
    if (event.kind === "batch") this.#draft.put(event.batch, this.#progress.columns ?? []);
    if (event.kind === "done") this.#end(event);
    if (isOver(this.#progress)) this.#limit?.[Symbol.dispose]();
  }

  /** A statement without a result shows how many rows it changed, in the form that Trino's clients know. */
  #end({ updateCount }: DoneEvent): void {
    if (this.#progress.columns !== undefined) return;
    this.#columns = resultlessColumns(updateCount);
    // The one row that says how many were changed.
    if (updateCount !== undefined) this.#draft.replace(Buffer.from(`[${updateCount}]`), 1);
  }

  /** What is known as an answer. Called once for each, because it takes along what only one may carry. */
  #page(last: boolean, data: Page["data"]): Page {
    const page: Page = {
      token: nextToken(this.#turn),
      next: last ? undefined : this.#links(),
      columns: this.#columns,
      data,
      tail: this.#tail(last),
      headers: this.#headers(last),
    };
    this.#progress = carried(this.#progress);
    return page;
  }

  /** The state alone, for clients that read nothing else from the answer to their POST. */
  #statePage(): Page {
    return {
      token: nextToken(this.#turn),
      next: this.#parts.linksTo(nextToken(this.#turn) + 1, "queued"),
      columns: "",
      data: undefined,
      tail: this.#tail(false),
      headers: [],
    };
  }

  #links(): NonNullable<Page["next"]> {
    const phase = this.#progress.queuedMs === undefined ? "queued" : "executing";
    return this.#parts.linksTo(nextToken(this.#turn) + 1, phase);
  }

  #give(page: Page): Page {
    const last = page.next === undefined;
    this.#turn = given(this.#turn, last);
    this.#last = page;
    if (last) this.#seeEnd(page);
    return page;
  }

  #seeEnd({ token }: Page): void {
    // With the answer to its POST the client got no link to ask again with.
    if (token === 0 && this.polled.forget !== undefined) this.polled.forget();
    else void this.#readEnd();
  }

  /** The call behind the last event tells the parking place that the client has seen the end. */
  async #readEnd(): Promise<void> {
    await this.#step;
    // What failed here has its own last event still to come.
    if (this.#failedHere) await this.polled.next(holds.pollMs, neverAborted);
    await this.polled.next(0, neverAborted);
  }

  #tail(last: boolean): string {
    const elapsedMs = this.#elapsedMs();
    const { sql } = this.#parts;
    return tailText({ progress: this.#progress, elapsedMs, rows: this.#rowsGiven, sql }, last);
  }

  #headers(last: boolean): Page["headers"] {
    const { changes, error } = this.#progress;
    const ending = last && error === undefined ? this.#parts.endHeaders : noHeaders;
    return changes.length === 0 ? ending : [...changes.flatMap(this.#parts.headersOf), ...ending];
  }

  #elapsedMs(): number {
    return this.#parts.clock.nowMs() - this.polled.query.receivedAtMs;
  }
}

const noHeaders: Page["headers"] = [];
