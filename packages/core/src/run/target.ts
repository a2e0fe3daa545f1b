/**
 * Where a statement would go, for a frontend that has to know before it writes the statement: the line of a
 * query up to the group. It takes no slot and asks no engine.
 */
import type { GatewayError } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import type { Target } from "../port/door.ts";
import type { Query } from "../query/query.ts";
import { ok, type Result } from "../result.ts";
import { catalogsOf } from "../snapshot/generation.ts";
import { unthrown } from "./step/ask.ts";
import type { DataPlane } from "./step/plane.ts";
import { Unrecorded } from "./step/underway.ts";
import { wayOf } from "./step/way.ts";

/** In a transaction the answer is its cluster, as far as the active configuration still has it. */
export function targetOf(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Result<Target, GatewayError>> {
  return unthrown(plane, query.id, async () => {
    const { pin } = query.session;
    if (pin !== undefined) {
      const open = plane.generations.active?.backends() ?? [];
      return ok(targetAmong(open.filter(({ cluster }) => cluster === pin.cluster)));
    }
    using asking = new Unrecorded(query, plane, signal);
    const found = await wayOf(asking, plane);
    if (!found.ok) return found;
    using way = found.value;
    return ok(targetAmong(way.generation.members(way.policed.group)));
  });
}

function targetAmong(backends: readonly Backend[]): Target {
  const [dialect, ...others] = new Set(backends.map((backend) => backend.dialect));
  return { dialect: others.length === 0 ? dialect : undefined, catalogs: catalogsOf(backends) };
}
