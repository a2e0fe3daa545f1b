/**
 * BEGIN: the same line as any query, but what it took stays with a pin: generation, slot and connection. The
 * pin owns them from then on and gives them back exactly once.
 */
import { gatewayError } from "../../error.ts";
import type { KeptLane, PinnedLane } from "../../port/backend.ts";
import type { Stage } from "../../query/event.ts";
import { err, ok } from "../../result.ts";
import { askEngine, type Question } from "../step/ask.ts";
import type { OpenQuery } from "../step/lifecycle.ts";
import type { DataPlane } from "../step/plane.ts";
import { heldByKept } from "./kept.ts";
import { KeptSession } from "./keptSession.ts";
import { SessionPin } from "./pinSession.ts";

interface Begun {
  readonly lane: PinnedLane;
  /** Where each session has a connection: the session's, from its first statement on. */
  readonly kept: KeptLane | undefined;
}

const transaction: Question<Begun> = {
  ask: async (backend, query, signal) => {
    if (backend.keeps !== "always" || backend.mayKeep?.(query) !== true) {
      const lane = await backend.begin(query, signal);
      return lane.ok ? ok({ lane: lane.value, kept: undefined }) : lane;
    }
    const kept = await backend.keep?.(query, signal);
    if (kept?.ok !== true) return kept ?? err(gatewayError("query.unsupported"));
    const lane = await kept.value.begin(query, signal);
    if (lane.ok) return ok({ lane: lane.value, kept: kept.value });
    await kept.value[Symbol.asyncDispose]();
    return lane;
  },
  undo: async ({ lane, kept }) => {
    await lane[Symbol.asyncDispose]();
    await kept?.[Symbol.asyncDispose]();
  },
};

export async function* beginTransaction(open: OpenQuery, plane: DataPlane): Stage {
  const { clock } = plane.host;
  const idleMs = plane.idleInTransactionMs;
  const begun = yield* askEngine(transaction, open, plane, ({ lane, kept: own }, attempt, way) => {
    const { generation, policed } = way;
    // Before anything is kept: nobody would give back what is kept if this threw later.
    const lifeMs = generation.limits(policed.group).maxTransactionMs;
    const parts = { generation: way.keep(), ...attempt.keep(), routed: policed };
    const kept = own && new KeptSession({ ...parts, lane: own });
    const held = kept === undefined ? parts : heldByKept(kept);
    const pin = new SessionPin({ ...held, lane, idleMs, lifeMs, begin: open.query }, clock);
    return { pin, kept };
  });
  if (!begun.ok) return { kind: "failed", error: begun.error };
  const { pin, kept } = begun.value;
  const { modes } = open.query.statement;
  if (kept !== undefined) {
    open.live.trace.push({
      step: "kept",
      outcome: `${kept.cluster}: ${kept.held.lane.keeps ?? ""}`,
    });
    yield { kind: "session", change: { kind: "kept", kept } };
  }
  yield { kind: "session", change: { kind: "pinned", pin, modes } };
  return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
}
