/**
 * Reads an engine's events, and stops waiting for an engine that ignores its cancel: its client is told why
 * the query ended, while the slot stays taken until the engine has ended it too.
 */
import type { Clock } from "../../port/clock.ts";
import { ending, finishing, type Course } from "../../query/course.ts";
import type { ResultEvent, ResultStream } from "../../query/event.ts";

/** Milliseconds after an abort. Longer than a driver's process gets before it is ended. */
export const graceMs = 3_000;

/** An event; that there are no more; or that it has waited long enough for the engine. */
export type Read = ResultEvent | "over" | "ignored";

/** Where events come from. Ending it twice does nothing. */
interface Source {
  /** `patience` makes the promise, so that whoever waits for it may also be told to wait no longer. */
  next(patience: Patience): Read | Promise<Read>;
  /** Resolves when the engine is done with the query; undefined where it is already. */
  end(): Promise<void> | undefined;
}

/** A promise for what comes of `wait`; a rejection is what `wait` or `then` rejects with or throws. */
type Patience = (
  wait: Promise<unknown>,
  then: (value: unknown) => Read | Promise<Read>,
  otherwise?: (bug: unknown) => Read | Promise<Read>,
) => Promise<Read>;

export class PatientReader {
  readonly #events: Source;
  readonly #clock: Clock;
  #grace: Disposable | undefined;
  /** Told whenever an event was asked for: with the first, an engine is given the query. */
  readonly #asked: (() => void) | undefined;
  #giveUp: (() => void) | undefined;
  #ignored = false;

  constructor(events: ResultStream | Course, clock: Clock, asked?: () => void) {
    this.#events =
      Symbol.asyncIterator in events ? new StreamSource(events) : new CourseSource(events);
    this.#clock = clock;
    this.#asked = asked;
  }

  /** True when the engine still works on a query that nobody waits for. */
  get ignored(): boolean {
    return this.#ignored;
  }

  /** A promise only for what is not here yet. */
  next(): Read | Promise<Read> {
    if (this.#ignored) return "ignored";
    const read = this.#events.next(this.#patience);
    this.#asked?.();
    return read;
  }

  /**
   * Ends the events before the client is told how the query ended. After an abort it waits no longer than for
   * an event; `ignored` then says whether the engine still works. Undefined when it is done at once.
   */
  leave(): Promise<void> | undefined {
    if (this.#ignored) return undefined;
    const ended = this.#end();
    if (ended === undefined) return undefined;
    return new Promise((resolve, reject) => {
      this.#giveUp = resolve;
      ended.then(resolve, reject);
    });
  }

  /** The query was aborted: from now on the engine gets `graceMs` to end. */
  aborted(): void {
    this.#grace ??= this.#clock.timer(graceMs, () => {
      this.#ignored = true;
      this.#giveUp?.();
    });
  }

  /** Ends the events; resolves when the engine is done with the query. */
  async end(): Promise<void> {
    await this.#end();
  }

  #end(): Promise<void> | undefined {
    const ended = this.#events.end();
    if (ended !== undefined) return ended.finally(() => this.#grace?.[Symbol.dispose]());
    this.#grace?.[Symbol.dispose]();
    return undefined;
  }

  /** One promise for the wait, for what comes of it, and for the end of patience: each query takes one. */
  readonly #patience: Patience = (wait, then, otherwise) =>
    new Promise((resolve, reject) => {
      this.#giveUp = () => resolve("ignored");
      const settle = (take: (came: unknown) => Read | Promise<Read>) => (came: unknown) => {
        try {
          resolve(take(came));
        } catch (bug) {
          reject(bug);
        }
      };
      wait.then(settle(then), otherwise === undefined ? reject : settle(otherwise));
    });
}

class StreamSource implements Source {
  readonly #stream: ResultStream;

  constructor(stream: ResultStream) {
    this.#stream = stream;
  }

  next(patience: Patience): Promise<Read> {
    return patience(this.#stream.next(), readIn);
  }

  async end(): Promise<void> {
    await this.#stream.return();
  }
}

function readIn(came: unknown): Read {
  const step = came as IteratorResult<ResultEvent, void>;
  return step.done === true ? "over" : step.value;
}

class CourseSource implements Source {
  readonly #course: Course;
  /** What it waits for. It can not be ended before. */
  #waiting: Promise<unknown> | undefined;
  #isEnding = false;
  #saidLast = false;
  #ended: Promise<void> | undefined;

  constructor(course: Course) {
    this.#course = course;
  }

  /** Behind its end, as with a stream, there is nothing more: whoever drives it to its end must be the only one. */
  next(patience: Patience): Read | Promise<Read> {
    if (this.#isEnding) return this.#ended?.then(() => "over" as const) ?? "over";
    return this.#taken(this.#course.next(), patience);
  }

  end(): Promise<void> | undefined {
    if (this.#isEnding) return this.#ended;
    this.#isEnding = true;
    if (this.#waiting !== undefined) this.#ended = this.#endAfter();
    else this.#ended = this.#saidLast ? finishing(this.#course) : ending(this.#course);
    return this.#ended;
  }

  /** As with a stream, what it was asked for last comes first. Whoever asked is told of a bug in it. */
  async #endAfter(): Promise<void> {
    while (this.#waiting !== undefined) await this.#waiting.catch(() => undefined);
    await (this.#saidLast ? finishing(this.#course) : ending(this.#course));
  }

  #taken(
    step: IteratorResult<ResultEvent | Promise<unknown>, void>,
    patience: Patience,
  ): Read | Promise<Read> {
    if (step.done === true) return "over";
    const { value } = step;
    if (value instanceof Promise) return this.#after(value, patience);
    this.#saidLast = value.kind === "done" || value.kind === "failed";
    return value;
  }

  #after(wait: Promise<unknown>, patience: Patience): Promise<Read> {
    this.#waiting = wait;
    return patience(
      wait,
      (value) => {
        this.#waiting = undefined;
        return this.#taken(this.#course.next(value), patience);
      },
      (bug) => {
        this.#waiting = undefined;
        return this.#taken(this.#course.throw(bug), patience);
      },
    );
  }
}
