/** Waiting for something that can be asked for: asked again until it is so, with a limit that says what was missing. */
import { setTimeout as pause } from "node:timers/promises";

/** Between two looks, so that the asking does not take the machine from those who are asked. */
const lookEveryMs = 15;

/** How much longer everything may take: `FLEET_PATIENCE`, for a machine that is busy with others. */
export const patience = Number(process.env.FLEET_PATIENCE ?? 1);

/** The first value of `look` that is neither undefined nor false; `what` and the last answer are in the error. */
export async function until(what, look, seconds = 30) {
  const endMs = performance.now() + seconds * 1000 * patience;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`within ${seconds} s not: ${what}`);
    await pause(lookEveryMs);
  }
}

const longerEveryMs = 3_000;
const longerMost = 2_000;

/**
 * Waits until `isFull`. The statements of `load` become longer meanwhile, by its `moreMs`: on a machine that is busy
 * enough short ones never meet.
 */
export async function untilFull(what, load, isFull, seconds = 60) {
  let nextMs = performance.now() + longerEveryMs;
  await until(
    what,
    () => {
      if (isFull()) return true;
      if (performance.now() > nextMs) {
        load.moreMs = Math.min(load.moreMs * 2 + 100, longerMost);
        nextMs += longerEveryMs;
      }
      return false;
    },
    seconds,
  );
}

/** Rejects when `promise` takes longer. */
export async function within(what, promise, seconds) {
  let limit;
  const late = new Promise((_resolve, reject) => {
    const tooLate = () => reject(new Error(`within ${seconds} s not: ${what}`));
    limit = setTimeout(tooLate, seconds * 1000 * patience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(limit);
  }
}

/** Milliseconds that `work` takes, and what it answers. */
export async function timed(work) {
  const fromMs = performance.now();
  const value = await work();
  return { value, ms: Math.round(performance.now() - fromMs) };
}

/** Fails with `what` when it does not hold. */
export function check(holds, what) {
  if (!holds) throw new Error(what);
}

/** Fails when the two are not the same JSON. */
export function same(found, wanted, what) {
  const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${what}: found ${left}, wanted ${right}`);
}

/** Fails when the two lists of texts are not the same in some order. */
export function sameInSomeOrder(found, wanted, what) {
  const inOrder = (texts) => texts.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  same(inOrder(found), inOrder(wanted), what);
}

/**
 * Runs `judge` over what was made wrong on purpose: a check that finds nothing there finds nothing anywhere. `reason` is
 * in what it says, so that it is not something else that it finds.
 */
export async function notices(what, judge, reason = /./) {
  const said = await Promise.resolve()
    .then(judge)
    .then(
      () => undefined,
      (error) => String(error.message),
    );
  if (said === undefined) throw new Error(`nobody notices ${what}`);
  if (!reason.test(said)) throw new Error(`what is noticed of ${what} is something else: ${said}`);
}
