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

export class Calls {
  readonly #calls = new Map<string, () => void>();

  /** Until disposed, `cancel` with this key calls it. Of two calls under one key the later is found. */
  add(key: CallKey, cancel: () => void): Disposable {
    const text = textOf(key);
    this.#calls.set(text, cancel);
    return {
      [Symbol.dispose]: () => {
        if (this.#calls.get(text) === cancel) this.#calls.delete(text);
      },
    };
  }

  /** Cancels the call, if it is being answered here. */
  cancel(key: CallKey): void {
    this.#calls.get(textOf(key))?.();
  }
}

function textOf({ user, session, id }: CallKey): string {
  return JSON.stringify([user, session, id]);
}
