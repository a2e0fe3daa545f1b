/** A little time after a deadline, and no more. It aborts nothing but its own signal. */
import type { Clock } from "@gateway/core/port/clock.ts";

/** A signal that aborts `ms` after `deadline` does. Disposed, it never does. */
export function lateSignal(
  deadline: AbortSignal,
  ms: number,
  clock: Clock,
): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController();
  let timer: Disposable | undefined;
  const begin = (): void => {
    timer = clock.timer(ms, () => late.abort());
  };
  if (deadline.aborted) begin();
  else deadline.addEventListener("abort", begin, { once: true });
  return {
    signal: late.signal,
    [Symbol.dispose]: () => {
      deadline.removeEventListener("abort", begin);
      timer?.[Symbol.dispose]();
    },
  };
}

/** True when `work` ended by `ms` after `deadline`. Otherwise the work is left behind. */
export async function unlessLate(
  work: PromiseLike<unknown>,
  deadline: AbortSignal,
  { ms, clock }: { readonly ms: number; readonly clock: Clock },
): Promise<boolean> {
  using late = lateSignal(deadline, ms, clock);
  const passed = new Promise<false>((resolve) => {
    late.signal.addEventListener("abort", () => resolve(false), { once: true });
  });
  // Awaited here, because the timer ends with this function.
  return await Promise.race([work.then(() => true), passed]);
}
