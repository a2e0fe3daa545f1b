import { gatewayError } from "../../error.ts";
import type { Asked, Waiter } from "../../query/asked.ts";
import { waited, type Course } from "../../query/course.ts";
import type { DoneEvent, ResultEvent } from "../../query/event.ts";
import { deferred } from "../../tool/pause.ts";
import { planeOf, type PlaneOptions, type TestPlane } from "./plane.ts";

/** An engine that answers when the test says so. */
export class Engine implements Asked {
  readonly seen: string[] = [];
  readonly #whole: DoneEvent | Error | undefined;
  readonly #events: readonly ResultEvent[];
  readonly #over = deferred<void>();
  #waiter: Waiter | undefined;
  signal: AbortSignal | undefined;

  constructor(answer: DoneEvent | Error | undefined, events: readonly ResultEvent[] = []) {
    this.#whole = answer;
    this.#events = events;
  }

  wait(waiter: Waiter): void {
    this.#waiter = waiter;
  }

  whole(): DoneEvent | undefined {
    this.seen.push("whole");
    if (this.#whole instanceof Error) throw this.#whole;
    return this.#whole;
  }

  *course(): Course {
    this.seen.push("course");
    try {
      if (this.signal?.aborted === true) {
        this.seen.push("cancelled");
        yield* waited(this.#over.promise);
        yield { kind: "failed", error: gatewayError("query.cancelled") };
      }
      for (const event of this.#events) yield event;
    } finally {
      this.seen.push("ended");
    }
  }

  says(): void {
    this.#waiter?.came();
  }

  over(): void {
    this.#over.resolve();
  }
}

/** A plane whose one engine is sent statements at once; undefined: it has no such way. */
export function planeAsking(
  engine: Engine | undefined,
  options: Partial<PlaneOptions> = {},
): TestPlane {
  return planeOf({
    clusters: {
      main: async function* () {
        yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 2, bytes: 8 } };
      },
    },
    routesAtOnce: true,
    slotsAtOnce: true,
    ask: (_query, aborted) => {
      if (engine === undefined) return undefined;
      engine.seen.push("asked");
      engine.signal = aborted;
      return engine;
    },
    ...options,
  });
}
