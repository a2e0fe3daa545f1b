/**
 * The tables that a session can query, for catalogs and listings: the line of a query up to the
 * engine's `listTables`. It takes a slot like a query and leaves no record.
 */
import type { GatewayError } from "../error.ts";
import type { TableListing } from "../port/backend.ts";
import type { TableScope } from "../port/door.ts";
import type { Query } from "../query/query.ts";
import { ok, type Result } from "../result.ts";
import { answerOf, unthrown, type Question } from "./step/ask.ts";
import type { DataPlane } from "./step/plane.ts";
import { Unrecorded } from "./step/underway.ts";
import { wayOf } from "./step/way.ts";

const listing: Question<readonly TableListing[]> = {
  ask: (backend, query, signal) => backend.listTables(query, signal),
};

/** Goes only so far that the group is known; the engine is asked later. `query` is what routers and policies see. */
export function tablesFor(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Result<TableScope, GatewayError>> {
  return unthrown(plane, query.id, async () => {
    using asking = new Unrecorded({ ...query, lists: true }, plane, signal);
    const found = await wayOf(asking, plane);
    if (!found.ok) return found;
    using way = found.value;
    const { generation, policed } = way;
    const key = JSON.stringify([generation.revision, policed.group, generation.audience(policed)]);
    const list: TableScope["list"] = async (until) => {
      const listed = await listNow(query, plane, until);
      return listed.ok ? ok(await generation.shown(policed, listed.value, until)) : listed;
    };
    return ok({ key, list });
  });
}

function listNow(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): ReturnType<TableScope["list"]> {
  return unthrown(plane, query.id, async () => {
    using asking = new Unrecorded({ ...query, lists: true }, plane, signal);
    return await answerOf(listing, asking, plane);
  });
}
