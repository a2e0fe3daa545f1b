/**
 * The invariants over what a drill collected. Pure: a finding is held, violated, or not judged with what was missing
 * for it. Nothing that could not be looked at is said to hold.
 */
import type { DrillName } from "@gateway/contract/drillApi.ts";
import type { Asked, CapEvidence, Evidence, RecordEvidence, RevokedEvidence } from "./evidence.ts";

export const invariants = ["answers", "records", "cap", "recovery", "revoked"] as const;
export type Invariant = (typeof invariants)[number];

export interface Finding {
  readonly invariant: Invariant;
  readonly kind: "held" | "violated" | "notJudged";
  /** One line with the figures. */
  readonly text: string;
}

/** Examples in one line. */
const shownMax = 3;

/** Findings in the order of `invariants`; `revoked` only where it is the drill's. */
export function judge(drill: DrillName, evidence: Evidence): readonly Finding[] {
  const { revoked } = evidence;
  return [
    answers(drill, evidence),
    records(evidence.records),
    cap(evidence.cap),
    recovery(evidence),
    ...(drill === "userRevoked" ? [refusedUser(revoked)] : []),
  ];
}

/** A process that ends takes its connections along: only then may an answer be cut, and only until the fleet is back. */
function answers(drill: DrillName, { asked, fault, recoveredMs = Infinity }: Evidence): Finding {
  const during = (one: Asked): boolean => one.untilMs >= fault.fromMs && one.fromMs <= recoveredMs;
  const bad = asked.filter((one) => {
    if (one.kind === "right") return false;
    if (one.kind === "wrong" || one.kind === "hung") return true;
    if (one.kind === "cut" && drill !== "workerRestart") return true;
    return !during(one);
  });
  const figures = countsOf(asked);
  if (asked.length === 0) return notJudged("answers", "nothing was asked");
  if (bad.length === 0) return held("answers", figures);
  const shown = bad.slice(0, shownMax).map((one) => `${one.kind} (${one.detail})`);
  return violated("answers", `${bad.length} of ${figures}: ${shown.join(", ")}`);
}

function countsOf(asked: readonly Asked[]): string {
  const counts = new Map<string, number>();
  for (const { kind, detail } of asked) {
    const label = kind === "right" ? "right" : `${kind} ${detail}`;
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const parts = [...counts].map(([label, count]) => `${count} ${label}`);
  return `${asked.length} queries: ${parts.join(", ")}`;
}

function records(found: RecordEvidence | undefined): Finding {
  if (found === undefined) return notJudged("records", "the history could not be read");
  const { wanted, missing, counted, conflicts } = found;
  if (wanted === 0) return notJudged("records", "no query has an id to look for");
  if (conflicts > 0) return violated("records", `${conflicts} ids have two different records`);
  if (missing.length === 0) return held("records", `${wanted} queries, each with its record`);
  const lost = `${missing.length} of ${wanted} queries have no record, as ${missing[0]}`;
  if (counted === undefined) return violated("records", `${lost} (no --metrics to be counted in)`);
  return missing.length <= counted
    ? held("records", `${lost}; ${counted} are counted as lost`)
    : violated("records", `${lost}; only ${counted} are counted as lost`);
}

function cap(found: CapEvidence | undefined): Finding {
  if (found === undefined) {
    return notJudged("cap", "only an engine can say what it runs: --engine-running and --cap");
  }
  const { most, looks, failed } = found;
  const figures = `at most ${most} of ${found.cap} at once, looked at ${looks} times`;
  if (most > found.cap) return violated("cap", figures);
  if (looks === 0) return notJudged("cap", `none of ${failed} looks gave a number`);
  return held("cap", failed === 0 ? figures : `${figures}, ${failed} looks gave no number`);
}

function recovery({ fault, recoveredMs }: Evidence): Finding {
  if (recoveredMs === undefined) {
    return violated("recovery", "not every client and worker was back within the limit");
  }
  const after = secs(Math.max(0, recoveredMs - fault.undoneMs));
  return held(
    "recovery",
    `${after} s after the fault was undone, ${secs(recoveredMs - fault.fromMs)} s after it began`,
  );
}

function secs(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function refusedUser(found: RevokedEvidence | undefined): Finding {
  if (found === undefined) return notJudged("revoked", "no worker said that it has the change");
  const { refused, answered, other } = found;
  const figures = `${refused} refused, ${answered} answered, ${other} neither`;
  if (answered > 0) return violated("revoked", `after the removal: ${figures}`);
  return refused === 0
    ? notJudged("revoked", `after the removal: ${figures}`)
    : held("revoked", `after the removal: ${figures}`);
}

function held(invariant: Invariant, text: string): Finding {
  return { invariant, kind: "held", text };
}

function violated(invariant: Invariant, text: string): Finding {
  return { invariant, kind: "violated", text };
}

function notJudged(invariant: Invariant, text: string): Finding {
  return { invariant, kind: "notJudged", text };
}
