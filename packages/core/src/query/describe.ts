/**
 * Types of a statement's parameters and columns without running it: the line of a query up to the
 * engine's `describe`. It takes a slot like a query and leaves no record.
 */
import { attemptOutcome } from "../cluster/breaker.ts";
import { abortError, gatewayError, withoutPosition, type GatewayError } from "../error.ts";
import type { Slot } from "../port/capacity.ts";
import { err, type Result } from "../result.ts";
import type { Generation } from "../snapshot/generation.ts";
import type { Description } from "./event.ts";
import { lossAskedOf, lossOf } from "./lost.ts";
import { describePinned } from "./pinned.ts";
import type { DataPlane } from "./plane.ts";
import type { Policed, Query } from "./query.ts";
import { admittedOn } from "./stages.ts";

type Described = Result<Description, GatewayError>;

export async function describeQuery(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Described> {
  try {
    if (query.session.pin !== undefined)
      return await describePinned(query, query.session.pin, signal);
    if (plane.draining()) return err(gatewayError("gateway.draining"));
    return await describeUnpinned(query, plane, signal);
  } catch (bug) {
    plane.host.log.bug(bug, { queryId: query.id });
    return err(gatewayError("internal.bug"));
  }
}

async function describeUnpinned(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Described> {
  const held = plane.generations.hold();
  if (!held.ok) return held;
  using hold = held.value;
  const routed = await hold.generation.route(query, [], signal);
  if (!routed.ok) return routed;
  const policed = hold.generation.police(routed.value);
  if (!policed.ok) return policed;

  const excluded = new Set<string>();
  for (;;) {
    const slot = await admitted(policed.value, hold.generation, { plane, excluded, signal });
    if (!slot.ok) return slot;
    const { cluster } = slot.value;
    const described = await describeOn(policed.value, slot.value, hold.generation, signal);
    const reached = described.ok || described.error.code !== "cluster.connectFailed";
    if (reached || signal.aborted) return described;
    excluded.add(cluster);
  }
}

/** Waits for a slot without telling anybody about the wait. */
export async function admitted(
  query: Policed,
  generation: Generation,
  wait: {
    readonly plane: DataPlane;
    readonly excluded: ReadonlySet<string>;
    readonly signal: AbortSignal;
  },
): Promise<Result<Slot, GatewayError>> {
  const request = generation.admission(query, wait.excluded);
  if (!request.ok) return request;
  const admission = wait.plane.capacity.admit(request.value, wait.signal);
  for (;;) {
    const step = await admission.next();
    if (step.done === true) return step.value;
  }
}

async function describeOn(
  query: Policed,
  held: Slot,
  generation: Generation,
  signal: AbortSignal,
): Promise<Described> {
  await using slot = held;
  const translated = await generation.translate(admittedOn(query, slot), signal);
  if (!translated.ok) return translated;
  const identified = await generation.identify(translated.value, signal);
  if (!identified.ok) return identified;
  const lost = lossOf(slot) && (await lossAskedOf(slot));
  if (lost !== undefined) return err(lost);
  const ended = generation.attempt(query.group, slot.cluster);
  const described = await generation.backend(slot.cluster).describe(identified.value, signal);
  ended(
    signal.aborted ? "neutral" : attemptOutcome(described.ok ? undefined : described.error.code),
  );
  if (signal.aborted) return err(abortError(signal));
  const rewritten = translated.value.engineSql !== query.sql;
  return described.ok || !rewritten ? described : err(withoutPosition(described.error));
}
