/**
 * The end of a part, told to each of its many waits by a signal of its own: a thousand listeners on one
 * signal would be a leak to the runtime, and looks like one.
 */
export class Stopper {
  readonly #waits = new Set<AbortController>();
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  stop(): void {
    this.#stopped = true;
    for (const wait of this.#waits) wait.abort();
    this.#waits.clear();
  }

  /** A signal that aborts with this; dispose it when the wait is over. */
  wait(): Disposable & { readonly signal: AbortSignal } {
    const wait = new AbortController();
    if (this.#stopped) wait.abort();
    else this.#waits.add(wait);
    return { signal: wait.signal, [Symbol.dispose]: () => void this.#waits.delete(wait) };
  }
}
