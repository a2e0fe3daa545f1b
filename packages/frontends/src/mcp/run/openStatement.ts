/**
 * A statement that an agent started: its events become what is known of it, and rows for its next answer.
 *
 * The engine is asked for the next batch only when the one before is taken, so an agent that asks for little makes
 * the engine do little. It does not know tools, handles and texts.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PolledQuery } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import { OpenBatch, RowsPage, type AnswerLimits, type Cut } from "../encode.ts";
import {
  ask,
  carried,
  firstTurn,
  given,
  isOver,
  nextToken,
  noFacts,
  observe,
  type Facts,
  type Turn,
} from "../machine.ts";
import type { Cell } from "../value/cells.ts";

/** How often a call that waits hears that it still waits. */
const beatMs = 1_000;
/** One step of reading ahead. A call that comes meanwhile waits for its end. */
const aheadMs = 250;

export interface StatementParts {
  readonly polled: PolledQuery;
  readonly host: Pick<Host, "clock" | "log">;
  /** Ended by `query.abandoned` when nobody asked for so long. */
  readonly idleMs: number;
  /** From the receipt to the end; undefined for no limit but the group's. */
  readonly timeLimitMs: number | undefined;
  /** A full answer leaves the query open for the next; otherwise it is ended there. */
  readonly keepsOpen: boolean;
  /** Called once, when nothing of it is left to run. */
  readonly whenOver: (statement: OpenStatement) => void;
}

/** Who waits for an answer. */
export interface Waiting {
  /** Aborted when the agent left or cancelled its call. */
  readonly signal: AbortSignal;
  readonly waitMs: number;
  readonly limits: AnswerLimits;
  /** Hears what is known, about once a second. */
  readonly progress: (facts: Facts) => void;
}

export interface Answer {
  readonly facts: Facts;
  readonly rows: readonly (readonly Cell[])[];
  /** How many rows earlier answers held. */
  readonly firstRow: number;
  readonly elapsedMs: number;
  /** Why rows or parts of values are missing here; empty where none are, or where the next answer has them. */
  readonly cuts: readonly Cut[];
  /** The answer to ask for next; undefined when nothing follows. */
  readonly next: number | undefined;
}

export class OpenStatement {
  readonly #parts: StatementParts;
  #facts: Facts = noFacts;
  #turn: Turn = firstTurn;
  #batch: OpenBatch | undefined;
  #rowsGiven = 0;
  /** Ended here, with the rows so far as its result. */
  #ended: Cut | undefined;
  #expired = false;
  #holders = 0;
  #building: Promise<Answer> | undefined;
  /** The next event, shared by everybody who waits for it. */
  #step: Promise<void> | undefined;
  /** The last answer with a number, for who asks for it again. */
  #last: Answer | undefined;
  #idle: Disposable | undefined;
  #limit: Disposable | undefined;

  constructor(parts: StatementParts) {
    this.#parts = parts;
    const { timeLimitMs, host } = parts;
    if (timeLimitMs !== undefined) {
      this.#limit = host.clock.timer(timeLimitMs, () => this.#expire());
    }
  }

  get polled(): PolledQuery {
    return this.#parts.polled;
  }

  /** True when no further event comes to its answers. */
  get isOver(): boolean {
    return this.#ended !== undefined || isOver(this.#facts);
  }

  /** True while a call waits for its answer. */
  get isAsked(): boolean {
    return this.#holders > 0;
  }

  /** The answer of that number, or undefined for one that is past or not due. A caller that leaves alone cancels the query. */
  async answer(token: number, waiting: Waiting): Promise<Answer | undefined> {
    const turn = ask(this.#turn, token);
    if (turn === "gone") return undefined;
    if (turn === "repeat") return this.#last;
    this.#idle?.[Symbol.dispose]();
    this.#holders += 1;
    let holds = true;
    const letGo = (): void => {
      if (!holds) return;
      holds = false;
      this.#holders -= 1;
    };
    const leave = (): void => {
      letGo();
      if (this.#holders === 0) this.cancel();
    };
    const { signal } = waiting;
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    try {
      this.#building ??= this.#build(waiting).finally(() => {
        this.#building = undefined;
        if (!this.#turn.over) this.#goOn();
      });
      return await this.#building;
    } finally {
      signal.removeEventListener("abort", leave);
      letGo();
    }
  }

  /** Ends the query, unless its last answer was given. Whoever asks once more is told so. */
  cancel(reason: GatewayError = gatewayError("query.cancelled")): void {
    this.#stopTimers();
    if (this.#turn.over) return;
    this.#batch = undefined;
    // It ran to its end, but what nobody fetched is dropped: the rest must not look like a whole result.
    if (this.isOver) this.#facts = observe(this.#facts, { kind: "failed", error: reason });
    else this.#parts.polled.cancel(reason);
    if (this.#building === undefined) this.#close();
  }

  async #build(waiting: Waiting): Promise<Answer> {
    const { clock } = this.#parts.host;
    const page = new RowsPage(waiting.limits);
    const endMs = clock.nowMs() + waiting.waitMs;
    // The first look starts the query, however short the wait is.
    for (let isFirst = true; ; isFirst = false) {
      this.#batch?.moveTo(page);
      const hasMore = this.#batch?.hasMore === true;
      // A full page waits for what follows, because a whole result must not look like a cut one.
      if (hasMore || this.isOver) break;
      const leftMs = endMs - clock.nowMs();
      if (leftMs <= 0 && !isFirst) break;
      await this.#pull(Math.min(Math.max(leftMs, 1), beatMs));
      waiting.progress(this.#facts);
    }
    return this.#answerOf(page);
  }

  #answerOf(page: RowsPage): Answer {
    const { error } = this.#facts;
    const hasMore = this.#batch?.hasMore === true;
    if (hasMore && !this.#parts.keepsOpen && error === undefined) this.#endWith(page.fullBy);
    const over = this.isOver;
    const isNumbered = over || page.rows.length > 0;
    if (isNumbered) this.#turn = given(this.#turn, over);
    const answer: Answer = {
      facts: this.#facts,
      // Behind an error rows would look like a result.
      rows: error === undefined ? page.rows : [],
      firstRow: this.#rowsGiven,
      elapsedMs: this.#elapsedMs(),
      cuts: [
        ...(this.#ended === undefined ? [] : [this.#ended]),
        ...(page.hasCutValues ? ["values" as const] : []),
      ],
      next: over ? undefined : nextToken(this.#turn),
    };
    this.#facts = carried(this.#facts);
    this.#rowsGiven += page.rows.length;
    if (isNumbered) this.#last = answer;
    if (over) this.#close();
    return answer;
  }

  /** Between two calls: the query goes on for a while, whether or not its agent comes back. */
  #goOn(): void {
    const { idleMs, host } = this.#parts;
    this.#idle = host.clock.timer(idleMs, () => this.cancel(gatewayError("query.abandoned")));
    this.#readAhead().catch((bug: unknown) => host.log.bug(bug));
  }

  /** Reads one event, if it comes in time; whoever asks meanwhile waits for the same. */
  #pull(waitMs: number): Promise<void> {
    this.#step ??= this.#read(waitMs);
    return this.#step;
  }

  async #read(waitMs: number): Promise<void> {
    const event = await this.#parts.polled.next(waitMs, neverAborted);
    this.#step = undefined;
    if (event !== undefined) this.#takeSafely(event);
  }

  /** Between two calls a query goes on until it has a batch for the next one: nothing else moves it. */
  async #readAhead(): Promise<void> {
    while (!this.isOver && this.#building === undefined && this.#batch?.hasMore !== true) {
      await this.#pull(aheadMs);
    }
  }

  /** Ends the engine's work; what was read so far is the result, and its answer says what is missing. */
  #endWith(cut: Cut | undefined): void {
    this.#ended = cut ?? "rows";
    this.#batch = undefined;
    this.#facts = { ...this.#facts, state: "finished" };
    this.#parts.polled.cancel();
  }

  #expire(): void {
    this.#expired = true;
    if (this.isOver) return;
    const message = "The query ran longer than its call allowed.";
    this.#parts.polled.cancel(gatewayError("query.timeout", { message }));
  }

  #takeSafely(event: ResultEvent): void {
    // It was ended here meanwhile; what the engine says of its end is no news.
    if (this.#ended !== undefined) return;
    try {
      this.#take(event);
    } catch (bug) {
      this.#parts.host.log.bug(bug, { queryId: this.#parts.polled.query.id });
      this.#parts.polled.cancel();
      this.#facts = observe(this.#facts, { kind: "failed", error: gatewayError("internal.bug") });
    }
  }

  #take(event: ResultEvent): void {
    const wasLate =
      event.kind === "failed" && event.error.code === "query.timeout" && this.#expired;
    if (wasLate && this.#facts.columns !== undefined) {
      this.#facts = { ...this.#facts, state: "finished" };
      this.#ended = "time";
      return;
    }
    this.#facts = observe(this.#facts, event);
    if (event.kind === "batch" && event.batch.rows > 0) this.#batch = new OpenBatch(event.batch);
  }

  #close(): void {
    this.#stopTimers();
    this.#parts.polled.forget?.();
    this.#parts.whenOver(this);
  }

  #stopTimers(): void {
    this.#limit?.[Symbol.dispose]();
    this.#idle?.[Symbol.dispose]();
  }

  #elapsedMs(): number {
    const { polled, host } = this.#parts;
    return Math.max(0, Math.round(host.clock.nowMs() - polled.query.receivedAtMs));
  }
}
