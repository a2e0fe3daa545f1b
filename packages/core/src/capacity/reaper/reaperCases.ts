/**
 * The reaper's table of cases: what a sighting of a suspect slot means.
 *
 * A slot is granted again only when the engine is known not to run its query. Whoever asks the engine
 * reports what it saw; only this file decides. It knows no store, no engine and no clock.
 */
import type { ReaperAdvice, Sighting } from "@gateway/contract/capacityApi.ts";

/**
 * No conclusion sooner than this after the expiry: what the holder wrote to the engine in the lease's last
 * moment may still be on its way.
 */
export const submissionMsMax = 10_000;

/** What is known of a suspect slot at the moment at which a sighting comes in. Times in milliseconds. */
export interface SuspectFacts {
  readonly expiredForMs: number;
  /** The holder reported since the lease ran out; its end is proven; or it has been silent since. */
  readonly holder: "alive" | "dead" | "silent";
  readonly silentForMs: number;
  /** Longest limit that a statement under the lease was sent to the engine with; undefined where none is known. */
  readonly maxExecutionMs: number | undefined;
  /** Time since the first listing without it; undefined when every listing showed it, or a later one did. */
  readonly absentForMs: number | undefined;
  /** Time since the newest listing that counted for it; undefined when none did. */
  readonly heardForMs: number | undefined;
  /** The store's clock at this moment. */
  readonly nowMs: number;
}

export interface ReaperSighting {
  readonly seen: Sighting;
  /** How long a statement may run before the engine's listing shows it. */
  readonly delayMs: number;
  /** The store's clock before the engine was asked; undefined from whoever does not say. */
  readonly listing: number | undefined;
}

export interface ReaperVerdict {
  readonly advice: Exclude<ReaperAdvice, "unknown">;
  /** What becomes of `absentForMs`: this was the first listing without it, it was shown, or nothing new. */
  readonly absent: "begins" | "ends" | "stays";
}

const waits: ReaperVerdict = { advice: "wait", absent: "stays" };
const freed: ReaperVerdict = { advice: "freed", absent: "stays" };

/** True when the engine may be asked about it: what it says now counts. */
export function mayBeAsked(expiredForMs: number): boolean {
  return expiredForMs >= submissionMsMax;
}

/** True when the process is taken to have ended. */
export function isKnownDead(
  { holder, silentForMs }: Pick<SuspectFacts, "holder" | "silentForMs">,
  orphanKillMs: number,
): boolean {
  return holder === "dead" || (holder === "silent" && silentForMs >= orphanKillMs);
}

/** Only after `freed` is the slot granted again. */
export function reaperVerdict(
  facts: SuspectFacts,
  sighting: ReaperSighting,
  orphanKillMs: number,
): ReaperVerdict {
  if (!mayBeAsked(facts.expiredForMs)) return waits;
  switch (sighting.seen) {
    case "absent":
      return absentVerdict(facts, sighting);
    case "running":
      return { advice: runningAdvice(facts, orphanKillMs), absent: "ends" };
    case "ending":
      return { advice: "wait", absent: "ends" };
    case "unanswered":
      return waits;
    case "unlisted":
      return isOverByItself(facts) ? freed : waits;
    case "inProcess":
      return isKnownDead(facts, orphanKillMs) ? freed : waits;
  }
}

/**
 * One listing may be older than the statement; of two that lie further apart than the delay, one is not.
 *
 * A report may come twice, late, or after a later one. So its arrival does not say when the engine was asked:
 * that was after `listing`, and the first listing was over when its report came.
 */
function absentVerdict(
  { expiredForMs, absentForMs, heardForMs, nowMs }: SuspectFacts,
  { listing, delayMs }: ReaperSighting,
): ReaperVerdict {
  if (listing === undefined) return waits;
  const ageMs = nowMs - listing;
  if (ageMs < 0 || !mayBeAsked(expiredForMs - ageMs)) return waits;
  if (heardForMs !== undefined && ageMs >= heardForMs) return waits;
  if (absentForMs === undefined) return { advice: "wait", absent: "begins" };
  return absentForMs - ageMs > delayMs ? freed : waits;
}

function runningAdvice(facts: SuspectFacts, orphanKillMs: number): ReaperVerdict["advice"] {
  if (facts.holder === "alive") return "goesOn";
  return isKnownDead(facts, orphanKillMs) ? "end" : "wait";
}

/** True when the engine's own limit has ended the statement, whenever it began. Without a limit nobody knows. */
function isOverByItself({ expiredForMs, maxExecutionMs }: SuspectFacts): boolean {
  return maxExecutionMs !== undefined && expiredForMs >= maxExecutionMs + submissionMsMax;
}
