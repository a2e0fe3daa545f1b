/** The line of a question that the engine answers with one value instead of events: a description, a listing, a transaction. */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Backend } from "../../port/backend.ts";
import type { Queued } from "../../query/event.ts";
import type { Identified, QueryId } from "../../query/query.ts";
import { err, ok, type Result } from "../../result.ts";
import { Attempt } from "./attempt.ts";
import type { DataPlane } from "./plane.ts";
import type { Underway } from "./underway.ts";
import { wayOf, type Way } from "./way.ts";

export interface Question<Answer> {
  ask(
    backend: Backend,
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Answer, GatewayError>>;
  /** Undoes an answer that nobody may use: the slot was lost, or the client left meanwhile. */
  undo?(answer: Answer): Promise<void>;
}

/**
 * Asks an engine that can be reached. `take` turns the answer into what the caller wants. It may keep what
 * the attempt and the way hold; otherwise that is given back.
 */
export async function* askEngine<Answer, Taken>(
  question: Question<Answer>,
  underway: Underway,
  plane: DataPlane,
  take: (answer: Answer, attempt: Attempt, way: Way) => Taken,
): AsyncGenerator<Queued, Result<Taken, GatewayError>, void> {
  if (plane.draining()) return err(gatewayError("gateway.draining"));
  const found = await wayOf(underway, plane);
  if (!found.ok) return found;
  using way = found.value;
  for (;;) {
    const granted = way.slot();
    const slot = "ok" in granted ? granted : yield* granted;
    if (!slot.ok) return slot;
    await using attempt = new Attempt(slot.value, underway, way, plane.host);
    const identified = await attempt.identified();
    if (!identified.ok) return identified;
    const answer = await attempt.ask(question, identified.value);
    if (answer.ok) return ok(take(answer.value, attempt, way));
    const reached = answer.error.code !== "cluster.connectFailed";
    if (reached || underway.signal.aborted) return answer;
    way.exclude(slot.value.cluster);
  }
}

/** The same for a caller that has nobody to tell about the wait. */
export async function answerOf<Answer>(
  question: Question<Answer>,
  underway: Underway,
  plane: DataPlane,
): Promise<Result<Answer, GatewayError>> {
  const asking = askEngine(question, underway, plane, (answer) => answer);
  for (;;) {
    const step = await asking.next();
    if (step.done === true) return step.value;
  }
}

/** Does `work`; a throw is logged and returned as `internal.bug`. */
export async function unthrown<Value>(
  plane: DataPlane,
  queryId: QueryId,
  work: () => Promise<Result<Value, GatewayError>>,
): Promise<Result<Value, GatewayError>> {
  try {
    return await work();
  } catch (bug) {
    plane.host.log.bug(bug, { queryId });
    return err(gatewayError("internal.bug"));
  }
}
