/**
 * The way of one query to an engine: the generation it holds, where that routed it, what its policies
 * allowed, and the clusters that could not be reached so far.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Policed, Routed } from "../../query/query.ts";
import type { Slot } from "../../query/slot.ts";
import { err, ok, type Result } from "../../result.ts";
import type { Generation, HeldGeneration } from "../../snapshot/generation.ts";
import type { DataPlane } from "./plane.ts";
import type { Admission, Underway } from "./underway.ts";

/** Holds its generation until disposed or kept. */
export class Way implements Disposable {
  readonly policed: Policed;
  readonly #hold: HeldGeneration;
  readonly #underway: Underway;
  /** Undefined while there are none: every query has a way. */
  #excluded: Set<string> | undefined;
  #kept = false;
  #lost: GatewayError | undefined;

  constructor(policed: Policed, hold: HeldGeneration, underway: Underway) {
    this.policed = policed;
    this.#hold = hold;
    this.#underway = underway;
    this.#stayAtHome();
  }

  get generation(): Generation {
    return this.#hold.generation;
  }

  /** A slot on a cluster that is not excluded: at once when one is free. */
  slot(): Result<Slot, GatewayError> | Admission {
    if (this.#lost !== undefined) return err(this.#lost);
    const request = this.generation.admission(this.policed, this.#excluded ?? none);
    if (!request.ok) return request;
    const now = this.#underway.slotNow(request.value);
    return now ?? this.#underway.slotLater(request.value);
  }

  /** The cluster could not be connected to, and nothing was passed on: the query may run elsewhere. */
  exclude(cluster: string): void {
    this.#without(cluster);
    this.#underway.trace.push({ step: "attempt", outcome: `${cluster} unreachable` });
  }

  /** The hold, for a transaction that outlives its BEGIN. */
  keep(): HeldGeneration {
    this.#kept = true;
    return this.#hold;
  }

  /** What a session keeps on a connection of a cluster is on no other member of the group. */
  #stayAtHome(): void {
    const { mysql, group } = this.policed;
    const kept = mysql?.home.kept;
    if (mysql === undefined || kept === undefined) return;
    const { generation } = this;
    if (generation.backends().every(({ cluster }) => cluster !== kept.cluster)) {
      mysql.home.forget();
      const message = `the cluster that kept ${kept.reason} for this session is gone`;
      this.#lost = gatewayError("engine.broken", { message });
      return;
    }
    const members = generation.members(group).map(({ cluster }) => cluster);
    if (!members.includes(kept.cluster)) return;
    for (const cluster of members) if (cluster !== kept.cluster) this.#without(cluster);
  }

  #without(cluster: string): void {
    this.#excluded ??= new Set();
    this.#excluded.add(cluster);
  }

  /** Lets go of the generation. By a name, because every query does: a key that is a symbol is searched for each time. */
  leave(): void {
    if (!this.#kept) this.#hold.leave();
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}

const none: ReadonlySet<string> = new Set();

/** Hold, route, police. A promise only where something is waited for. */
export function wayOf(
  underway: Underway,
  { generations }: Pick<DataPlane, "generations">,
): Result<Way, GatewayError> | Promise<Result<Way, GatewayError>> {
  const held = generations.hold();
  if (!held.ok) return held;
  const { generation } = held.value;
  underway.holds(generation.revision);
  let way: Result<Way, GatewayError> | Promise<Result<Way, GatewayError>> | undefined;
  try {
    const routed = generation.route(underway.query, underway.trace, underway.signal);
    const found =
      routed instanceof Promise
        ? routed.then((one) => policedWay(one, held.value, underway))
        : policedWay(routed, held.value, underway);
    way = found instanceof Promise ? foundLater(found, held.value) : found;
    return way;
  } finally {
    if (!(way instanceof Promise) && way?.ok !== true) held.value.leave();
  }
}

/** Lets go of the generation where nothing was found. */
async function foundLater(
  finding: Promise<Result<Way, GatewayError>>,
  held: HeldGeneration,
): Promise<Result<Way, GatewayError>> {
  let way: Result<Way, GatewayError> | undefined;
  try {
    way = await finding;
    return way;
  } finally {
    if (way?.ok !== true) held.leave();
  }
}

function policedWay(
  routed: Result<Routed, GatewayError>,
  held: HeldGeneration,
  underway: Underway,
): Result<Way, GatewayError> | Promise<Result<Way, GatewayError>> {
  if (!routed.ok) return routed;
  underway.routed(routed.value);
  const police = held.generation.police(routed.value, underway, underway.signal);
  if (police instanceof Promise) return police.then((policed) => taken(policed, held, underway));
  return taken(police, held, underway);
}

/** No function in `policedWay`: one that every query makes anew is looked up anew, too. */
function taken(
  policed: Result<Policed, GatewayError>,
  held: HeldGeneration,
  underway: Underway,
): Result<Way, GatewayError> {
  return policed.ok ? ok(new Way(policed.value, held, underway)) : policed;
}
