/** Times and numbers of leases, in milliseconds of the host's monotonic clock. */

/** A lease ends here so much before it ends where it came from: clocks run at different speeds. */
export const leaseMarginMs = 5_000;
/** All leases are renewed in one call, so often. */
export const renewEveryMs = 15_000;
/** How often this process looks whether a renewal is due and whether it stood still. */
export const lookEveryMs = 1_000;
/** A look that comes so much late says that this process stood still. */
export const stoodStillMs = 5_000;

/** An unused lease is given back after this. A used one is used again up to this age, then asked for anew, so that others get their turn. */
export const aheadMs = 1_000;
/** After a lease ahead was denied none is kept or asked for. */
export const contendedMs = 1_000;

/** The first question for a waiting query is answered at once, to learn its place; later ones are held. */
export const heldAcquireMs = 5_000;
/** Waiting queries of one group for which somebody is asked at once. The others stand in line here. */
export const askedPerGroupMax = 64;
/** Besides those: waiting queries of users who hold all that they may, each asked for in a call of its own. */
export const asidePerGroupMax = 1_000;

/** Nobody answers for this long: the control plane is away. */
export const awayAfterMs = 2_000;
/** Between two tries of the same call, with full jitter above half of it. */
export const retryMs = 1_000;
/** How often a question whose answer was lost is repeated for a query that is gone, to learn of its lease. */
export const doubtsMax = 5;
