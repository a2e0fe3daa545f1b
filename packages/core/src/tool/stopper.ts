/**
 * Stops the many waits of a part, each through a signal of its own: the runtime would report a thousand
 * listeners on one signal as a leak.
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

  /** A signal that aborts on `stop`; dispose it when the wait is over. */
  wait(): Disposable & { readonly signal: AbortSignal } {
    const wait = new AbortController();
    if (this.#stopped) wait.abort();
    else this.#waits.add(wait);
    return { signal: wait.signal, [Symbol.dispose]: () => void this.#waits.delete(wait) };
  }
}
