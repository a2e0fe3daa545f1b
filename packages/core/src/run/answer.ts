/**
 * The usual way of a query whose client is told nothing before the first row: nothing is waited for but its engine, and
 * that answers in one piece. So no stage here is a generator, and there is one promise, which the engine's answer
 * resolves (docs/query-cost.md). Wherever anything else has to be waited for, the line of `run.ts` goes on from there.
 */
import { abortError, gatewayError, type GatewayError } from "../error.ts";
import type { Asked, PollReader, UntakenRows, Waiter } from "../query/asked.ts";
import type { Leaving } from "../query/behind.ts";
import { answerOf, eventsOf, type Answer } from "../query/course.ts";
import { streamOf } from "../query/courseStream.ts";
import type { DoneEvent, LastEvent, ResultEvent, ResultStream } from "../query/event.ts";
import type { Query } from "../query/query.ts";
import type { Slot } from "../query/slot.ts";
import { courseOfQuery } from "./run.ts";
import { Attempt } from "./step/attempt.ts";
import { mayKeep, type Begun } from "./step/begun.ts";
import { OpenQuery } from "./step/lifecycle.ts";
import { lateLossOf, lossOf } from "./step/lost.ts";
import type { PatientReader } from "./step/patience.ts";
import type { DataPlane } from "./step/plane.ts";
import { doneWith } from "./step/relay.ts";
import { wayOf, type Way } from "./step/way.ts";
import { wishOf } from "./transaction/wish.ts";

/** Begins a query. Resolves with all events where it needs no wait behind the first of them, and with their stream otherwise. */
export function answerQuery(query: Query, plane: DataPlane, signal: AbortSignal): Promise<Answer> {
  const open = new OpenQuery(query, plane, signal, true);
  if (!isPlain(query, plane)) return answerOf(courseOfQuery(open, plane));
  return new Straight(open, plane).begin();
}

/** The same for a client that polls, and is told that its query runs: `reader` hears once of all of it, or of its stream. */
export function startQuery(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
  reader: PollReader,
): void {
  const open = new OpenQuery(query, plane, signal);
  if (isPlain(query, plane)) new Straight(open, plane, reader).start(reader);
  else reader.goesOn(streamOf(courseOfQuery(open, plane)));
}

function isPlain(query: Query, plane: DataPlane): boolean {
  const { pin, kept } = query.session;
  if (pin !== undefined || kept !== undefined || plane.draining()) return false;
  return wishOf(query) === undefined;
}

class Straight implements Begun, Leaving, UntakenRows, Waiter {
  readonly #open: OpenQuery;
  readonly #plane: DataPlane;
  finding: Begun["finding"];
  granted: Begun["granted"];
  attempt: Attempt | undefined;
  identifying: Begun["identifying"];
  judging: Begun["judging"];
  events: PatientReader | undefined;
  #way: Way | undefined;
  #slot: Slot | undefined;
  #asked: Asked | undefined;
  #isOver = false;
  #last: LastEvent | undefined;
  #resolve: ((answer: Answer | Promise<Answer>) => void) | undefined;
  #reader: PollReader | undefined;
  /** Who has rows of it and did not take its end yet. */
  #untaken: PollReader | undefined;
  /** Everything but its record and its place among those that live is given back. */
  #isLeft = false;

  constructor(open: OpenQuery, plane: DataPlane, reader?: PollReader) {
    this.#open = open;
    this.#plane = plane;
    this.#reader = reader;
  }

  begin(): Promise<Answer> {
    try {
      this.#asked = this.#send();
    } catch (bug) {
      return new Promise((resolve) => {
        this.#resolve = resolve;
        this.#broke(bug);
      });
    }
    const asked = this.#asked;
    if (asked === undefined) return answerOf(courseOfQuery(this.#open, this.#plane, this));
    this.#open.signal.addEventListener("abort", this);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      asked.wait(this);
    });
  }

  /** The same for a reader. */
  start(reader: PollReader): void {
    try {
      this.#asked = this.#send();
    } catch (bug) {
      return this.#broke(bug);
    }
    const { signal, live } = this.#open;
    if (this.#asked === undefined) return reader.goesOn(this.#stream());
    signal.addEventListener("abort", this);
    this.#asked.wait(this);
    reader.runs({ kind: "progress", state: "running", stats: live.stats() });
  }

  /** As far as nothing has to be waited for: undefined where something has. */
  #send(): Asked | undefined {
    const open = this.#open;
    this.finding = wayOf(open, this.#plane);
    if (this.finding instanceof Promise || !this.finding.ok) return undefined;
    const way = this.finding.value;
    this.#way = way;
    // Guards that have something to say say it first.
    if (way.policed.guarded !== undefined) return undefined;
    this.granted = way.slot();
    if (!("ok" in this.granted) || !this.granted.ok) return undefined;
    const slot = this.granted.value;
    this.#slot = slot;
    const attempt = new Attempt(slot, open, way, this.#plane.host);
    this.attempt = attempt;
    this.identifying = attempt.identified();
    if (this.identifying instanceof Promise || !this.identifying.ok) return undefined;
    const query = this.identifying.value;
    this.judging = attempt.late(query);
    if (this.judging !== undefined || mayKeep(query, slot, way)) return undefined;
    // Right before the engine is asked.
    return open.signal.aborted || lossOf(slot) !== undefined ? undefined : attempt.send(query);
  }

  /** Something of the answer is here, or nothing will come. */
  came(): void {
    const asked = this.#asked;
    // The query was aborted meanwhile: its answer is the course's.
    if (asked === undefined) return;
    try {
      const done = asked.whole();
      if (done === undefined) this.#goOn(asked);
      else this.#ends(done);
    } catch (bug) {
      this.#broke(bug);
    }
  }

  /** The query was aborted: the engine is told, and is given some time to end it. One that is done gives nothing more. */
  handleEvent(): void {
    const asked = this.#asked;
    if (asked !== undefined) this.#goOn(asked);
    else this.#untaken?.end(abortError(this.#open.signal));
  }

  /** As a course, from the engine's answer on. */
  #goOn(asked: Asked): void {
    const { signal } = this.#open;
    this.#waitNoMore();
    this.events = this.attempt?.follow(asked);
    if (this.#reader !== undefined) this.#reader.goesOn(this.#stream());
    else this.#resolve?.(answerOf(courseOfQuery(this.#open, this.#plane, this)));
    // The engine's course has begun, and hears of it.
    if (signal.aborted) this.attempt?.free();
  }

  #ends(done: DoneEvent): void {
    this.#waitNoMore();
    const last = this.#lastOf(done);
    this.attempt?.ended(last);
    const { behind } = this.#plane;
    // A slot that takes a wait is given back before the client is told.
    if (behind === undefined || this.#slot?.release === undefined) return this.#end(last);
    this.#last = last;
    behind.add(this);
    this.#tell(eventsOf(last));
  }

  /** The client has its answer. */
  leave(): void {
    const last = this.#last;
    if (last === undefined) return;
    try {
      this.#end(last);
    } catch (bug) {
      this.#broke(bug);
    }
  }

  /** The engine's end with our own counts, or why the client gets none of it. */
  #lastOf(done: DoneEvent): LastEvent {
    const { live } = this.#open;
    const late = this.#slot && lateLossOf(this.#slot);
    const batch = done.whole?.batch;
    const error = late ?? (batch && live.counted(batch));
    if (error === undefined) return doneWith(done, live);
    live.cancel(error);
    return { kind: "failed", error };
  }

  /** The engine's answer, and an abort, are waited for no longer. */
  #waitNoMore(): void {
    this.#asked = undefined;
    this.#open.signal.removeEventListener("abort", this);
  }

  #broke(bug: unknown): void {
    this.#waitNoMore();
    this.#plane.host.log.bug(bug, { queryId: this.#open.query.id });
    const last: LastEvent = { kind: "failed", error: gatewayError("internal.bug") };
    // What is given back is given back once.
    if (this.#isOver) this.#tell([last]);
    else this.#end(last);
  }

  #stream(): ResultStream {
    return streamOf(courseOfQuery(this.#open, this.#plane, this));
  }

  /** Once: the client may have been told before everything was given back. */
  #tell(events: readonly ResultEvent[]): void {
    const reader = this.#reader;
    const resolve = this.#resolve;
    this.#reader = undefined;
    this.#resolve = undefined;
    if (reader === undefined) return resolve?.(events);
    if (events.length === 1) return reader.whole(events);
    this.#untaken = reader;
    reader.whole(events, this);
  }

  /** A client that polls has taken the end, or will not: so its query says in its record what it told its client. */
  taken(reason?: GatewayError): void {
    this.#untaken = undefined;
    if (reason !== undefined) this.#last = { kind: "failed", error: reason };
    if (!this.#isLeft || this.#last === undefined) return;
    this.#open.signal.removeEventListener("abort", this);
    try {
      this.#open.close(this.#last);
    } catch (bug) {
      this.#broke(bug);
    }
  }

  /** Gives everything back, then tells the client. */
  #end(last: LastEvent): void {
    this.#isOver = true;
    const ending = this.attempt?.end();
    if (ending === undefined) this.#close(last);
    else void ending.then(() => this.#close(last));
  }

  #close(last: LastEvent): void {
    this.#way?.leave();
    const events = eventsOf(last);
    if (this.#reader !== undefined && events.length > 1) this.#tell(events);
    if (this.#untaken !== undefined) return this.#waitTaken(last);
    this.#open.close(last);
    this.#tell(events);
  }

  /** As long as its rows are not taken it lives, and may be cancelled, as one whose engine sends them piece by piece. */
  #waitTaken(last: LastEvent): void {
    const { signal } = this.#open;
    this.#last = last;
    this.#isLeft = true;
    if (signal.aborted) return this.handleEvent();
    signal.addEventListener("abort", this);
  }
}
