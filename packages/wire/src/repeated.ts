/** What is read of short byte sequences that come again: the last reading of each is found by the bytes themselves. */
export class Repeated<Value> {
  /** A power of two. Each sequence has the one place that its bytes give. */
  readonly #places: number;
  readonly #lengthMax: number;
  readonly #read: (bytes: Uint8Array) => Value | undefined;
  readonly #bytes: (Uint8Array | undefined)[];
  readonly #values: (Value | undefined)[];

  /** Sequences longer than `lengthMax` are read each time, and so are those of which `read` makes nothing. */
  constructor(places: number, lengthMax: number, read: (bytes: Uint8Array) => Value | undefined) {
    this.#places = places;
    this.#lengthMax = lengthMax;
    this.#read = read;
    this.#bytes = Array.from({ length: places }, () => undefined);
    this.#values = Array.from({ length: places }, () => undefined);
  }

  /** The same value for the same bytes, while others have not taken their place. */
  get(bytes: Uint8Array, start: number, end: number): Value | undefined {
    if (end - start > this.#lengthMax) return this.#read(bytes.subarray(start, end));
    const place = placeOf(bytes, start, end) & (this.#places - 1);
    const known = this.#bytes[place];
    if (known !== undefined && areSame(known, bytes, start, end)) return this.#values[place];
    const value = this.#read(bytes.subarray(start, end));
    if (value === undefined) return undefined;
    // A copy: `slice` of Node's own buffers is a view of what its owner writes into again.
    this.#bytes[place] = Uint8Array.prototype.slice.call(bytes, start, end);
    this.#values[place] = value;
    return value;
  }
}

function placeOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash ^ (hash >>> 9) ^ (hash >>> 18);
}

function areSame(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const { length } = known;
  if (length !== end - start) return false;
  for (let at = 0; at < length; at += 1) if (known[at] !== bytes[start + at]) return false;
  return true;
}
