/**
 * One statement while it runs: asks for its events, writes them, and can stop after a number of rows
 * and go on later.
 *
 * The engine is asked for the next piece only when the socket took the last one. An execution that ends early
 * ends the engine's work.
 */
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { Answer } from "@gateway/core/query/course.ts";
import type { DoneEvent, LastEvent, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { unreachable } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ClientSession } from "../../session/clientSession.ts";
import { encodeEvent } from "../../encode.ts";
import type { Outbox } from "../../outbox.ts";
import { passOn } from "./passOn.ts";
import { ResultWriter, type Announce } from "./resultWriter.ts";
import {
  left,
  mostOf,
  nextOf,
  timeoutError,
  type ExecutionPlan,
  type Going,
  type Step,
  type Stop,
  type Written,
} from "./step.ts";
import { limitMs } from "../../session/units.ts";
import { RowsAside, type AsideRoom } from "./rowsAside.ts";
import { commandTag } from "../../tag.ts";

/** Hears of a step's end first; without a stop where a bug ended it. */
type Over = (execution: Execution, stop: Stop | undefined) => void;

const notBegun: Going = { sent: 0 };

export type ExecutionState = "fresh" | "parked" | "complete" | "failed" | "abandoned";

/** After so long without a fetch a portal is ended: it holds a slot and an engine's query. */
const parkedMsMax = 300_000;
export interface ExecutionParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly host: Host;
  readonly asideRoom: AsideRoom;
  /** The server behind holds the client's own limit for a statement: it alone knows what was set there. */
  readonly serverTimes: () => boolean;
}

export class Execution implements AsyncDisposable {
  readonly plan: ExecutionPlan;
  readonly #parts: ExecutionParts;
  readonly #controller = new Canceller();
  /** What was begun before its step. */
  #begun: ResultStream | Promise<Answer> | undefined;
  #events: ResultStream | undefined;
  /** A whole answer that was there at once, and how much of it was taken. */
  #answered: readonly ResultEvent[] | undefined;
  #taken = 0;
  readonly #result: ResultWriter;
  #state: ExecutionState = "fresh";
  #parked: Disposable | undefined;
  /** Rows that were read from the engine before the client wanted them, and how the result ended. */
  #aside: RowsAside | undefined;
  #last: LastEvent | undefined;
  #limit: Disposable | undefined;
  /** Data of a server's COPY is on its way to the client. */
  #copies = false;

  constructor(plan: ExecutionPlan, parts: ExecutionParts) {
    this.plan = plan;
    this.#parts = parts;
    this.#result = new ResultWriter(plan, parts);
  }

  /** Columns of the result, once they are known. */
  get columns(): readonly Column[] | undefined {
    return this.#result.columns;
  }

  /** How far it is. `fresh` and `parked` can be stepped; the others have nothing left. */
  get state(): ExecutionState {
    return this.#state;
  }

  /** Ends the engine's work; the step that runs now fails with `reason`. */
  cancel(reason: GatewayError): void {
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  /** Starts it before its step, which then takes the answer. */
  begin(): void {
    this.#begun = this.plan.start(this.#controller.signal);
  }

  /**
   * Writes rows, under the client's time limit, and tells why it stopped. After `complete` or `failed` nothing is left,
   * and everything is given back. One function, because each that waits costs a query half a microsecond.
   */
  async step(wish: Step, over?: Over, from: Going = notBegun): Promise<Stop> {
    let { sent, writing: before } = from;
    let stop: Stop | undefined;
    try {
      let most = mostOf(wish);
      if (from === notBegun) stop = this.#begins(wish);
      if (stop === undefined && this.#isFresh) {
        const started = this.#begun ?? this.plan.start(this.#controller.signal);
        const answer = started instanceof Promise ? await started : started;
        this.#begun = undefined;
        this.#take(answer);
      }
      while (stop === undefined) {
        const writing = before ?? this.#writeRows(most - sent, wish.silent === true);
        before = undefined;
        const written = writing instanceof Promise ? await writing : writing;
        sent += written ?? 0;
        stop = this.#wrote(written, sent, most);
        if (stop !== undefined) break;
        const coming = this.#next();
        const event = coming instanceof Promise ? await coming : coming;
        stop = this.#came(event, sent, wish);
        // A COPY has no rows that could be counted.
        if (this.#copies) most = Number.POSITIVE_INFINITY;
      }
    } finally {
      this.#limit?.[Symbol.dispose]();
      // After a bug, too, the engine gets everything back.
      try {
        const ending = stop?.kind === "suspended" ? undefined : this.#end();
        if (ending !== undefined) await ending;
      } finally {
        if (stop !== undefined) this.#stopped(stop);
        over?.(this, stop);
      }
    }
    return stop;
  }

  #begins(wish: Step): Stop | undefined {
    this.#limit = this.#limited();
    return this.#reshaped(wish);
  }

  /** Starts the first step, for all rows, under the client's time limit. `answered` is the rest of it. */
  start(): ResultStream | Promise<Answer> {
    this.#limit = this.#limited();
    return this.plan.start(this.#controller.signal);
  }

  /** Writes an answer as `step` does. A promise only where something is waited for: most answers are here whole. */
  answered(answer: Answer, wish: Step, over: Over): Stop | Promise<Stop> {
    const { aborted } = this.#controller.signal;
    const passed = aborted ? undefined : passOn(answer, this.plan, wish, this.#parts);
    if (passed === undefined) this.#take(answer);
    if (passed === undefined && this.#answered === undefined)
      return this.step(wish, over, { sent: 0 });
    const end = passed ?? this.#writeAnswer(wish);
    if (!("kind" in end)) return this.step(wish, over, end);
    this.#limit?.[Symbol.dispose]();
    void this.#end();
    this.#stopped(end);
    over(this, end);
    return end;
  }

  #writeAnswer(wish: Step): Stop | Going {
    try {
      for (let sent = 0; ;) {
        const writing = this.#writeRows(Number.POSITIVE_INFINITY, false);
        if (writing instanceof Promise) return { sent, writing };
        sent += writing ?? 0;
        const cut = writing === undefined ? this.#wrote(writing, sent, sent) : undefined;
        this.#taken += 1;
        const stop = cut ?? this.#came(this.#answered?.[this.#taken - 1], sent, wish);
        if (stop !== undefined) return stop;
      }
    } catch (bug) {
      return { sent: 0, writing: Promise.reject(bug) };
    }
  }

  /**
   * Reads a parked result to its end, which frees the engine for another statement. Answers why that failed;
   * the result is over then.
   */
  async setAside(): Promise<GatewayError | undefined> {
    const limit = this.#limited();
    let stop: Stop | undefined;
    try {
      stop = await this.#drain();
    } finally {
      limit?.[Symbol.dispose]();
      if (stop?.kind !== "suspended") await this.#end();
    }
    this.#stopped(stop);
    return stop.kind === "failed" ? stop.error : undefined;
  }

  /** Not to be called while a step runs: cancel that first, and it ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  #end(): Promise<unknown> | undefined {
    if (this.#state === "parked") this.#state = "failed";
    this.#result.drop();
    this.#last = undefined;
    this.#parked?.[Symbol.dispose]();
    const events = this.#events;
    const aside = this.#aside;
    const begun = this.#begun;
    this.#begun = undefined;
    this.#events = undefined;
    this.#answered = undefined;
    this.#aside = undefined;
    aside?.[Symbol.dispose]();
    return begun === undefined ? events?.return() : left(begun);
  }

  /** The client's limit of this step, which is parked no longer. */
  #limited(): Disposable | undefined {
    this.#parked?.[Symbol.dispose]();
    return this.#timeLimit();
  }

  #stopped(stop: Stop): Stop {
    if (stop.kind === "suspended") this.#park();
    else this.#state = stop.kind;
    return stop;
  }

  #timeLimit(): Disposable | undefined {
    const { host, session, serverTimes } = this.#parts;
    const limit = serverTimes() ? 0 : limitMs(session.setting("statement_timeout"));
    return limit === 0 ? undefined : host.clock.timer(limit, () => this.cancel(timeoutError()));
  }

  #park(): void {
    this.#state = "parked";
    this.#parked = this.#parts.host.clock.timer(parkedMsMax, () => {
      this.#state = "abandoned";
      this[Symbol.asyncDispose]().catch((bug: unknown) => this.#parts.host.log.bug(bug));
    });
  }

  get #isFresh(): boolean {
    return this.#state === "fresh" && this.#events === undefined && this.#answered === undefined;
  }

  #take(answer: Answer): void {
    if (Symbol.asyncIterator in answer) this.#events = answer;
    else this.#answered = answer;
  }

  /** Why the result can not have the form of this step. */
  #reshaped({ formats }: Step): Stop | undefined {
    const refused = this.#result.reshape(formats, this.#aside !== undefined);
    return refused && this.#failed(refused);
  }

  /** `written`: of the rows that waited; undefined where it was cut short. */
  #wrote(written: Written, sent: number, most: number): Stop | undefined {
    if (written === undefined) return this.#failed(abortError(this.#controller.signal));
    return sent >= most ? { kind: "suspended", rows: sent } : undefined;
  }

  #came(event: ResultEvent | undefined, sent: number, wish: Step): Stop | undefined {
    // A stream that ends without a last event would look like a complete result.
    if (event === undefined) return this.#failed(gatewayError("engine.broken"));
    const stop = this.#takeEvent(event, sent, wish.announce);
    if (stop !== undefined || wish.columnsOnly !== true) return stop;
    return this.columns === undefined ? undefined : { kind: "suspended", rows: sent };
  }

  /** A promise only for what is not here yet. */
  #next(): ResultEvent | undefined | Promise<ResultEvent | undefined> {
    if (this.#last !== undefined) return this.#last;
    if (this.#events !== undefined) return nextOf(this.#events);
    this.#taken += 1;
    return this.#answered?.[this.#taken - 1];
  }

  /** Writes at most `most` of the rows that wait; answers how many, or undefined when it was cut short. */
  #writeRows(most: number, silent: boolean): Written | Promise<Written> {
    if (this.#aside !== undefined) return this.#writeAside(most, silent);
    if (!this.#result.waits) return 0;
    return silent ? this.#result.passOver(most) : this.#result.write(most, this.#controller.signal);
  }

  async #writeAside(most: number, silent: boolean): Promise<Written> {
    let written = 0;
    while (this.#aside !== undefined && written < most && this.#aside.ready()) {
      if (this.#controller.signal.aborted) return undefined;
      const { out } = this.#parts;
      written += this.#aside.take(most - written, silent ? undefined : out.writer);
      if (out.full) await out.pass(this.#controller.signal);
    }
    if (!this.#result.waits) return written;
    if (silent) return written + this.#result.passOver(most - written);
    const more = await this.#result.write(most - written, this.#controller.signal);
    return more === undefined ? undefined : written + more;
  }

  /** Sets aside all rows that are left. */
  async #drain(): Promise<Stop> {
    const { asideRoom, session } = this.#parts;
    const aside = (this.#aside ??= new RowsAside(asideRoom, session.value.identity.user));
    const kept: Stop = { kind: "suspended", rows: 0 };
    while (this.#last === undefined) {
      while (this.#result.waits) {
        if (this.#controller.signal.aborted) {
          return this.#failed(abortError(this.#controller.signal));
        }
        const refused = aside.add(this.#result.piece());
        if (refused !== undefined) return this.#failed(refused);
      }
      const event = await this.#next();
      if (event === undefined) return this.#failed(gatewayError("engine.broken"));
      if (event.kind === "done" || event.kind === "failed") this.#last = event;
      else this.#takeEvent(event, 0, "no");
    }
    await this.#events?.return();
    this.#events = undefined;
    return kept;
  }

  #takeEvent(event: ResultEvent, sent: number, announce: Announce): Stop | undefined {
    const { session, out } = this.#parts;
    switch (event.kind) {
      case "queued":
      case "progress":
        return undefined;
      case "session":
        session.apply(event.change);
        return undefined;
      case "notice":
        encodeEvent(event, session, out);
        return undefined;
      case "columns": {
        if (event.native?.format === "postgresCopy") {
          if (announce === "rowsOrNone") out.put({ kind: "noData" });
          out.writer.bytes(event.native.bytes);
          this.#copies = true;
          return undefined;
        }
        const refused = this.#result.describe(event.columns, announce);
        return refused && this.#failed(refused);
      }
      case "batch":
        this.#result.take(event.batch);
        return undefined;
      case "done":
        return this.#finish(event, sent, announce);
      case "failed":
        return this.#failed(this.#reasonOf(event.error));
      default:
        return unreachable(event);
    }
  }

  #finish(event: DoneEvent, sent: number, announce: Announce): Stop {
    const { out } = this.#parts;
    const { copy, sql } = this.plan;
    const hasRows = this.columns !== undefined;
    if (this.#copies) out.put({ kind: "copyDone" });
    else if (!hasRows && announce === "rowsOrNone") out.put({ kind: "noData" });
    if (copy === undefined) {
      const own = event.commandTag;
      // A server counts all rows; a portal that is fetched in parts tells those of its last part.
      const tag =
        own === undefined
          ? commandTag(event, hasRows ? sent : undefined, sql)
          : hasRows && own.startsWith("SELECT ")
            ? `SELECT ${sent}`
            : own;
      return { kind: "complete", rows: sent, tag };
    }
    if (hasRows) this.#result.endCopy(copy);
    return { kind: "complete", rows: sent, tag: `COPY ${sent}` };
  }

  #failed(error: GatewayError): Stop {
    const { session } = this.#parts;
    // A transaction that ended without an event of its own was rolled back.
    if (session.pin === undefined) session.endTransaction(false);
    return { kind: "failed", error };
  }

  /** A query that we ended fails with our reason, whatever the engine says. */
  #reasonOf(error: GatewayError): GatewayError {
    const { signal } = this.#controller;
    if (signal.aborted && error.code === "query.cancelled") return abortError(signal);
    return this.plan.source?.errorOf(error) ?? error;
  }
}
