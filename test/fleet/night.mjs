/**
 * What a push has no time for. A case that is whole at night alone says so; one that has a short form by day makes the
 * same fault with fewer rounds or shorter leases, and at night with those that a user gets.
 */
import { Skip } from "./fleet.mjs";

export const night = process.env.GATEWAY_NIGHTLY === "1";

/** Skips the case by day, for `reason`. */
export function atNight(reason) {
  if (!night) throw new Skip(`${reason}, at night`);
}

/** Of `workerApi.capacity`: what is waited for by day is the end of leases, and shorter ones end in the same way. */
export const leases = night ? undefined : { leaseSecs: 20, orphanKillSecs: 30 };
