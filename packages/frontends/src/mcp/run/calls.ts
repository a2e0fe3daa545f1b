/**
 * The calls that are being answered, by whom and under which id, so that a later message can cancel one.
 *
 * `notifications/cancelled` comes in a request of its own. It may only reach calls of its own session: two agents of
 * one user both begin to count at 1.
 */

/** Whose call it is. */
export interface CallKey {
  readonly user: string;
  /** Tells sessions of the user apart. */
  readonly session: string;
  readonly id: string | number;
}

/** By a text that stands for the key of each. */
export class Calls {
  readonly #calls = new Map<string, () => void>();

  /** Until disposed, `cancel` with this key calls it. Of two calls under one key the later is found. */
  add(key: string, cancel: () => void): Disposable {
    this.#calls.set(key, cancel);
    return {
      [Symbol.dispose]: () => {
        if (this.#calls.get(key) === cancel) this.#calls.delete(key);
      },
    };
  }

  /** Cancels the call; false when it is not being answered here. */
  cancel(key: string): boolean {
    const cancel = this.#calls.get(key);
    cancel?.();
    return cancel !== undefined;
  }
}
