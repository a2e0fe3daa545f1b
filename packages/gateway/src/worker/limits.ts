/** What a worker takes from others, and for how long it waits for them. */

/** A snapshot as sent and as inflated. Config of a large fleet is a few megabytes. */
export const snapshotBytesMax = 16 * 1024 * 1024;
export const snapshotInflatedBytesMax = 64 * 1024 * 1024;
/** Deepest nesting of a snapshot, so that recursive readers behind the check stay within their stack. */
export const snapshotDepthMax = 64;

/** Every other answer of the control plane: heads, registrations, heartbeats, counts. */
export const answerBytesMax = 1024 * 1024;

/** Silence after which a call has failed. */
export const callMsMax = 10_000;
/** Silence after which a call about leases has failed, besides the time for which its answer is held. */
export const capacityMsMax = 5_000;
/** Longest time that giving leases back may take at the end; what is left runs out. */
export const leasesCloseMsMax = 2_000;
/** A snapshot may come over a slow line. */
export const fetchMsMax = 60_000;
/** The control plane holds a wait; a call may take this much longer than the hold. */
export const waitSlackMs = 10_000;

/** First pause after a failure, doubled up to the second, with full jitter. */
export const backoffMsMin = 1_000;
export const backoffMsMax = 60_000;

/** Heartbeats are never closer together than this, however much changes. */
export const heartbeatAfterMsMin = 1_000;

/** How often the labels file is looked at. */
export const labelsPollMs = 5_000;
export const labelsBytesMax = 64 * 1024;

/** The disk copy is read when the control plane was silent for this long, or at its first failure. */
export const diskAfterMs = 1_000;
/** A confirmation alone rewrites the disk copy at most this often. */
export const lastGoodFreshMs = 300_000;

/** Pause between two rounds through all peers. */
export const peerPauseMs = 5_000;
/** A peer that answers later than this is not waited for. */
export const peerMsMax = 5_000;
/** How far the clock of a peer may be off before its request or answer is refused. */
export const peerFreshMs = 60_000;
/** Nonces that are remembered; beyond it requests are refused, because a replay could not be seen. */
export const peerNoncesMax = 10_000;

/** Silence after which a batch of records has failed. */
export const recordsMsMax = 30_000;
