/**
 * The life of a worker's configuration as data: three states, what may happen in each, and what
 * follows. Pure; the loop that compiles and swaps is lifecycleLoop.ts.
 *
 * A snapshot is taken whole or not at all, and nothing that fails changes what is active.
 */
import { type Revision, sameRevision } from "@gateway/contract/revision.ts";
import { revisionOfHead, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import type { SourceEvent, Offer, OfferSource } from "../port/configSource.ts";
import { unreachable } from "../result.ts";
import {
  isCopy,
  judgeOffer,
  refusalText,
  type OfferDecision,
  type OfferLimits,
  type OfferRefusal,
} from "./offer.ts";

/** `copied`: active, but no control plane vouched for it in this process (stale). */
export type ConfigPhase = "none" | "active" | "copied";

/** The outcome of one event of a source. */
export type ConfigOutcome =
  /** A snapshot of the control plane was compiled. */
  | { readonly kind: "fetched"; readonly offer: Offer; readonly head: SnapshotHead }
  /** A copy of a peer or of the disk was compiled. */
  | { readonly kind: "copied"; readonly offer: Offer; readonly head: SnapshotHead }
  /** The control plane said that what runs is right; its position may be higher. */
  | { readonly kind: "confirmed"; readonly offer: Offer; readonly head: SnapshotHead }
  /** A copy has the running content at a higher position. */
  | { readonly kind: "moved"; readonly offer: Offer; readonly head: SnapshotHead }
  /** The control plane offered a snapshot that is known here and can not be activated. */
  | { readonly kind: "reminded" }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  | { readonly kind: "unreachable"; readonly source: OfferSource; readonly reason: string };

/** A snapshot that was not taken. */
export interface Rejection {
  readonly source: OfferSource;
  readonly stage: "verify" | "judge" | "compile";
  /** Undefined when the head itself could not be read. */
  readonly revision: Revision | undefined;
  /** For status, log and heartbeat. Holds no value of the configuration. */
  readonly reason: string;
}

/** `swap`: make the compiled generation the active one. `vouch`: stale ends. `report`: say and count it. */
export type ConfigAction = "swap" | "vouch" | "report" | "stay";

interface Transition {
  readonly to: ConfigPhase;
  readonly does: ConfigAction;
}

/** Section 3 of the specification. A row per state, a column per outcome. */
export const transitions = {
  none: {
    fetched: { to: "active", does: "swap" },
    copied: { to: "copied", does: "swap" },
    confirmed: { to: "none", does: "stay" },
    moved: { to: "none", does: "stay" },
    reminded: { to: "none", does: "stay" },
    rejected: { to: "none", does: "report" },
    unreachable: { to: "none", does: "stay" },
  },
  active: {
    fetched: { to: "active", does: "swap" },
    copied: { to: "copied", does: "swap" },
    confirmed: { to: "active", does: "stay" },
    moved: { to: "active", does: "stay" },
    reminded: { to: "active", does: "stay" },
    rejected: { to: "active", does: "report" },
    unreachable: { to: "active", does: "stay" },
  },
  copied: {
    fetched: { to: "active", does: "swap" },
    copied: { to: "copied", does: "swap" },
    confirmed: { to: "active", does: "vouch" },
    moved: { to: "copied", does: "stay" },
    reminded: { to: "copied", does: "stay" },
    rejected: { to: "copied", does: "report" },
    unreachable: { to: "copied", does: "stay" },
  },
} as const satisfies Record<ConfigPhase, Record<ConfigOutcome["kind"], Transition>>;

/** What is active, and who vouches for it. */
export interface TakenConfig {
  readonly revision: Revision;
  /** The newest authenticated head of it. */
  readonly head: SnapshotHead;
  /** The control plane as soon as it confirmed, wherever the bytes came from. */
  readonly source: OfferSource;
  /** When the control plane last confirmed it. Unix milliseconds; never moves backwards for one content. */
  readonly confirmedAtMs: number;
}

export type ConfigState =
  | { readonly kind: "none" }
  | { readonly kind: "active" | "copied"; readonly taken: TakenConfig };

/** Times are Unix milliseconds. */
export interface ConfigLife {
  readonly state: ConfigState;
  /** The newest verified snapshot, active or not: what a wait asks from. */
  readonly downloaded: Revision | undefined;
  /** When the control plane last answered with a head that is authentic. */
  readonly lastSyncAtMs: number | undefined;
  readonly lastError: { readonly text: string; readonly atMs: number } | undefined;
  /** Tries in a row after which the worker still lacked what the control plane serves. */
  readonly consecutiveFailures: number;
  /** The newest that could not be activated, while it is the newest. */
  readonly rejected: Revision | undefined;
}

/** A worker that has just started. */
export const newLife: ConfigLife = {
  state: { kind: "none" },
  downloaded: undefined,
  lastSyncAtMs: undefined,
  lastError: undefined,
  consecutiveFailures: 0,
  rejected: undefined,
};

/** What to do about an event before anything is known about its content. */
export type Judgement<Body> =
  | {
      readonly kind: "compile";
      readonly offer: Offer;
      readonly head: SnapshotHead;
      readonly body: Body;
    }
  | { readonly kind: "outcome"; readonly outcome: ConfigOutcome }
  /** Ignores a copy, or the head of a replica that lags behind. */
  | { readonly kind: "ignore"; readonly refusal: OfferRefusal | undefined };

/** Judges one event against what is active. */
export function judgeEvent<Body>(
  life: ConfigLife,
  event: SourceEvent<Body>,
  nowMs: number,
  limits: OfferLimits,
): Judgement<Body> {
  switch (event.kind) {
    case "unreachable":
      return outcome(event);
    case "unverified":
      return rejection({ ...event, stage: "verify", revision: undefined });
    case "offer": {
      const decision = judgeOffer(event.offer, takenOf(life)?.revision, nowMs, limits);
      return judgedOffer(life, event, decision);
    }
    default:
      return unreachable(event);
  }
}

function judgedOffer<Body>(
  life: ConfigLife,
  { offer, head, body }: Extract<SourceEvent<Body>, { kind: "offer" }>,
  decision: OfferDecision,
): Judgement<Body> {
  switch (decision.kind) {
    case "activate":
      if (body !== undefined) return { kind: "compile", offer, head, body };
      // A head alone is an announcement: the source that sent it fetches the body.
      return isKnownBad(life, offer)
        ? outcome({ kind: "reminded" })
        : { kind: "ignore", refusal: undefined };
    case "confirm":
      return outcome({ kind: "confirmed", offer, head });
    case "move":
      return outcome({ kind: isCopy(offer.source) ? "moved" : "confirmed", offer, head });
    case "keep":
      return { kind: "ignore", refusal: undefined };
    case "refuse": {
      const { refusal } = decision;
      // A replica that lags behind is not our failure, and its head comes with each heartbeat.
      if (refusal.code === "rollback" && body === undefined) return { kind: "ignore", refusal };
      const { source, revision } = offer;
      return rejection({ source, revision, stage: "judge", reason: refusalText(refusal) });
    }
    default:
      return unreachable(decision);
  }
}

/** The life after one outcome, and what is to be done. Times are Unix milliseconds. */
export function lifeAfter(
  life: ConfigLife,
  came: ConfigOutcome,
  nowMs: number,
): { readonly life: ConfigLife; readonly action: ConfigAction } {
  const { to, does } = transitions[life.state.kind][came.kind];
  return {
    life: { ...changed(life, came, nowMs), state: stateAfter(life, came, to) },
    action: does,
  };
}

/** What is active; undefined before the first snapshot. */
export function takenOf({ state }: ConfigLife): TakenConfig | undefined {
  return state.kind === "none" ? undefined : state.taken;
}

function stateAfter({ state }: ConfigLife, came: ConfigOutcome, to: ConfigPhase): ConfigState {
  if (to === "none") return { kind: "none" };
  const before = state.kind === "none" ? undefined : state.taken;
  switch (came.kind) {
    case "fetched":
    case "copied":
      return { kind: to, taken: newlyTaken(came.offer, came.head) };
    case "confirmed":
    case "moved":
      return { kind: to, taken: placed(came, before) };
    case "reminded":
    case "rejected":
    case "unreachable":
      return before === undefined ? { kind: "none" } : { kind: to, taken: before };
    default:
      return unreachable(came);
  }
}

function newlyTaken(offer: Offer, head: SnapshotHead): TakenConfig {
  const { source, revision, confirmedAtMs } = offer;
  return { revision, head, source, confirmedAtMs };
}

/** The same content under a newer head; neither its position nor its time ever goes back. */
function placed(
  { kind, offer, head }: Extract<ConfigOutcome, { kind: "confirmed" | "moved" }>,
  before: TakenConfig | undefined,
): TakenConfig {
  const taken = newlyTaken(offer, head);
  if (before === undefined) return taken;
  const { source, confirmedAtMs } = before;
  // A copy shows a position but does not vouch, so neither source nor age changes.
  if (kind === "moved") return { ...taken, source, confirmedAtMs };
  const older =
    sameRevision(before.revision, offer.revision) && offer.confirmedAtMs < confirmedAtMs;
  return older ? { ...before, source: offer.source } : taken;
}

function changed(life: ConfigLife, came: ConfigOutcome, nowMs: number): ConfigLife {
  switch (came.kind) {
    case "fetched":
    case "confirmed":
      return {
        ...life,
        downloaded: came.offer.revision,
        lastSyncAtMs: nowMs,
        lastError: undefined,
        consecutiveFailures: 0,
        rejected: undefined,
      };
    case "copied":
    case "moved":
      return { ...life, downloaded: came.offer.revision };
    case "reminded":
      return { ...life, lastSyncAtMs: nowMs };
    case "rejected":
      return afterRejection(life, came.rejection, nowMs);
    case "unreachable":
      return {
        ...life,
        lastError: { text: came.reason, atMs: nowMs },
        consecutiveFailures: life.consecutiveFailures + failuresOf(came.source),
      };
    default:
      return unreachable(came);
  }
}

function afterRejection(life: ConfigLife, what: Rejection, nowMs: number): ConfigLife {
  const { source, stage, revision, reason } = what;
  const compiled = stage === "compile" && revision !== undefined;
  return {
    ...life,
    ...(compiled ? { downloaded: revision, rejected: revision } : {}),
    lastSyncAtMs: isCopy(source) || revision === undefined ? life.lastSyncAtMs : nowMs,
    lastError: { text: reason, atMs: nowMs },
    consecutiveFailures: life.consecutiveFailures + failuresOf(source),
  };
}

/** A missing copy says nothing about the way to the control plane. */
function failuresOf(source: OfferSource): number {
  return isCopy(source) ? 0 : 1;
}

function isKnownBad(life: ConfigLife, { revision }: Offer): boolean {
  return life.rejected !== undefined && sameRevision(life.rejected, revision);
}

function outcome(came: ConfigOutcome): {
  readonly kind: "outcome";
  readonly outcome: ConfigOutcome;
} {
  return { kind: "outcome", outcome: came };
}

function rejection(what: Rejection): {
  readonly kind: "outcome";
  readonly outcome: ConfigOutcome;
} {
  const { source, stage, revision, reason } = what;
  return outcome({ kind: "rejected", rejection: { source, stage, revision, reason } });
}

/** The offer of a verified head that came from `source`. */
export function offerOfHead(source: OfferSource, head: SnapshotHead): Offer {
  const { schemaVersion, confirmedAt } = head;
  return { source, revision: revisionOfHead(head), schemaVersion, confirmedAtMs: confirmedAt };
}
