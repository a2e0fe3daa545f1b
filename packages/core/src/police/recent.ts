/** The values that were asked for lately; of older ones the half that nobody used goes first. */
export class Recent<Value> {
  readonly #max: number;
  #recent = new Map<string, Value>();
  #older = new Map<string, Value>();

  /** `max` are surely kept, twice as many at most. */
  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): Value | undefined {
    const known = this.#recent.get(key);
    if (known !== undefined) return known;
    const old = this.#older.get(key);
    if (old !== undefined) this.put(key, old);
    return old;
  }

  put(key: string, value: Value): void {
    if (this.#recent.size >= this.#max) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
  }
}
