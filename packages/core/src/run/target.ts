/**
 * Where a statement would go, for a frontend that has to know before it writes the statement: the line of a
 * query up to the group. It takes no slot and asks no engine.
 */
import type { GatewayError } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import type { ReachedEngine } from "../query/reached.ts";
import type { Query } from "../query/query.ts";
import { ok, type Result } from "../result.ts";
import type { Generation, Generations } from "../snapshot/generation.ts";
import { unthrown } from "./step/ask.ts";
import type { DataPlane } from "./step/plane.ts";
import { Unrecorded } from "./step/underway.ts";
import { wayOf } from "./step/way.ts";

/** In a transaction the answer is its cluster, as far as the active configuration still has it. */
export function targetOf(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Result<readonly ReachedEngine[], GatewayError>> {
  return unthrown(plane, query.id, async () => {
    const { pin, kept } = query.session;
    const place = pin ?? kept;
    if (place !== undefined) {
      const open = plane.generations.active?.backends() ?? [];
      return ok(reachedOf(open.filter(({ cluster }) => cluster === place.cluster)));
    }
    using asking = new Unrecorded(query, plane, signal);
    const found = await wayOf(asking, plane);
    if (!found.ok) return found;
    using way = found.value;
    return ok(reachedOf(way.generation.members(way.policed.group)));
  });
}

/** What a frontend may know of them, as it is at any time: nothing that it could call. */
export function reachedOf(backends: readonly Backend[]): readonly ReachedEngine[] {
  return backends.map((backend) =>
    backend.speaks === undefined ? viewOf(backend) : serverViewOf(backend),
  );
}

/** The same of all that a configuration has open. Frontends ask several times for each statement, so it is made once. */
export function reachedIn(
  generations: Pick<Generations, "active">,
): () => readonly ReachedEngine[] {
  let made: readonly ReachedEngine[] = [];
  let of: Generation | undefined;
  return () => {
    const { active } = generations;
    if (active !== of) {
      made = reachedOf(active?.backends() ?? []);
      of = active;
    }
    return made;
  };
}

function viewOf(backend: Backend): ReachedEngine {
  return {
    get dialect() {
      return backend.dialect;
    },
    get catalogs() {
      return backend.catalogs;
    },
  };
}

function serverViewOf(backend: Backend): ReachedEngine {
  const { speaks, keeps } = backend;
  return {
    get dialect() {
      return backend.dialect;
    },
    get catalogs() {
      return backend.catalogs;
    },
    speaks,
    get statuses() {
      return backend.statuses;
    },
    keeps,
  };
}
