/**
 * A signal of its own for each query that costs next to nothing.
 *
 * The platform's `AbortController` takes some five microseconds to make and its listeners two more,
 * because each is a whole event target. This one works for everything that takes an `AbortSignal` and
 * uses only what the type says: Node's waits, streams and children, `undici.request`.
 * `AbortSignal.any` accepts it and then never aborts, and undici's `fetch` refuses it. Where those are
 * needed, `abortedWith` aborts a platform controller.
 */

import { onDispose } from "./onDispose.ts";

/** Aborts its signal, once; as the platform's `AbortController`. */
export class Canceller {
  readonly #signal = new CancelSignal();

  get signal(): AbortSignal {
    return this.#signal;
  }

  /**
   * The first reason stays; without one `reason` stays undefined. Listeners are called before it returns, in
   * the order in which they were added.
   */
  abort(reason?: unknown): void {
    this.#signal.abort(reason);
  }
}

/** For what takes a signal where nobody could leave. Known by its identity: nothing needs to listen to it. */
export const neverAborted: AbortSignal = new AbortController().signal;

/** Passes an abort of `signal`, past or future, on to `controller`, until disposed. */
export function abortedWith(
  signal: AbortSignal,
  controller: { abort(reason: unknown): void },
): Disposable {
  const pass = (): void => controller.abort(signal.reason);
  if (signal.aborted) pass();
  else signal.addEventListener("abort", pass, { once: true });
  return onDispose(() => signal.removeEventListener("abort", pass));
}

/**
 * The client behind a signal, for work in slices: over when the signal is aborted.
 *
 * A class, because an object literal with an accessor gets a hidden class of its own each time it is evaluated. V8
 * keeps those in the old part of its heap, with the accessor and all that its closure sees: the whole query then lived
 * until the next collection of everything, and each small collection copied it twice.
 */
export class SignalledClient {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get over(): boolean {
    return this.#signal.aborted;
  }
}

/** What the platform's signal takes as a listener. */
type Called = NonNullable<Parameters<AbortSignal["addEventListener"]>[1]>;

/** A chain and no list: the second of a list makes room for seventeen, and a query has two or three for a moment. */
interface Listener {
  readonly call: Called;
  readonly once: boolean;
  removed: boolean;
  /** The one that was added before. */
  before: Listener | undefined;
}

class CancelSignal implements AbortSignal {
  aborted = false;
  reason: unknown = undefined;
  onabort: ((this: AbortSignal, event: Event) => unknown) | null = null;
  /** The one that was added last. */
  #last: Listener | undefined;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    if (this.onabort === null && this.#last === undefined) return;
    this.dispatchEvent(new Event("abort"));
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(
    type: string,
    call: Called | null,
    options?: boolean | { readonly once?: boolean | undefined },
  ): void {
    if (type !== "abort" || call === null) return;
    for (let one = this.#last; one !== undefined; one = one.before) if (one.call === call) return;
    const once = typeof options === "object" && options.once === true;
    this.#last = { call, once, removed: false, before: this.#last };
  }

  removeEventListener(type: string, call: Called | null): void {
    if (type !== "abort") return;
    let behind: Listener | undefined;
    for (let one = this.#last; one !== undefined; one = one.before) {
      if (one.call !== call) {
        behind = one;
        continue;
      }
      one.removed = true;
      if (behind === undefined) this.#last = one.before;
      else behind.before = one.before;
      return;
    }
  }

  /** Listeners that are added meanwhile are not called. */
  dispatchEvent(event: Event): boolean {
    const listeners: Listener[] = [];
    for (let one = this.#last; one !== undefined; one = one.before) listeners.unshift(one);
    if (this.onabort !== null) this.#call(this.onabort, event);
    for (const listener of listeners) {
      if (listener.removed) continue;
      if (listener.once) this.removeEventListener("abort", listener.call);
      this.#call(listener.call, event);
    }
    return true;
  }

  /** A listener that throws does not stop the others. It is a bug and is reported as the platform reports its own. */
  #call(call: Called, event: Event): void {
    try {
      if (typeof call === "function") call.call(this, event);
      else call.handleEvent(event);
    } catch (bug) {
      queueMicrotask(() => {
        throw bug;
      });
    }
  }
}
