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
  next(): Read | Promise<Read>;
  /** Resolves when the engine is done with the query; undefined where it is already. */
  end(): Promise<void> | undefined;
}

export class PatientReader {
  readonly #events: Source;
  readonly #clock: Clock;
  #grace: Disposable | undefined;
  #giveUp: (() => void) | undefined;
  #ignored = false;

  constructor(events: ResultStream | Course, clock: Clock) {
    this.#events =
      Symbol.asyncIterator in events ? new StreamSource(events) : new CourseSource(events);
    this.#clock = clock;
  }

  /** True when the engine still works on a query that nobody waits for. */
  get ignored(): boolean {
    return this.#ignored;
  }

  /** A promise only for what is not here yet. */
  next(): Read | Promise<Read> {
    if (this.#ignored) return "ignored";
    const read = this.#events.next();
    return read instanceof Promise ? this.#patiently(read, "ignored") : read;
  }

  /**
   * Ends the events before the client is told how the query ended. After an abort it waits no longer than for
   * an event; `ignored` then says whether the engine still works. Undefined when it is done at once.
   */
  leave(): Promise<void> | undefined {
    if (this.#ignored) return undefined;
    const ended = this.#end();
    return ended && this.#patiently(ended, undefined);
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

  #patiently<Value>(wait: Promise<Value>, ignored: Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(ignored);
      wait.then(resolve, reject);
    });
  }
}

class StreamSource implements Source {
  readonly #stream: ResultStream;

  constructor(stream: ResultStream) {
    this.#stream = stream;
  }

  async next(): Promise<Read> {
    const step = await this.#stream.next();
    return step.done === true ? "over" : step.value;
  }

  async end(): Promise<void> {
    await this.#stream.return();
  }
}

class CourseSource implements Source {
  readonly #course: Course;
  /** What it waits for. It can not be ended before. */
  #waiting: Promise<Read> | undefined;
  #isEnding = false;
  #saidLast = false;
  #ended: Promise<void> | undefined;

  constructor(course: Course) {
    this.#course = course;
  }

  /** Behind its end, as with a stream, there is nothing more: whoever drives it to its end must be the only one. */
  next(): Read | Promise<Read> {
    if (this.#isEnding) return this.#ended?.then(() => "over" as const) ?? "over";
    const read = this.#taken(this.#course.next());
    if (read instanceof Promise) this.#waiting = read;
    return read;
  }

  end(): Promise<void> | undefined {
    if (this.#isEnding) return this.#ended;
    this.#isEnding = true;
    const waiting = this.#waiting;
    if (waiting !== undefined) this.#ended = this.#endAfter(waiting);
    else this.#ended = this.#saidLast ? finishing(this.#course) : ending(this.#course);
    return this.#ended;
  }

  /** As with a stream, what it was asked for last comes first. Whoever asked is told of a bug in it. */
  async #endAfter(waiting: Promise<Read>): Promise<void> {
    await waiting.catch(() => undefined);
    await (this.#saidLast ? finishing(this.#course) : ending(this.#course));
  }

  #taken(step: IteratorResult<ResultEvent | Promise<unknown>, void>): Read | Promise<Read> {
    if (step.done !== true) {
      const { value } = step;
      if (value instanceof Promise) return this.#after(value);
      this.#waiting = undefined;
      this.#saidLast = value.kind === "done" || value.kind === "failed";
      return value;
    }
    this.#waiting = undefined;
    return "over";
  }

  #after(wait: Promise<unknown>): Promise<Read> {
    return wait.then(
      (value) => this.#taken(this.#course.next(value)),
      (bug: unknown) => this.#taken(this.#course.throw(bug)),
    );
  }
}
