/** The browser's clock, in one place: everything else is told the time. */

/** Unix milliseconds. */
export function nowMs(): number {
  return Date.now();
}

/** Resolves after `ms`, or at once when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}
