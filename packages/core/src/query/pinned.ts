/**
 * Transactions: BEGIN takes a generation, a slot and a connection and keeps them in a pin; the
 * statements of the session run there one after the other until COMMIT, ROLLBACK, an idle limit, or
 * the client's leave. The pin owns what it holds and gives it back exactly once.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import type { Clock } from "../port/clock.ts";
import type { PinnedLane } from "../port/backend.ts";
import type { Slot } from "../port/capacity.ts";
import { err, ok, type Result } from "../result.ts";
import type { Generation, HeldGeneration } from "../snapshot/generation.ts";
import { classifyStatement } from "../sql/classify.ts";
import type { Description, LastEvent, Stage } from "./event.ts";
import type { OpenQuery } from "./lifecycle.ts";
import type { Pin } from "./pin.ts";
import type { DataPlane } from "./plane.ts";
import type { Identified, Query, Routed } from "./query.ts";
import { relay } from "./relay.ts";

export type TransactionStatement = "begin" | "commit" | "rollback";

/** Whether the statement begins or ends a transaction; undefined for everything else. */
export function transactionStatement(query: Query): TransactionStatement | undefined {
  const { kind } = classifyStatement(query.sql, query.session.dialect);
  return kind === "begin" || kind === "commit" || kind === "rollback" ? kind : undefined;
}

interface Held {
  readonly generation: HeldGeneration;
  readonly slot: Slot;
  readonly lane: PinnedLane;
  readonly running: Disposable;
  readonly routed: Routed;
  readonly idleMs: number;
}

class SessionPin implements Pin {
  readonly cluster: string;
  readonly group: string;
  readonly held: Held;
  readonly #clock: Clock;
  #state: Pin["state"] = "open";
  #idle: Disposable | undefined;
  #ending: Promise<void> | undefined;
  #busy = false;

  constructor(held: Held, clock: Clock) {
    this.cluster = held.slot.cluster;
    this.group = held.routed.group;
    this.held = held;
    this.#clock = clock;
    this.#rest();
  }

  get state(): Pin["state"] {
    return this.#state;
  }

  /** Takes the lane for one statement. Refused when it is over, aborted, or another statement still runs. */
  take(): Result<Disposable, GatewayError> {
    if (this.#state === "ended") return err(gatewayError("query.idleInTransaction"));
    if (this.#busy) {
      return err(
        gatewayError("query.transaction", {
          message: "another statement of this transaction has not ended yet",
        }),
      );
    }
    this.#busy = true;
    this.#idle?.[Symbol.dispose]();
    return ok({
      [Symbol.dispose]: () => {
        this.#busy = false;
        if (this.#state !== "ended") this.#rest();
      },
    });
  }

  abort(): void {
    if (this.#state === "open") this.#state = "aborted";
  }

  end(): Promise<void> {
    this.#state = "ended";
    this.#idle?.[Symbol.dispose]();
    this.#ending ??= this.#giveBack();
    return this.#ending;
  }

  async #giveBack(): Promise<void> {
    const { lane, running, slot, generation } = this.held;
    // The slot follows the lane: it is free only when the engine runs nothing of ours any more.
    await lane[Symbol.asyncDispose]();
    running[Symbol.dispose]();
    await slot[Symbol.asyncDispose]();
    generation[Symbol.dispose]();
  }

  #rest(): void {
    this.#idle = this.#clock.timer(this.held.idleMs, () => void this.end());
  }
}

/** BEGIN: the same line as any query, but what it took stays with the pin. */
export async function* beginTransaction(open: OpenQuery, plane: DataPlane): Stage {
  const held = plane.generations.hold();
  if (!held.ok) return { kind: "failed", error: held.error };
  const { generation } = held.value;
  open.revision = generation.revision;
  let kept = false;
  try {
    const routed = await generation.route(open.query, open.live.trace, open.live.signal);
    if (!routed.ok) return { kind: "failed", error: routed.error };
    open.live.group = routed.value.group;
    const policed = generation.police(routed.value);
    if (!policed.ok) return { kind: "failed", error: policed.error };

    const admission = generation.admission(policed.value, new Set());
    if (!admission.ok) return { kind: "failed", error: admission.error };
    const admitted = yield* open.waiting(plane.capacity.admit(admission.value, open.live.signal));
    if (!admitted.ok) return { kind: "failed", error: admitted.error };
    const slot = admitted.value;
    const running = open.running(slot.cluster, generation);
    try {
      const lane = await openLane(routed.value, slot, held.value, open);
      if (!lane.ok) return { kind: "failed", error: lane.error };
      kept = true;
      const pin = new SessionPin(
        {
          generation: held.value,
          slot,
          lane: lane.value,
          running,
          routed: routed.value,
          idleMs: plane.idleInTransactionMs,
        },
        plane.host.clock,
      );
      yield { kind: "session", change: { kind: "pinned", pin } };
      return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
    } finally {
      if (!kept) {
        running[Symbol.dispose]();
        await slot[Symbol.asyncDispose]();
      }
    }
  } finally {
    if (!kept) held.value[Symbol.dispose]();
  }
}

async function openLane(
  routed: Routed,
  slot: Slot,
  hold: HeldGeneration,
  open: OpenQuery,
): Promise<Result<PinnedLane, GatewayError>> {
  const place = { routed, slot, generation: hold.generation };
  const identified = await identify(open.query, place, open.live.signal);
  if (!identified.ok) return identified;
  open.live.identified(identified.value);
  using tried = open.attempt(slot.cluster, hold.generation);
  const lane = await hold.generation
    .backend(slot.cluster)
    .begin(identified.value, open.live.signal);
  if (!lane.ok) tried.ended({ kind: "failed", error: lane.error });
  return lane;
}

/** What a statement of a transaction does not have to find any more. */
interface Place {
  readonly routed: Routed;
  readonly slot: Slot;
  readonly generation: Generation;
}

function placeOf({ held }: SessionPin): Place {
  return { routed: held.routed, slot: held.slot, generation: held.generation.generation };
}

/** Police, translate and identify for a statement whose route and slot are already there. */
async function identify(
  query: Query,
  { routed, slot, generation }: Place,
  signal: AbortSignal,
): Promise<Result<Identified, GatewayError>> {
  const policed = generation.police({ ...query, group: routed.group, trace: routed.trace });
  if (!policed.ok) return policed;
  const translated = generation.translate({ ...policed.value, slot });
  return translated.ok ? await generation.identify(translated.value, signal) : translated;
}

/** A statement of a session in a transaction. */
export async function* runPinned(open: OpenQuery, pin: Pin): Stage {
  if (!(pin instanceof SessionPin)) throw new Error("a pin that this pipeline did not make");
  const { generation } = pin.held.generation;
  open.revision = generation.revision;
  open.live.group = pin.group;
  open.live.trace.push({ step: "transaction", outcome: pin.cluster });
  const taken = pin.take();
  if (!taken.ok) {
    if (pin.state === "ended") yield { kind: "session", change: { kind: "unpinned" } };
    return { kind: "failed", error: taken.error };
  }
  using _lane = taken.value;
  open.live.ranOn(generation.backend(pin.cluster));
  open.live.started(pin.cluster, generation.limits(pin.group));

  const transaction = transactionStatement(open.query);
  if (transaction === "begin") {
    yield {
      kind: "notice",
      code: "inTransaction",
      text: "there is already a transaction in progress",
    };
    return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
  }
  if (transaction !== undefined) return yield* endTransaction(transaction, open, pin);
  if (pin.state === "aborted")
    return { kind: "failed", error: gatewayError("query.transactionAborted") };

  const last = yield* executePinned(open, pin);
  // PostgreSQL refuses everything after a failure until the end of the transaction; others go on.
  if (last.kind === "failed" && open.query.session.dialect === "postgres") pin.abort();
  return last;
}

async function* executePinned(open: OpenQuery, pin: SessionPin): Stage {
  const { lane } = pin.held;
  const identified = await identify(open.query, placeOf(pin), open.live.signal);
  if (!identified.ok) return { kind: "failed", error: identified.error };
  open.live.identified(identified.value);
  const { last } = yield* relay(lane.execute(identified.value, open.live.signal), open.live);
  return last;
}

async function* endTransaction(
  wish: "commit" | "rollback",
  open: OpenQuery,
  pin: SessionPin,
): Stage {
  const { lane } = pin.held;
  // COMMIT of an aborted transaction is a rollback, and says so.
  const kind = pin.state === "aborted" ? "rollback" : wish;
  const ended = await lane[kind](open.live.signal);
  await pin.end();
  yield { kind: "session", change: { kind: "unpinned" } };
  const last: LastEvent = ended.ok
    ? { kind: "done", stats: open.live.stats(), updateType: kind.toUpperCase() }
    : { kind: "failed", error: ended.error };
  return last;
}

/** Describes a statement on the transaction's own connection, where its uncommitted tables are. */
export async function describePinned(
  query: Query,
  pin: Pin,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  if (!(pin instanceof SessionPin)) throw new Error("a pin that this pipeline did not make");
  if (pin.state === "aborted") return err(gatewayError("query.transactionAborted"));
  const taken = pin.take();
  if (!taken.ok) return taken;
  using _lane = taken.value;
  const { lane } = pin.held;
  const identified = await identify(query, placeOf(pin), signal);
  return identified.ok ? await lane.describe(identified.value, signal) : identified;
}
