/** What the collections of new garbage take for alive while values come and go, eight at once. */
import { getHeapSpaceStatistics } from "node:v8";

const comings = 100_000;
const atOnce = 8;

/**
 * Bytes that moved into the old part of the heap meanwhile, though nothing stays. `come` answers the value's place, which
 * `go` is given.
 */
export function keptOf<Place>(
  come: (n: number, value: object) => Place,
  go: (n: number, place: Place) => void,
): number {
  const places: Place[] = [];
  let moved = 0;
  let before = oldBytes();
  for (let n = 0; n < comings; n += 1) {
    places.push(come(n, { numbers: Array.from({ length: 32 }, () => n + 0.5) }));
    const place = places.length > atOnce ? places.shift() : undefined;
    if (place !== undefined) go(n - atOnce, place);
    if (n % 1_000 !== 0) continue;
    const now = oldBytes();
    moved += Math.max(0, now - before);
    before = now;
  }
  return moved;
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}
