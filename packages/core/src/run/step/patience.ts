/**
 * Reads an engine's events, and stops waiting for an engine that ignores its cancel: its client is told why
 * the query ended, while the slot stays taken until the engine has ended it too.
 */
import type { Clock } from "../../port/clock.ts";
import type { ResultEvent, ResultStream } from "../../query/event.ts";

/** Milliseconds after an abort. Longer than a driver's process gets before it is ended. */
export const graceMs = 3_000;

/** What `next` returns when it has waited long enough for the engine. */
export type Ignored = "ignored";

export class PatientReader {
  readonly #events: ResultStream;
  readonly #clock: Clock;
  #grace: Disposable | undefined;
  #giveUp: ((ignored: Ignored) => void) | undefined;
  #ignored = false;

  constructor(events: ResultStream, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  /** True when the engine still works on a query that nobody waits for. */
  get ignored(): boolean {
    return this.#ignored;
  }

  next(): Promise<IteratorResult<ResultEvent, void> | Ignored> {
    return new Promise((resolve, reject) => {
      if (this.#ignored) return resolve("ignored");
      this.#giveUp = resolve;
      this.#events.next().then(resolve, reject);
    });
  }

  /**
   * Ends the events before the client is told how the query ended. After an abort it waits no longer than for
   * an event; `ignored` then says whether the engine still works.
   */
  leave(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ignored) return resolve();
      this.#giveUp = () => resolve();
      this.end().then(resolve, reject);
    });
  }

  /** The query was aborted: from now on the engine gets `graceMs` to end. */
  aborted(): void {
    this.#grace ??= this.#clock.timer(graceMs, () => {
      this.#ignored = true;
      this.#giveUp?.("ignored");
    });
  }

  /** Ends the events; resolves when the engine is done with the query. */
  async end(): Promise<void> {
    try {
      await this.#events.return();
    } finally {
      this.#grace?.[Symbol.dispose]();
    }
  }
}
