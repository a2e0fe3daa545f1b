/**
 * What there is to query for a session, for catalogs and listings: the line of a query up to the
 * engine's `listTables`. It takes a slot like a query and leaves no record.
 */
import { attemptOutcome } from "../cluster/breaker.ts";
import { abortError, gatewayError, type GatewayError } from "../error.ts";
import type { TableListing } from "../port/backend.ts";
import type { Slot } from "../port/capacity.ts";
import { err, ok, type Result } from "../result.ts";
import type { Generation } from "../snapshot/generation.ts";
import { admitted } from "./describe.ts";
import { lossAskedOf, lossOf } from "./lost.ts";
import type { DataPlane } from "./plane.ts";
import type { Policed, Query } from "./query.ts";
import { admittedOn } from "./stages.ts";

/** The tables of the place a session's statements go to. */
export interface TableScope {
  /** The same for all sessions that see the same tables; another one after every change of configuration. */
  readonly key: string;
  /** Asks the engine. Takes a slot, and waits for it like a query. */
  list(signal: AbortSignal): Promise<Result<readonly TableListing[], GatewayError>>;
}

/** Routes as far as it takes to know the place. `query` is what routers and policies see. */
export async function tablesFor(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Result<TableScope, GatewayError>> {
  return await unthrown(plane, async () => {
    const held = plane.generations.hold();
    if (!held.ok) return held;
    using hold = held.value;
    const policed = await policedIn(hold.generation, query, signal);
    if (!policed.ok) return policed;
    const { revision } = hold.generation;
    const key = JSON.stringify([
      revision,
      policed.value.group,
      hold.generation.audience(policed.value),
    ]);
    return ok({ key, list: (listing) => unthrown(plane, () => listNow(query, plane, listing)) });
  });
}

async function policedIn(
  generation: Generation,
  query: Query,
  signal: AbortSignal,
): Promise<Result<Policed, GatewayError>> {
  const routed = await generation.route(query, [], signal);
  return routed.ok ? generation.police(routed.value) : routed;
}

type Listed = Result<readonly TableListing[], GatewayError>;

async function listNow(query: Query, plane: DataPlane, signal: AbortSignal): Promise<Listed> {
  if (plane.draining()) return err(gatewayError("gateway.draining"));
  const held = plane.generations.hold();
  if (!held.ok) return held;
  using hold = held.value;
  const policed = await policedIn(hold.generation, query, signal);
  if (!policed.ok) return policed;
  const excluded = new Set<string>();
  for (;;) {
    const slot = await admitted(policed.value, hold.generation, { plane, excluded, signal });
    if (!slot.ok) return slot;
    const { cluster } = slot.value;
    const listed = await listOn(policed.value, slot.value, hold.generation, signal);
    const reached = listed.ok || listed.error.code !== "cluster.connectFailed";
    if (reached || signal.aborted) return listed;
    excluded.add(cluster);
  }
}

async function listOn(
  query: Policed,
  held: Slot,
  generation: Generation,
  signal: AbortSignal,
): Promise<Listed> {
  await using slot = held;
  const translated = await generation.translate(admittedOn(query, slot), signal);
  if (!translated.ok) return translated;
  const identified = await generation.identify(translated.value, signal);
  if (!identified.ok) return identified;
  const lost = lossOf(slot) && (await lossAskedOf(slot));
  if (lost !== undefined) return err(lost);
  const ended = generation.attempt(query.group, slot.cluster);
  const listed = await generation.backend(slot.cluster).listTables(identified.value, signal);
  ended(signal.aborted ? "neutral" : attemptOutcome(listed.ok ? undefined : listed.error.code));
  return signal.aborted ? err(abortError(signal)) : listed;
}

async function unthrown<Value>(
  plane: DataPlane,
  work: () => Promise<Result<Value, GatewayError>>,
): Promise<Result<Value, GatewayError>> {
  try {
    return await work();
  } catch (bug) {
    plane.host.log.bug(bug);
    return err(gatewayError("internal.bug"));
  }
}
