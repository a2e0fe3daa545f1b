/** Where records wait until they are sent: the queue of every history, and what is counted of it. */

/** Metrics of the history: what waits, what was kept, what was lost. */
export const historyFamilies = {
  queued: {
    name: "gateway_history_queued",
    help: "Records that wait to be written.",
    labels: [],
  },
  sent: { name: "gateway_history_sent_total", help: "Records written.", labels: [] },
  dropped: {
    name: "gateway_history_dropped_total",
    help: "Records dropped: too many waited, the deadline of a shutdown passed, the store refused them, or the process was killed. Where that is kept over a restart, since its folder was made.",
    labels: [],
  },
} as const;

/** A queue that knows its weight and gives up its oldest items cheaply, however long it is. */
export class Backlog<Item> {
  readonly #weightOf: (item: Item) => number;
  #items: (Item | undefined)[] = [];
  /** Of each item, as it was when it came: to weigh takes longer than to note it. */
  #weights: number[] = [];
  #head = 0;
  #weight = 0;

  constructor(weightOf: (item: Item) => number) {
    this.#weightOf = weightOf;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Of all items together. */
  get weight(): number {
    return this.#weight;
  }

  push(item: Item): void {
    const weight = this.#weightOf(item);
    this.#items.push(item);
    this.#weights.push(weight);
    this.#weight += weight;
  }

  /** Takes out the oldest items, oldest first: up to `countMax` of them, up to `weightMax` but at least one. */
  take(countMax: number, weightMax = Number.POSITIVE_INFINITY): readonly Item[] {
    const taken: Item[] = [];
    let weight = 0;
    while (taken.length < countMax) {
      const at = this.#head + taken.length;
      const item = this.#items[at];
      if (item === undefined) break;
      const more = this.#weights[at] ?? 0;
      if (taken.length > 0 && weight + more > weightMax) break;
      weight += more;
      taken.push(item);
    }
    // Cleared, because this list may be old and dead by the next small collection, which keeps whatever it points at.
    for (let at = 0; at < taken.length; at += 1) this.#items[this.#head + at] = undefined;
    this.#head += taken.length;
    this.#weight -= weight;
    // Moved only when half is gone, so that an item is moved once on average.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#weights = this.#weights.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
