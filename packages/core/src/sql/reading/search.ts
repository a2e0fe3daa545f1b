/** Looks for a pattern in a text of any length, so that nobody waits for the whole of it. */
import type { Steps } from "./steps.ts";

/** Characters looked at in one step. */
const unitsPerStep = 16 * 1024;
/** As many more belong to each piece: no match is longer. A word that is cut in two may be found in its second part. */
const overlap = 32;

/** For a cheap look only, with a pattern of few characters and no memory: it may find what a look at all of it does not. */
export function* searchSteps(text: string, pattern: RegExp): Steps<boolean> {
  if (text.length <= unitsPerStep) return pattern.test(text);
  for (let at = 0; at < text.length; at += unitsPerStep) {
    if (pattern.test(text.slice(at, at + unitsPerStep + overlap))) return true;
    yield;
  }
  return false;
}
