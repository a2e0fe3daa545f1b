/**
 * Types of a statement's parameters and columns without running it: the line of a query up to the
 * engine's `describe`. It takes a slot like a query and leaves no record.
 */
import type { GatewayError } from "../error.ts";
import type { Description } from "../query/event.ts";
import type { Query } from "../query/query.ts";
import type { Result } from "../result.ts";
import { answerOf, unthrown, type Question } from "./step/ask.ts";
import type { DataPlane } from "./step/plane.ts";
import { Unrecorded } from "./step/underway.ts";
import { describeKept } from "./transaction/kept.ts";
import { describePinned } from "./transaction/pinned.ts";

const description: Question<Description> = {
  ask: (backend, query, signal) => backend.describe(query, signal),
};

export function describeQuery(
  query: Query,
  plane: DataPlane,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  return unthrown(plane, query.id, async () => {
    const { pin, kept } = query.session;
    if (pin !== undefined) return await describePinned(query, pin, plane.host, signal);
    if (kept !== undefined) return await describeKept(query, kept, plane, signal);
    using asking = new Unrecorded(query, plane, signal);
    return await answerOf(description, asking, plane);
  });
}
