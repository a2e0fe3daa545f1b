/** Turns in which requests are read: each may take the memory of a whole message, so only some are read at once. */
import { onDispose } from "@gateway/core/tool/onDispose.ts";
import { readersMax, readersOfUserMax } from "./limits.ts";

interface Waiting {
  readonly user: string;
  readonly begin: () => void;
}

export class Readers {
  readonly #reading = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #count = 0;

  /** A turn, to be disposed when the message is there; undefined when `signal` was aborted before. */
  turn(user: string, signal: AbortSignal): Promise<Disposable | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#admits(user)) return Promise.resolve(this.#begin(user));
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        resolve(undefined);
      };
      const waiting: Waiting = {
        user,
        begin: () => {
          signal.removeEventListener("abort", leave);
          resolve(this.#begin(user));
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #admits(user: string): boolean {
    return this.#count < readersMax && (this.#reading.get(user) ?? 0) < readersOfUserMax;
  }

  #begin(user: string): Disposable {
    this.#count += 1;
    this.#reading.set(user, (this.#reading.get(user) ?? 0) + 1);
    return onDispose(() => this.#end(user));
  }

  #end(user: string): void {
    this.#count -= 1;
    const left = (this.#reading.get(user) ?? 1) - 1;
    if (left === 0) this.#reading.delete(user);
    else this.#reading.set(user, left);
    for (const waiting of this.#waiting) {
      if (!this.#admits(waiting.user)) continue;
      this.#waiting.delete(waiting);
      return waiting.begin();
    }
  }
}
