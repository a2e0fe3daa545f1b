/** Time as the core sees it. The simulator implements it on a virtual clock. */
export interface Clock {
  /** Monotonic milliseconds, with fractions; only differences mean something. */
  nowMs(): number;
  /**
   * Unix milliseconds, for records and for talking to people. Never used to measure; only that it ran
   * ahead of `nowMs` tells of a pause that the monotonic clock does not count (capacity/lease/clockLead.ts).
   */
  unixMs(): number;
  /** Calls `fire` once after `delayMs`; disposing the answer before that prevents it. */
  timer(delayMs: number, fire: () => void): Disposable;
}
