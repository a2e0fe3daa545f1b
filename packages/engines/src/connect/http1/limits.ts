/** What one connection to an HTTP engine may take of this process, and how long it is kept. */

/** All lines of one response: some engines tell their progress in headers, for as long as a query runs. */
export const headBytesMax = 256 * 1024;
/** How long a connection is kept without a request where the server does not say how long it keeps it. */
export const idleMs = 4_000;
/** Longest time that a server may ask for. */
export const idleMsMax = 600_000;
/** A connection is given up so long before the server would do so, because a request could meet the close on its way. */
export const idleMarginMs = 2_000;
/** How often connections without a request are looked through. */
export const sweepMs = 1_000;
/** A request up to so many bytes is written in one piece; the body of a larger one is not copied. */
export const pieceBytesMax = 64 * 1024;
/** After so many turns of the loop with one request each, the next are not held for the end of theirs. */
export const aloneMin = 64;
/** Only on a connection that answered no longer ago: whatever its server does when it is idle, it did not do yet. */
export const freshMs = 100;
