/**
 * BEGIN: the same line as any query, but what it took stays with a pin: generation, slot and connection. The
 * pin owns them from then on and gives them back exactly once.
 */
import type { PinnedLane } from "../../port/backend.ts";
import type { Stage } from "../../query/event.ts";
import { askEngine, type Question } from "../step/ask.ts";
import type { OpenQuery } from "../step/lifecycle.ts";
import type { DataPlane } from "../step/plane.ts";
import { SessionPin } from "./pinSession.ts";

const transaction: Question<PinnedLane> = {
  ask: (backend, query, signal) => backend.begin(query, signal),
  undo: async (lane) => await lane[Symbol.asyncDispose](),
};

export async function* beginTransaction(open: OpenQuery, plane: DataPlane): Stage {
  const begun = yield* askEngine(transaction, open, plane, (lane, attempt, way) => {
    const { generation, policed } = way;
    // Before anything is kept: nobody would give back what is kept if this threw later.
    const lifeMs = generation.limits(policed.group).maxTransactionMs;
    const held = {
      generation: way.keep(),
      ...attempt.keep(),
      lane,
      routed: policed,
      idleMs: plane.idleInTransactionMs,
      lifeMs,
      begin: open.query,
    };
    return new SessionPin(held, plane.host.clock);
  });
  if (!begun.ok) return { kind: "failed", error: begun.error };
  const { modes } = open.query.statement;
  yield { kind: "session", change: { kind: "pinned", pin: begun.value, modes } };
  return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
}
