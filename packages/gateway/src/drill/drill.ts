/**
 * One drill from its consent to its evidence. What it broke is undone before anything else is looked at, also when the
 * operator stops it half-way.
 */
import { err, ok, unreachable, type Result } from "@gateway/core/result.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { Buffer } from "node:buffer";
import type { AdminApi } from "./admin.ts";
import type { Evidence, NoEvidence, RevokedEvidence } from "./evidence.ts";
import type { Hooks } from "./hook.ts";
import { Load } from "./load.ts";
import { baseline, recordsOf, servingAgain, watchEngine, type Baseline } from "./looks.ts";
import type { ChosenDrill, DrillOptions } from "./options.ts";
import { revoke } from "./revoke.ts";
import { found, pause, type Patience } from "./wait.ts";

/** Queries of each client after the fleet is back, which all have to be right. */
const tailQueries = 5;

export interface DrillParts {
  readonly api: AdminApi;
  readonly hooks: Hooks;
  readonly options: DrillOptions;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly randomBytes: (length: number) => Uint8Array;
  /** One line for the operator who waits. */
  readonly said: (line: string) => void;
}

export async function runDrill(
  parts: DrillParts,
  drill: ChosenDrill,
): Promise<Result<Evidence, NoEvidence>> {
  const { api, options, clock, signal } = parts;
  const consent = await api.consent(drill.name);
  if (!consent.ok) return err({ kind: "refused", text: consent.error.text });
  const before = await baseline(api, options, clock.unixMs());
  if (!before.ok) return err({ kind: "notRun", text: before.error.text });
  const mark = `drill_${Buffer.from(parts.randomBytes(6)).toString("hex")}`;
  const load = new Load(options, clock, mark);
  const watch = options.engine && watchEngine(options.engine, parts.hooks);
  let cap: Evidence["cap"];
  let broken: Result<Broken, NoEvidence>;
  let recoveredMs: number | undefined;
  try {
    broken = await underLoad(parts, drill, load);
    if (broken.ok) recoveredMs = await recovered(parts, load, before.value, broken.value);
  } finally {
    await load.stop();
    cap = await watch?.end();
  }
  if (!broken.ok) return broken;
  if (signal.aborted) return err({ kind: "notRun", text: "stopped; what was broken is undone" });
  const records = await recordsOf(
    { api, options, before: before.value },
    load.asked,
    patienceOf(parts),
  );
  const { fromMs, undoneMs, revoked } = broken.value;
  return ok({
    asked: load.asked,
    fault: { fromMs, undoneMs },
    recoveredMs,
    records,
    cap,
    revoked,
  });
}

interface Broken {
  readonly fromMs: number;
  readonly undoneMs: number;
  readonly revoked: RevokedEvidence | undefined;
}

/** Breaks something while the load runs, but only what worked before. */
async function underLoad(
  parts: DrillParts,
  drill: ChosenDrill,
  load: Load,
): Promise<Result<Broken, NoEvidence>> {
  const { clock } = parts;
  const fromMs = clock.nowMs();
  const works = await found(() => load.backSince(fromMs), patienceOf(parts));
  if (works === undefined) {
    const last = load.asked.findLast(({ kind }) => kind !== "right");
    const seen = last === undefined ? "no answer" : `${last.kind} ${last.detail}`;
    const text = `not every client is answered even without a fault (${seen})`;
    return err({ kind: "notRun", text });
  }
  parts.said(`${drill.name}: the fleet answers; the fault begins`);
  return broke(parts, drill);
}

async function broke(parts: DrillParts, drill: ChosenDrill): Promise<Result<Broken, NoEvidence>> {
  const { clock, hooks, options, signal, api } = parts;
  const fromMs = clock.nowMs();
  switch (drill.kind) {
    case "hook": {
      // No signal, here and below: a restart that is killed between its two halves is an outage.
      const begun = await hooks.run(drill.begin);
      if (!begun.ok) return err({ kind: "notUndone", text: `${drill.begin}: ${begun.error}` });
      const undoneMs = clock.nowMs();
      // A command that only asks for a restart ends before it.
      await pause(options.holdMs, signal);
      return ok({ fromMs, undoneMs, revoked: undefined });
    }
    case "hooks": {
      const begun = await hooks.run(drill.begin);
      if (begun.ok) await pause(options.holdMs, signal);
      // Also after a failure: half of it may be done.
      const ended = await hooks.run(drill.end);
      if (!ended.ok) return err({ kind: "notUndone", text: `${drill.end}: ${ended.error}` });
      if (!begun.ok) return err({ kind: "notRun", text: `${drill.begin}: ${begun.error}` });
      return ok({ fromMs, undoneMs: clock.nowMs(), revoked: undefined });
    }
    case "revoke": {
      const { randomBytes } = parts;
      const done = await revoke({ api, options, patience: patienceOf(parts), randomBytes });
      if (!done.ok) return done;
      const { evidence, fromMs: removedMs } = done.value;
      return ok({ fromMs: removedMs, undoneMs: clock.nowMs(), revoked: evidence });
    }
    default:
      return unreachable(drill);
  }
}

/** Waits until clients and workers are as before, and for some more answers. Monotonic milliseconds; undefined: not within the limit. */
async function recovered(
  parts: DrillParts,
  load: Load,
  before: Baseline,
  { undoneMs }: Broken,
): Promise<number | undefined> {
  const { api, clock, options } = parts;
  const patience = patienceOf(parts);
  const serving = await found(() => servingAgain(api, before), patience);
  const servingMs = clock.nowMs();
  const backMs = await found(() => load.backSince(undoneMs), patience);
  if (serving === undefined || backMs === undefined) return undefined;
  const recoveredMs = Math.max(backMs, before.serving.length === 0 ? backMs : servingMs);
  const tail = { ...patience, limitMs: tailQueries * options.answerMs };
  await found(() => load.askedSince(recoveredMs, tailQueries) || undefined, tail);
  return recoveredMs;
}

function patienceOf({ clock, options, signal }: DrillParts): Patience {
  return { clock, limitMs: options.recoveryMs, signal };
}
