/** Times and numbers of leases, in milliseconds of the host's monotonic clock. */

/** A lease ends here this much before it ends at the control plane, because clocks run at different speeds. */
export const leaseMarginMs = 5_000;
/** Time between two renewals; each renews all leases in one call. */
export const renewEveryMs = 15_000;
/** How often this process looks whether a renewal is due and whether it stood still. */
export const lookEveryMs = 1_000;
/** A look that is this much late means that the process stood still. */
export const stoodStillMs = 5_000;

/** An unused lease is given back after this. A used one is reused up to this age and then given back, so that others get their turn. */
export const aheadMs = 1_000;
/** After a lease ahead was denied none is kept or asked for. */
export const contendedMs = 1_000;

/** How long the control plane may hold a question for a waiting query. The first one is answered at once, to learn the position. */
export const heldAcquireMs = 5_000;
/** After this long without a response the control plane counts as away. */
export const awayAfterMs = 2_000;
/** Between two tries of the same call; half of it is jitter. */
export const retryMs = 1_000;
/** How often a question is repeated when its response was lost and its query is gone, to learn of a granted lease. */
export const doubtsMax = 5;
