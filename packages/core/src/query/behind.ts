/**
 * What a query leaves to be done behind its answer: its slot is given back and its record is kept once the answer has left
 * for its client, who would otherwise wait for both. Whoever writes answers runs it behind each write, and whoever asks for a
 * slot before that; where neither follows, because the client is gone, it is run some milliseconds later.
 */

/** Must not throw: whoever runs it is another query's answer. */
export interface Leaving {
  leave(): void;
}

export class Behind {
  readonly #plan: (run: () => void) => void;
  #first: Leaving | undefined;
  /** Behind the first: mostly there is none. */
  #more: Leaving[] | undefined;
  #planned = false;

  /** `plan` calls what it is given some milliseconds later. */
  constructor(plan: (run: () => void) => void) {
    this.#plan = plan;
  }

  add(leaving: Leaving): void {
    if (this.#first === undefined) this.#first = leaving;
    else (this.#more ??= []).push(leaving);
    if (this.#planned) return;
    this.#planned = true;
    this.#plan(this.#onTime);
  }

  readonly #onTime = (): void => {
    this.#planned = false;
    this.run();
  };

  /** In the order in which they were added. */
  readonly run = (): void => {
    const first = this.#first;
    if (first === undefined) return;
    const more = this.#more;
    this.#first = undefined;
    this.#more = undefined;
    first.leave();
    if (more !== undefined) for (const leaving of more) leaving.leave();
  };
}
