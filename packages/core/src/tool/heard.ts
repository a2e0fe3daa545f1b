/**
 * What is read of a socket, for the one who listens. An emitter looks for its listeners by the event's name, in a table
 * that every kind of emitter has in another form: a search for each read. Whoever is the only one is remembered instead.
 */

type Listener<Bytes> = (bytes: Bytes) => void;

/** A socket, or what else tells of bytes by `data`. */
export interface Emitter<Bytes> {
  on(event: "newListener" | "removeListener", listener: (event: string) => void): unknown;
  emit(event: "data", bytes: Bytes): boolean;
  rawListeners(event: "data"): readonly unknown[];
}

export class Heard<Bytes> {
  readonly #emitter: Emitter<Bytes>;
  #only: Listener<Bytes> | undefined;

  constructor(emitter: Emitter<Bytes>) {
    this.#emitter = emitter;
    const forget = (event: string): void => {
      if (event === "data") this.#only = undefined;
    };
    emitter.on("newListener", forget);
    emitter.on("removeListener", forget);
  }

  /** As `emit` does. */
  tell(bytes: Bytes): void {
    const only = this.#only ?? this.#find();
    if (only === undefined) this.#emitter.emit("data", bytes);
    else only(bytes);
  }

  #find(): Listener<Bytes> | undefined {
    const [first, second] = this.#emitter.rawListeners("data");
    if (typeof first === "function" && second === undefined) this.#only = first as Listener<Bytes>;
    return this.#only;
  }
}
