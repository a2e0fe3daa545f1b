/** The difference between two built configurations: the longest front and back that both have, and what stands between. */
import { spliceMiddleMax } from "@gateway/contract/snapshotDelta.ts";
import type { Built } from "../../config/configuration.ts";

export interface Delta {
  readonly front: number;
  readonly back: number;
  readonly middle: Uint8Array;
}

/** Compared at once; within the block that differs, byte by byte. */
const blockBytes = 64 * 1024;

/** Undefined where it would be long, or as long as half of the whole: that is compressed already. */
export function deltaOf(base: Uint8Array, next: Uint8Array): Delta | undefined {
  const shorter = Math.min(base.length, next.length);
  const front = sameFront(base, next, shorter);
  const back = sameBack(base, next, shorter - front);
  const middle = next.subarray(front, next.length - back);
  if (front === 0 || middle.length > spliceMiddleMax || 2 * middle.length > next.length) {
    return undefined;
  }
  return { front, back, middle };
}

function sameFront(one: Uint8Array, other: Uint8Array, most: number): number {
  let at = 0;
  while (at < most) {
    const end = Math.min(at + blockBytes, most);
    if (Buffer.compare(one.subarray(at, end), other.subarray(at, end)) !== 0) break;
    at = end;
  }
  while (at < most && one[at] === other[at]) at += 1;
  return at;
}

function sameBack(one: Uint8Array, other: Uint8Array, most: number): number {
  const [oneEnd, otherEnd] = [one.length, other.length];
  let length = 0;
  while (length < most) {
    const more = Math.min(length + blockBytes, most);
    const [left, right] = [
      one.subarray(oneEnd - more, oneEnd - length),
      other.subarray(otherEnd - more, otherEnd - length),
    ];
    if (Buffer.compare(left, right) !== 0) break;
    length = more;
  }
  while (length < most && one[oneEnd - length - 1] === other[otherEnd - length - 1]) length += 1;
  return length;
}

/** Configurations that were served before, as many as workers may be behind, and their bytes together. */
const basesMax = 8;
const basesBytesMax = 16 * 1024 * 1024;

/** Remembers what was served, newest last, and the differences to what is served now. */
export class Bases {
  #now: Built | undefined;
  #before: Built[] = [];
  readonly #deltas = new Map<Built, Delta | undefined>();

  /** Tells what is served from here on. */
  serve(built: Built): void {
    const before = this.#now;
    if (before === built) return;
    this.#now = built;
    this.#deltas.clear();
    if (before === undefined) return;
    this.#before = this.#before.filter(({ revision }) => revision.hash !== built.revision.hash);
    this.#before.push(before);
    while (this.#before.length > basesMax || this.#bytes() > basesBytesMax) this.#before.shift();
  }

  /** From the first of those that `fits`, to what is served now. */
  deltaFrom(fits: (built: Built) => boolean): { base: Built; delta: Delta } | undefined {
    const base = this.#before.findLast(fits);
    if (base === undefined || this.#now === undefined) return undefined;
    if (!this.#deltas.has(base)) this.#deltas.set(base, deltaOf(base.bytes, this.#now.bytes));
    const delta = this.#deltas.get(base);
    return delta && { base, delta };
  }

  #bytes(): number {
    return this.#before.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}
