/**
 * What one connection keeps prepared, for one user: so no other user's statement can read their texts in the server's
 * list. The ones that were not used for longest are given up first.
 */

/** A statement on its connection. */
export interface Taken {
  readonly name: string;
  /** The server has it; otherwise it is to be prepared, and `made` told. */
  readonly known: boolean;
  /** Names to be closed before it. */
  readonly closes: readonly string[];
}

export class PreparedTexts {
  readonly #names = new Map<string, string>();
  #user: string | undefined;
  #count = 0;
  #closing: string[] = [];
  /**
   * By the names of its session's client, what was prepared for a statement that can tell. The server is asked which of
   * them it has still.
   */
  readonly own = new Map<string, string>();
  /** The server has the statement that tells whose statement runs. */
  tags = false;

  /** Whose texts they are; undefined while there is none. */
  get user(): string | undefined {
    return this.#user;
  }

  /** The statement of this text and these types. At most `max` are kept. */
  take(user: string, key: string, max: number): Taken {
    this.#user = user;
    const found = this.#names.get(key);
    const closes = this.#closing;
    this.#closing = [];
    if (found !== undefined) {
      this.#names.delete(key);
      this.#names.set(key, found);
      return { name: found, known: true, closes };
    }
    this.#count += 1;
    const [oldest] = this.#names;
    if (oldest === undefined || this.#names.size < max)
      return { name: `gateway_${this.#count}`, known: false, closes };
    this.#names.delete(oldest[0]);
    return { name: `gateway_${this.#count}`, known: false, closes: [...closes, oldest[1]] };
  }

  /** The server prepared it. */
  made(key: string, name: string): void {
    this.#names.set(key, name);
  }

  /** The server would have it prepared anew. */
  forget(key: string): void {
    const name = this.#names.get(key);
    if (name === undefined) return;
    this.#names.delete(key);
    this.#closing.push(name);
  }

  /** The server has none of them any more, or nobody knows which. Names are not given twice. */
  clear(): void {
    this.#names.clear();
    this.#user = undefined;
    this.#closing = [];
    this.tags = false;
  }
}
