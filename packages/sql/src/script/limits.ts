/** What one call of a script may take, and what may wait. Times are milliseconds. */

/** QuickJS stops a script itself after this. */
export const callMsMax = 50;
/** Of the whole script with its context. */
export const memoryBytesMax = 32 * 1024 * 1024;
/** UTF-16 units of an answer as JSON. */
export const outputLengthMax = 2 * 1024 * 1024;
/** A thread that says nothing for so long while it has a call is inside one built-in function, and is ended. */
export const silenceMsMax = 500;
/** How long a call may wait before it begins. */
export const waitMsMax = 2_000;
/** Calls that may wait. */
export const waitingMax = 1_000;
/** Calls that the thread is given ahead, so that it need not wait for the main thread after each. */
export const aheadMax = 4;
/** After so many calls in a row that were cut, a user's calls of that script are refused for `pauseMs`. */
export const cutsMax = 3;
export const pauseMs = 1_000;
/** A thread is given up when it has not loaded its engine and scripts by then. */
export const openMsMax = 30_000;
