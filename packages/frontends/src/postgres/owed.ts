/** How long a client takes over the messages of a statement that it has begun. */
import type { Clock } from "@gateway/core/port/clock.ts";

export class OwedTime {
  readonly #clock: Pick<Clock, "nowMs">;
  /** Milliseconds; only what was waited for counts. */
  ms = 0;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Counts how long it comes. */
  counted<Come>(come: Come | Promise<Come>): Come | Promise<Come> {
    if (!(come instanceof Promise)) return come;
    const fromMs = this.#clock.nowMs();
    return come.finally(() => (this.ms += this.#clock.nowMs() - fromMs));
  }
}
