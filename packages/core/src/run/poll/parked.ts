/**
 * One query of the parking place (polled.ts): its stream is read one event at a time, and only while
 * somebody asks or while it is ended.
 *
 * Every query of an HTTP protocol comes by with all its events, so the way of one makes no closure, no
 * timer and no promise beside the stream's own.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { AuthContext } from "../../query/identity.ts";
import type { Absorb } from "../../port/door.ts";
import type { Host } from "../../port/host.ts";
import type { PollReader, UntakenRows } from "../../query/asked.ts";
import { Canceller, neverAborted } from "../../tool/canceller.ts";
import { eventsOf } from "../../query/course.ts";
import type { LastEvent, ResultEvent, ResultStream } from "../../query/event.ts";
import type { Query, QueryId, Session } from "../../query/query.ts";

/** Events read from an engine that goes on after its query was ended, before the stream is cut. */
const drainedEventsMax = 64;

/** Begins a query for a reader that is told without promises. */
export type BeginQuery = (query: Query, signal: AbortSignal, reader: PollReader) => void;

type Run = (query: Query, signal: AbortSignal) => ResultStream;

/** What its queries need of a parking place. */
export interface Parking {
  readonly host: Host;
  readonly endSeen: (parked: ParkedQuery) => void;
  readonly forget: (id: QueryId) => void;
}

/** The request that waits for the next event. */
interface Waiter {
  readonly resolve: (event: ResultEvent | undefined) => void;
  readonly absorb: Absorb | undefined;
  readonly signal: AbortSignal;
  /** Undefined for a client that can not hang up. */
  readonly onAbort: (() => void) | undefined;
}

/** A `PolledQuery` (polled.ts says what it promises) and what its parking place sees of it. */
export class ParkedQuery implements PollReader {
  #query: Query;
  readonly owner: AuthContext;
  readonly #parking: Parking;
  /** Undefined once the stream has ended: what is kept for late polls is kept small. */
  #running: { readonly controller: Canceller; stream: ResultStream | undefined } | undefined;
  readonly #run: Run;
  readonly #begin: BeginQuery | undefined;
  /** The stream has ended and everything it held was given back. */
  #isOver = false;
  #onOver: (() => void) | undefined;
  #waiter: Waiter | undefined;
  /** When the waiter is answered without an event. */
  #waitEndMs = 0;
  /** Outlives waits that end in time: a timer for each of them would cost more than the event. */
  #alarm: Disposable | undefined;
  #alarmMs = 0;
  /** Events that came while nobody asked, from `#parkedAt` on: one, or what is left of a result that came whole. */
  #parked: readonly ResultEvent[] = none;
  #parkedAt = 0;
  /** Of a result that came whole, until its end is taken. */
  #rows: UntakenRows | undefined;
  #reading = false;
  #ending: GatewayError | undefined;
  #drained = 0;
  #lastGiven = false;
  #endSeen = false;
  #forgotten = false;
  askedMs: number;

  constructor(query: Query, run: Run, parking: Parking, begin?: BeginQuery) {
    this.#query = query;
    this.owner = query.session.identity;
    this.#parking = parking;
    this.askedMs = parking.host.clock.nowMs();
    const controller = new Canceller();
    this.#run = run;
    this.#begin = begin;
    const stream = begin === undefined ? run(query, controller.signal) : undefined;
    this.#running = { controller, stream };
  }

  get query(): Query {
    return this.#query;
  }

  /** True while a client's request waits here. */
  get held(): boolean {
    return this.#waiter !== undefined;
  }

  /** True when nothing of the query is left to run, and how it ended is known. */
  get ended(): boolean {
    return this.#running === undefined && this.#rows === undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves when the stream has ended and everything it held was given back. Called once. */
  over(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onOver = resolve;
    });
  }

  touch(): void {
    this.askedMs = this.#parking.host.clock.nowMs();
  }

  next(waitMs: number, signal: AbortSignal, absorb?: Absorb): Promise<ResultEvent | undefined> {
    if (this.#waiter !== undefined) {
      return Promise.reject(new Error("a polled query was asked twice at once"));
    }
    this.touch();
    if (this.#lastGiven) {
      this.#seeEnd();
      return nothing;
    }
    if (signal.aborted) {
      this.cancel();
      return nothing;
    }
    for (let parked = this.#unpark(); parked !== undefined; parked = this.#unpark()) {
      if (absorb?.(parked) !== true) return Promise.resolve(this.#give(parked));
    }
    return this.#wait(waitMs, signal, absorb);
  }

  cancel(reason = gatewayError("query.cancelled")): void {
    this.end(reason);
  }

  forget(): void {
    if (this.#running === undefined) this.#parking.forget(this.query.id);
    else this.#forgotten = true;
  }

  /** Ends the query unless it is over; its last event says why. */
  end(reason: GatewayError): void {
    const rest = this.#parked[this.#parkedAt];
    const hasMore = rest !== undefined && !isLast(rest);
    if (this.#running === undefined && (hasMore || this.#rows !== undefined)) {
      this.#park([{ kind: "failed", error: reason }]);
      this.#take(reason);
    }
    if (this.#ending !== undefined || this.#running === undefined) return;
    this.#ending = reason;
    if (hasMore) this.#park(none);
    this.#running.controller.abort(reason);
    // Nobody may ever ask again, and only a read stream gives back its slot.
    this.#read();
  }

  #wait(
    waitMs: number,
    signal: AbortSignal,
    absorb: Absorb | undefined,
  ): Promise<ResultEvent | undefined> {
    return new Promise((resolve) => {
      this.#waiter = { resolve, absorb, signal, onAbort: this.#hangUpOf(signal) };
      this.#waitEndMs = this.askedMs + waitMs;
      this.#setAlarm(waitMs);
      this.#read();
    });
  }

  #hangUpOf(signal: AbortSignal): (() => void) | undefined {
    if (signal === neverAborted) return undefined;
    const onAbort = (): void => {
      this.#answer(undefined);
      this.cancel();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    return onAbort;
  }

  /** Answers the waiter, if there is one. */
  #answer(event: ResultEvent | undefined): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    this.#waiter = undefined;
    if (waiter.onAbort !== undefined) waiter.signal.removeEventListener("abort", waiter.onAbort);
    this.touch();
    waiter.resolve(event === undefined ? undefined : this.#give(event));
  }

  /** A timer that rings earlier stays: it then sees how much of the wait is left. */
  #setAlarm(waitMs: number): void {
    if (this.#alarm !== undefined && this.#alarmMs <= this.#waitEndMs) return;
    this.#alarm?.[Symbol.dispose]();
    this.#alarmMs = this.#waitEndMs;
    this.#alarm = this.#parking.host.clock.timer(waitMs, this.#ring);
  }

  readonly #ring = (): void => {
    this.#alarm = undefined;
    if (this.#waiter === undefined) return;
    const leftMs = this.#waitEndMs - this.#parking.host.clock.nowMs();
    if (leftMs > 0 && this.#alarmMs < this.#waitEndMs) this.#setAlarm(leftMs);
    else this.#answer(undefined);
  };

  #give(event: ResultEvent): ResultEvent {
    if (isLast(event)) {
      this.#lastGiven = true;
      this.#take();
    }
    return event;
  }

  #take(reason?: GatewayError): void {
    const rows = this.#rows;
    this.#rows = undefined;
    rows?.taken(reason);
  }

  #seeEnd(): void {
    if (this.#endSeen) return;
    this.#endSeen = true;
    this.#parking.endSeen(this);
  }

  /** Reads one event unless that is under way. The stream never rejects; if it does, that is a bug. */
  #read(): void {
    const running = this.#running;
    if (this.#reading || running === undefined) return;
    this.#reading = true;
    const { signal } = running.controller;
    if (running.stream === undefined && this.#waiter?.absorb !== undefined) {
      this.#begin?.(this.#query, signal, this);
      return;
    }
    running.stream ??= this.#run(this.#query, signal);
    running.stream.next().then(this.#stepped, this.#broke);
  }

  /** The engine was asked, and nothing came yet. */
  runs(event: ResultEvent): void {
    this.#waiter?.absorb?.(event);
  }

  /** The engine is done, and all events are here. */
  whole(events: readonly ResultEvent[], rows?: UntakenRows): void {
    this.#reading = false;
    this.#rows = rows;
    this.#over();
    this.#park(events);
    this.#close();
    this.#offerParked();
  }

  /** Its events come one by one. */
  goesOn(stream: ResultStream): void {
    if (this.#running === undefined) return;
    this.#running.stream = stream;
    stream.next().then(this.#stepped, this.#broke);
  }

  readonly #stepped = (step: IteratorResult<ResultEvent, void>): void => {
    if (this.#running === undefined) this.#close();
    else this.#arrived(step.done === true ? undefined : step.value);
  };

  readonly #broke = (bug: unknown): void => {
    this.#parking.host.log.bug(bug, { queryId: this.query.id });
    if (this.#running === undefined) this.#close();
    else this.#arrived({ kind: "failed", error: gatewayError("internal.bug") });
  };

  #arrived(event: ResultEvent | undefined): void {
    this.#reading = false;
    if (event === undefined) {
      // A stream that stops without a last event must never look like a complete result.
      this.#finish({ kind: "failed", error: this.#ending ?? gatewayError("engine.broken") });
    } else if (isLast(event)) {
      this.#finish(event);
    } else if (this.#ending === undefined) {
      this.#offer(event);
    } else {
      this.#drain(this.#ending);
    }
  }

  /** Reads on to the last event of an ended query. An engine that does not stop is cut off. */
  #drain(reason: GatewayError): void {
    this.#drained += 1;
    if (this.#drained < drainedEventsMax) this.#read();
    else this.#finish({ kind: "failed", error: reason });
  }

  #finish(last: LastEvent): void {
    const stream = this.#running?.stream;
    this.#over();
    // Rows that come behind its end are not wanted.
    this.#park(this.#ending === undefined ? eventsOf(last) : [last]);
    this.#offerParked();
    // The generator may still have to run its end (a `finally` behind its last `yield`).
    stream?.return().then(this.#stepped, this.#broke);
  }

  /** Nothing of the query is left to run. */
  #over(): void {
    this.#running = undefined;
    this.#query = withoutCredential(this.#query);
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
    if (this.#forgotten) this.#parking.forget(this.query.id);
  }

  #park(events: readonly ResultEvent[]): void {
    this.#parked = events;
    this.#parkedAt = 0;
  }

  #unpark(): ResultEvent | undefined {
    const event = this.#parked[this.#parkedAt];
    if (event === undefined) return undefined;
    this.#parkedAt += 1;
    if (this.#parkedAt === this.#parked.length) this.#park(none);
    return event;
  }

  /** Answers the waiter with what it does not absorb. */
  #offerParked(): void {
    while (this.#waiter !== undefined) {
      const { absorb } = this.#waiter;
      const event = this.#unpark();
      if (event === undefined) return;
      if (absorb?.(event) !== true) return this.#answer(event);
    }
  }

  #close(): void {
    this.#isOver = true;
    this.#onOver?.();
  }

  #offer(event: ResultEvent): void {
    if (this.#waiter === undefined) this.#park([event]);
    else if (this.#waiter.absorb?.(event) === true) this.#read();
    else this.#answer(event);
  }
}

const none: readonly ResultEvent[] = [];
const nothing: Promise<undefined> = Promise.resolve(undefined);
const noCredential: Session["credential"] = { kind: "none" };

/**
 * What stays for late polls asks no engine any more, so it keeps no credential. Written out field by field,
 * because a spread takes many times as long and every query passes here.
 */
function withoutCredential(query: Query): Query {
  const { session } = query;
  if (session.credential.kind === "none") return query;
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: {
      frontend: session.frontend,
      identity: session.identity,
      credential: noCredential,
      clientAddress: session.clientAddress,
      dialect: session.dialect,
      catalog: session.catalog,
      schema: session.schema,
      settings: session.settings,
      tags: session.tags,
      headers: session.headers,
      pin: session.pin,
    },
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    receivedAtMs: query.receivedAtMs,
  };
}

function isLast(event: ResultEvent): event is LastEvent {
  return event.kind === "done" || event.kind === "failed";
}
