/** A value that must not be printed. Text, JSON and inspection all answer `[secret]`. */
const inspect = Symbol.for("nodejs.util.inspect.custom");

/** What somebody made of a secret and of what stands beside it: nothing that tells anything without a key of his own. */
export interface SecretMark {
  readonly by: object;
  readonly beside: readonly string[];
  readonly text: string;
}

export class Secret {
  readonly #value: string;
  /** The last one, for a secret that is shown again and again. */
  mark: SecretMark | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. A reviewer looks at every call. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect](): string {
    return "[secret]";
  }
}
