/**
 * Waits for the first answer of each backend: what an engine has is known by then, and a list made before would
 * show a full catalog as empty.
 */
import type { Clock } from "../port/clock.ts";
import type { Watch } from "./health.ts";

/** An engine that does not answer keeps nobody waiting for longer, from the first who asked. */
export const firstAnswersMs = 2_000;

export class FirstAnswers implements Disposable {
  #pending: Promise<void> | undefined;
  #settle = nothing;
  readonly #clock: Pick<Clock, "timer">;
  #limit: Disposable | undefined;

  constructor(watches: readonly Pick<Watch, "first">[], clock: Pick<Clock, "timer">) {
    this.#pending = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#clock = clock;
    void Promise.all(watches.map(({ first }) => first)).then(() => this[Symbol.dispose]());
  }

  /** Settles with the last first answer, or at the limit. Undefined from then on. */
  get pending(): Promise<void> | undefined {
    if (this.#pending === undefined) return undefined;
    this.#limit ??= this.#clock.timer(firstAnswersMs, () => this[Symbol.dispose]());
    return this.#pending;
  }

  /** Nobody waits any more. */
  [Symbol.dispose](): void {
    this.#limit?.[Symbol.dispose]();
    this.#pending = undefined;
    this.#settle();
  }
}

function nothing(): void {}
