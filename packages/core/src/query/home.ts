/**
 * Where the state of one client's session stands that only a connection can keep: temporary tables, locks, user
 * variables. Made by the frontend for each login; the engine whose connection it is says so here.
 */

/** What an engine keeps for a session. */
export interface Kept {
  /** The cluster whose connection it is. */
  readonly cluster: string;
  /** What made it the session's own, in words. */
  readonly reason: string;
  /** Gives the connection back, cleaned or closed. Never rejects. */
  release(): Promise<void>;
}

export class Home implements AsyncDisposable {
  #kept: Kept | undefined;
  #over = false;

  /** Undefined while nothing has to be kept. */
  get kept(): Kept | undefined {
    return this.#kept;
  }

  /** True once its client is gone, or began another session: nothing is kept for it any more. */
  get over(): boolean {
    return this.#over;
  }

  /** The connection is the session's own from here on. One connection of one cluster at a time. */
  keep(kept: Kept): void {
    this.#kept = kept;
  }

  /** The connection is gone, or clean again. */
  forget(): void {
    this.#kept = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    const kept = this.#kept;
    this.#kept = undefined;
    await kept?.release();
  }
}
