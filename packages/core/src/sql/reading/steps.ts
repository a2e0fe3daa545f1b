/**
 * Work on a text that stops now and then, so that whoever drives it can let others go first.
 *
 * A step is short: at most `tokensPerStep` tokens, some twenty microseconds. The driver decides how many
 * steps make a turn (`tool/slices.ts`).
 */
export type Steps<Found> = Generator<undefined, Found, void>;

/** Tokens of one step. A query that comes back to the thread ten times waits for half a step each time. */
export const tokensPerStep = 64;

/** All steps one after the other: for a short text, or where nobody waits. */
export function inOneGo<Found>(steps: Steps<Found>): Found {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
