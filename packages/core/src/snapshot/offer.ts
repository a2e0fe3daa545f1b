/**
 * Decides whether a worker replaces its active snapshot with one it was offered.
 *
 * Pure comparison: no clock, no network, no cryptography. The caller has verified the head's mac and
 * passes the time, so every case fits in a unit test and in the simulator.
 *
 * Order is (epoch, sequence). A content hash can only say "different": with a hash alone, a
 * control-plane replica that serves its last built config would move workers backwards.
 */
import { compareRevisions, type Revision } from "@gateway/contract/revision.ts";
import { snapshotSchemaVersions } from "@gateway/contract/snapshot.ts";
import type { Offer, OfferSource } from "../port/configSource.ts";

/** Formats this build reads. */
const schemaVersionMin = Math.min(...snapshotSchemaVersions);
const schemaVersionMax = Math.max(...snapshotSchemaVersions);

/** A confirmation further ahead of our clock than this is refused: it would never age. */
export const clockSkewMsMax = 60_000;

export interface OfferLimits {
  /** Oldest confirmation accepted. Config: `peerBootstrap.maxAgeSecs` or `lastGood.maxAgeSecs`, by source. */
  readonly copyAgeMsMax: number;
  /** See `clockSkewMsMax`. */
  readonly clockSkewMsMax: number;
}

/** Why an offer was refused. */
export type OfferRefusal =
  | { readonly code: "schemaUnknown"; readonly offered: number; readonly max: number }
  | { readonly code: "copyTooOld"; readonly ageMs: number; readonly ageMsMax: number }
  | { readonly code: "fromTheFuture"; readonly ageMs: number }
  | { readonly code: "rollback"; readonly active: Revision; readonly offered: Revision }
  | { readonly code: "fork"; readonly active: Revision; readonly offered: Revision };

export type OfferDecision =
  /** Compile it and make it the active one. `stale`: no control plane vouched for it in this process. */
  | { readonly kind: "activate"; readonly stale: boolean }
  /** It is what already runs: only the freshness moves. */
  | { readonly kind: "confirm" }
  /** Nothing changes. */
  | { readonly kind: "keep" }
  /** Only the position changes: the same content was written again. */
  | { readonly kind: "move" }
  | { readonly kind: "refuse"; readonly refusal: OfferRefusal };

/**
 * Judges one offer against the active revision, which is undefined until the first snapshot is
 * active. Time is Unix milliseconds. Cost: constant.
 */
export function judgeOffer(
  offer: Offer,
  active: Revision | undefined,
  nowMs: number,
  limits: OfferLimits,
): OfferDecision {
  if (offer.schemaVersion < schemaVersionMin || offer.schemaVersion > schemaVersionMax) {
    return refuse({ code: "schemaUnknown", offered: offer.schemaVersion, max: schemaVersionMax });
  }

  const stale = isCopy(offer.source);
  const ageMs = nowMs - offer.confirmedAtMs;
  if (stale && ageMs < -limits.clockSkewMsMax) return refuse({ code: "fromTheFuture", ageMs });
  if (stale && ageMs > limits.copyAgeMsMax) {
    return refuse({ code: "copyTooOld", ageMs, ageMsMax: limits.copyAgeMsMax });
  }

  if (active === undefined) return { kind: "activate", stale };

  const order = compareRevisions(offer.revision, active);
  if (order < 0) return refuse({ code: "rollback", active, offered: offer.revision });
  if (order > 0) {
    return offer.revision.hash === active.hash ? { kind: "move" } : { kind: "activate", stale };
  }

  // Same position, other content: two control planes wrote the same log. Neither is trusted.
  if (offer.revision.hash !== active.hash) {
    return refuse({ code: "fork", active, offered: offer.revision });
  }
  // A copy can not vouch for what already runs: only the control plane can.
  return stale ? { kind: "keep" } : { kind: "confirm" };
}

/** True for a source that can not vouch. */
export function isCopy(source: OfferSource): boolean {
  switch (source) {
    case "controlPlane":
      return false;
    case "peer":
    case "disk":
      return true;
  }
}

/** One line for status and log. Holds positions and ages, nothing of the configuration. */
export function refusalText(refusal: OfferRefusal): string {
  switch (refusal.code) {
    case "schemaUnknown":
      return `schema version ${refusal.offered} is not understood; this build reads up to ${refusal.max}`;
    case "copyTooOld":
      return `the copy was confirmed ${secsOf(refusal.ageMs)} s ago, at most ${secsOf(refusal.ageMsMax)} s are allowed`;
    case "fromTheFuture":
      return `the copy says it was confirmed ${secsOf(-refusal.ageMs)} s in the future`;
    case "rollback":
      return `${positionOf(refusal.offered)} is older than the active ${positionOf(refusal.active)}`;
    case "fork":
      return `${positionOf(refusal.offered)} has other content than the active configuration of that position`;
  }
}

function positionOf({ epoch, sequence }: Revision): string {
  return `${epoch}.${sequence}`;
}

function secsOf(ms: number): number {
  return Math.round(ms / 1_000);
}

function refuse(refusal: OfferRefusal): OfferDecision {
  return { kind: "refuse", refusal };
}
