/** A statement of a client of ClickHouse's own protocol that was sent at once, and whose answer may come whole. */
import type { Asked, Waiter } from "@gateway/core/query/asked.ts";
import type { Course } from "@gateway/core/query/course.ts";
import type { DoneEvent } from "@gateway/core/query/event.ts";
import { wholeDone } from "./relay.ts";
import { isOfAnother, type Running, type Sent } from "./run.ts";

/** Goes on with what was sent, event by event. */
interface Rest {
  readonly course: (running: Running, signal: AbortSignal) => Course;
  readonly signal: AbortSignal;
}

export class AskedStatement implements Asked {
  readonly #running: Running;
  readonly #sent: Sent;
  readonly #rest: Rest;

  constructor(running: Running, sent: Sent, rest: Rest) {
    this.#running = running;
    this.#sent = sent;
    this.#rest = rest;
  }

  wait(waiter: Waiter): void {
    this.#sent.exchanged.wait(waiter);
  }

  whole(): DoneEvent | undefined {
    const { exchanged, sentMs } = this.#sent;
    const answered = exchanged.answered();
    if (answered instanceof Promise || !answered.ok) return undefined;
    const response = answered.value;
    const isFine = response.statusCode === 200 && !isOfAnother(response, this.#running.submission);
    return isFine ? wholeDone(this.#running, response, sentMs) : undefined;
  }

  course(): Course {
    return this.#rest.course(this.#running, this.#rest.signal);
  }
}
