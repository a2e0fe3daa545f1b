/** Zones behind timestamps: nearly every cell has the one of the cell before it, so its name is decoded once. */
import { instantOf, utc, zoneOf, type Zone } from "@gateway/core/type/zone.ts";

const decoder = new TextDecoder();
/** Of the longest zone's name, and more. */
const nameSizeMax = 64;
const none = new Uint8Array(0);

/** Turns readings of one zone's clock into instants, both in seconds. */
export type ToInstant = (localSeconds: number) => number;

export class ZoneReader {
  #name = none;
  #instant: ToInstant | undefined;

  /** The zone whose name stands between two places; undefined when there is none of that name. */
  zone(bytes: Uint8Array, start: number, end: number): ToInstant | undefined {
    if (end - start > nameSizeMax) return undefined;
    if (this.#isSame(bytes, start, end)) return this.#instant;
    // A copy: the page is changed in place, and the slice of a Buffer is the page itself.
    this.#name = new Uint8Array(bytes.subarray(start, end));
    this.#instant = toInstant(zoneOf(decoder.decode(this.#name)));
    return this.#instant;
  }

  #isSame(bytes: Uint8Array, start: number, end: number): boolean {
    const name = this.#name;
    if (name.length === 0 || name.length !== end - start) return false;
    for (let index = 0; index < name.length; index += 1) {
      if (bytes[start + index] !== name[index]) return false;
    }
    return true;
  }
}

/** Readings in UTC are instants. */
export const asItIs: ToInstant = (seconds) => seconds;

function toInstant(zone: Zone | undefined): ToInstant | undefined {
  if (zone === undefined) return undefined;
  return zone === utc ? asItIs : (seconds) => instantOf(zone, seconds);
}
