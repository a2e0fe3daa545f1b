/** Times and numbers of leases, in milliseconds of the host's monotonic clock. */

/** A lease ends here this much before it ends at the control plane, because clocks run at different speeds. */
export const leaseMarginMs = 5_000;
/** All leases are renewed in one call, so often. */
export const renewEveryMs = 15_000;
/** How often this process looks whether a renewal is due and whether it stood still. */
export const lookEveryMs = 1_000;
/** A look that comes this much too late means that the process stood still. */
export const stoodStillMs = 5_000;

/** An unused lease is given back after this. A used one is used again up to this age, then asked for anew, so that others get their turn. */
export const aheadMs = 1_000;
/** After a lease ahead was denied none is kept or asked for. */
export const contendedMs = 1_000;

/** The first question for a waiting query is answered at once, to learn its position; later ones are held. */
export const heldAcquireMs = 5_000;
/** Without an answer for this long, the control plane counts as away. */
export const awayAfterMs = 2_000;
/** Between two tries of the same call, with full jitter above half of it. */
export const retryMs = 1_000;
/** How often a question whose answer was lost is repeated for a query that is gone, to learn of its lease. */
export const doubtsMax = 5;
