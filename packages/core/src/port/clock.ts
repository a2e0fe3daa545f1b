/** Time as the core sees it. The simulator implements it on a virtual clock. */
export interface Clock {
  /** Monotonic milliseconds, with fractions; only differences mean something. */
  nowMs(): number;
  /**
   * Unix milliseconds, for records and for people. Never used to measure, except for pauses that the
   * monotonic clock does not count: then it has run ahead of `nowMs` (capacity/lease/clockLead.ts).
   */
  unixMs(): number;
  /** Calls `fire` once after `delayMs`; disposing the timer before that prevents it. */
  timer(delayMs: number, fire: () => void): Disposable;
}
