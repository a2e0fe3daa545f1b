/** Chance that can be had again: `FLEET_SEED` repeats what a run printed. */
import { randomInt } from "node:crypto";

export const seed = Number(process.env.FLEET_SEED ?? randomInt(2 ** 31));

/** Draws by a seed (mulberry32): `below(n)`, `between(a, b)`, `shuffled(list)`. */
export function chanceOf(from = seed) {
  let state = from >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    shuffled: (list) => {
      const rest = [...list];
      return list.map(() => rest.splice(below(rest.length), 1)[0]);
    },
  };
}
