/** What a worker may ask of the control plane, and for how long. */

/** A registration with its labels. */
export const registerBytesMax = 64 * 1024;
/** A heartbeat with its thousand queries of ids and names. */
export const heartbeatBytesMax = 2 * 1024 * 1024;

/** A batch of records as sent, and as it is when inflated. A worker that meets 413 sends fewer at once. */
export const batchBytesMax = 16 * 1024 * 1024;
export const batchInflatedBytesMax = 16 * 1024 * 1024;
/** Batches that are in memory at the same time; further ones are told to come again. */
export const batchesMax = 64;

/** Waiters and streams of one process. */
export const waitersMax = 20_000;
/** Hold of a wait that does not say how long, in seconds. */
export const waitSecsDefault = 30;
/** Silence after which a stream sends an empty line: proxies close what they take for dead. */
export const streamKeepAliveMs = 15_000;
/** Time after which a stream ends with a resume position; in a function below the platform's own limit. */
export const streamSecsMaxContainer = 3_600;
export const streamSecsMaxFunction = 240;
/** How often a function looks at the head while somebody waits. */
export const pollMs = 1_000;

/** `Retry-After` of a 503, in seconds. */
export const retryAfterSecs = "5";

/** An acquire with its thousand candidates, and the small calls. */
export const acquireBytesMax = 256 * 1024;
/** A renewal or release of ten thousand leases. */
export const leasesBytesMax = 4 * 1024 * 1024;
/** Calls about capacity that may wait for their statement at once. */
export const capacityOpsMax = 20_000;
/** Calls of a kind that one statement takes: a statement holds the turn of all others while it runs. */
export const stepOpsMax = 256;
/** Questions of one statement: each may write a waiter, and what is given back meanwhile waits for all of them. */
export const stepAcquiresMax = 64;
