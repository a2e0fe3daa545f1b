/**
 * A set whose members come and go with every query, in the order in which they came.
 *
 * V8's own sets and maps get a new table every few comings and goings, to which the old one leads. Once one such table
 * is old, the collector of new garbage takes all tables behind it for alive, with whatever lay in them: with eight queries
 * at once nearly everything that a query was made of was copied twice and stayed until the whole heap was collected
 * (`docs/query-cost.md`). Here whoever goes leaves nothing behind.
 */

/** A place in the set, held by whoever came in. */
export class Membership<Value> {
  /** Undefined once it went. */
  value: Value | undefined;
  before: Membership<Value> | undefined;
  behind: Membership<Value> | undefined;

  constructor(value: Value, before: Membership<Value> | undefined) {
    this.value = value;
    this.before = before;
  }
}

export class Members<Value> {
  #first: Membership<Value> | undefined;
  #last: Membership<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Who came first of those that are here. */
  get first(): Membership<Value> | undefined {
    return this.#first;
  }

  add(value: Value): Membership<Value> {
    const last = this.#last;
    const one = new Membership(value, last);
    if (last === undefined) this.#first = one;
    else last.behind = one;
    this.#last = one;
    this.#size += 1;
    return one;
  }

  /** Does nothing for one that went. */
  remove(one: Membership<Value>): void {
    if (one.value === undefined) return;
    const { before, behind } = one;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    one.value = undefined;
    one.before = undefined;
    one.behind = undefined;
    this.#size -= 1;
  }

  /** All that are here now. */
  values(): Value[] {
    const values: Value[] = [];
    for (let one = this.#first; one !== undefined; one = one.behind) {
      if (one.value !== undefined) values.push(one.value);
    }
    return values;
  }
}
