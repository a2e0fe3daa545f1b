/**
 * A statement that was sent at once. Its answers are read as they come, without a course, as long as they say nothing: with
 * the first that does it is over, which nearly all short statements are, or goes on as a course.
 */
import type { Asked, Waiter } from "@gateway/core/query/asked.ts";
import type { Course } from "@gateway/core/query/course.ts";
import type { DoneEvent, ResultEvent, WholeResult } from "@gateway/core/query/event.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import { followed, openArray, Reading, type EngineStatement, type RunContext } from "./run.ts";
import { StatementClient, type PageResponse, type PageResult } from "./statementClient.ts";

export class AskedStatement implements Asked {
  readonly #statementClient: StatementClient;
  readonly #reading: Reading;
  readonly #signal: AbortSignal;
  #waiter: Waiter | undefined;
  readonly #events: ResultEvent[] = [];
  #taken: PageResult | undefined;
  #error: GatewayError | undefined;
  /** All answers are read, and none failed. */
  #isOver = false;
  /** Thrown where an answer was read. */
  #bug: { readonly thrown: unknown } | undefined;

  /** Sends it. */
  constructor(context: RunContext, statement: EngineStatement, signal: AbortSignal) {
    this.#statementClient = new StatementClient(context.http, context.host, statement, signal);
    this.#reading = new Reading(context, statement);
    this.#signal = signal;
  }

  wait(waiter: Waiter): void {
    this.#waiter = waiter;
    // Asked for in vain, where the pool is closed.
    if (!this.#statementClient.hears(this.#came)) queueMicrotask(this.#came);
  }

  whole(): DoneEvent | undefined {
    if (this.#bug !== undefined) {
      // What goes on in the engine ends behind its back, and is not waited for: nobody would read it.
      void this.#statementClient.end();
      throw this.#bug.thrown;
    }
    if (!this.#isOver) return undefined;
    const result = resultIn(this.#events);
    if (result === undefined) return undefined;
    void this.#statementClient.end();
    return this.#reading.done(result === "none" ? undefined : result);
  }

  course(): Course {
    const running = {
      statementClient: this.#statementClient,
      reading: this.#reading,
      signal: this.#signal,
    };
    this.#waiter = undefined;
    return followed(running, { events: this.#events, taken: this.#taken, error: this.#error });
  }

  /** An answer is here, or there will be none. */
  readonly #came = (): void => {
    const waiter = this.#waiter;
    // Taken as a course meanwhile.
    if (waiter === undefined) return;
    try {
      if (this.#goesOn()) return;
    } catch (thrown) {
      this.#bug = { thrown };
    }
    this.#waiter = undefined;
    waiter.came();
  };

  /** Reads what is here. True where that says nothing and more is to come. */
  #goesOn(): boolean {
    do {
      const answer = this.#statementClient.take();
      if (answer === undefined) {
        this.#isOver = true;
        return false;
      }
      if (!answer.ok || this.#signal.aborted || !isPlain(answer.value)) {
        this.#taken = answer;
        return false;
      }
      const { events, error } = this.#reading.read(answer.value);
      for (const event of events) this.#events.push(event);
      this.#error = error;
      const progress = error === undefined ? this.#reading.progress(answer.value) : undefined;
      if (progress !== undefined) this.#events.push(progress);
      const isLast = answer.value.page.nextUri === undefined;
      if (error !== undefined || (this.#events.length > 0 && !isLast)) return false;
    } while (!this.#statementClient.hears(this.#came));
    return true;
  }
}

/** Neither an error nor segments, which take a course. */
function isPlain({ page: { error, data }, bytes }: PageResponse): boolean {
  return error === undefined && (data === undefined || bytes[data.start] === openArray);
}

/** Undefined for events that do not come with the end. */
function resultIn(events: readonly ResultEvent[]): WholeResult | "none" | undefined {
  const [columns, rows, third] = events;
  if (columns === undefined) return "none";
  if (columns.kind !== "columns" || third !== undefined) return undefined;
  if (rows === undefined) return { columns, batch: undefined };
  return rows.kind === "batch" ? { columns, batch: rows.batch } : undefined;
}
