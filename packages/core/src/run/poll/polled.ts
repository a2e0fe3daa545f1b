/**
 * A query whose client asks for the next piece again and again over separate requests.
 *
 * The generator is parked between the requests. Nobody asking for `abandonAfterMs` ends it; after its
 * end it is known for `keepMs` whose it was, so that a repeated last poll gets the same answer; nothing else
 * of it stays, because what stays is copied with the next collections of garbage. What a piece looks
 * like, and its repetition, is the frontend's business: here are only events, each handed out once.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { AuthContext } from "../../query/identity.ts";
import type { PolledQuery } from "../../port/door.ts";
import type { Host } from "../../port/host.ts";
import { err, ok, type Result } from "../../result.ts";
import { Aged } from "../../tool/aged.ts";
import { Cells } from "../../tool/cells.ts";
import type { ResultStream } from "../../query/event.ts";
import { ParkedQuery, type BeginQuery, type Parking } from "./parked.ts";
import type { Query, QueryId } from "../../query/query.ts";

export interface PolledLimits {
  /** A query that nobody asked about for this long is ended, and forgotten when nobody asks about its end either. */
  readonly abandonAfterMs: number;
  /** How often the abandoned ones are looked for. */
  readonly sweepEveryMs: number;
  /** How long a query is found after its client has seen the end. */
  readonly keepMs: number;
  /** Most queries held at once. Ended ones make room first; then a new one fails. */
  readonly countMax: number;
  /** Most queries kept after their client has seen the end. */
  readonly seenMax: number;
}

export const polledLimits: PolledLimits = {
  abandonAfterMs: 300_000,
  sweepEveryMs: 120_000,
  keepMs: 60_000,
  countMax: 20_000,
  seenMax: 5_000,
};

/** What is kept of a query once its client has seen the end. */
interface Seen {
  readonly owner: AuthContext;
  readonly atMs: number;
}

export type RunQuery = (query: Query, signal: AbortSignal) => ResultStream;

/** Every started query of this process, by id. */
export class PolledQueries {
  readonly #host: Host;
  readonly #limits: PolledLimits;
  readonly #parking: Parking;
  readonly #queries = new Cells<QueryId, ParkedQuery>();
  /** Those whose end was seen, oldest first. */
  readonly #seen = new Aged<QueryId, Seen>();
  /** The same while their streams still end. */
  readonly #ending = new Set<Promise<void>>();
  #sweeping: Disposable | undefined;
  #closed = false;

  constructor(host: Host, limits: PolledLimits = polledLimits) {
    this.#host = host;
    this.#limits = limits;
    this.#parking = {
      host,
      endSeen: (parked) => this.#endSeen(parked),
      forget: (id) => this.#forget(id),
    };
  }

  /** Queries that can be resumed now. */
  get count(): number {
    return this.#queries.size + this.#seen.size;
  }

  /**
   * Parks a query at its start; `run` is called at once and read from the first `next` on. Never refuses: a query over the
   * limit fails with its first event. `begin` is called in the place of `run`, with the first `next` that absorbs.
   */
  start(query: Query, run: RunQuery, begin?: BeginQuery): PolledQuery {
    this.#forgetSeen();
    const refusal = this.#refusal();
    if (refusal !== undefined) return new ParkedQuery(query, failing(refusal), this.#parking);
    const parked = new ParkedQuery(query, run, this.#parking, begin);
    this.#queries.set(query.id, parked);
    this.#sweeping ??= this.#sweepLater();
    return parked;
  }

  /**
   * `query.unknown` when there is none or it belongs to somebody else; nothing where its client has seen the end.
   * Counts as a sign of life.
   */
  resume(id: QueryId, owner: AuthContext): Result<PolledQuery | undefined, GatewayError> {
    this.#forgetSeen();
    const parked = this.#queries.get(id);
    const known = parked ?? this.#seen.get(id);
    if (known === undefined || known.owner.user !== owner.user) {
      return err(gatewayError("query.unknown"));
    }
    parked?.touch();
    return ok(parked);
  }

  /** Ends the query as its owner's wish; `query.unknown` as in `resume`. Ending an ended one is no error. */
  cancel(id: QueryId, owner: AuthContext): Result<void, GatewayError> {
    const found = this.resume(id, owner);
    if (!found.ok) return found;
    found.value?.cancel();
    return ok(undefined);
  }

  /** Ends every query with `gateway.draining` and takes no new ones. Resolves when every stream has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeping?.[Symbol.dispose]();
    this.#sweeping = undefined;
    const all = this.#queries.values();
    this.#queries.clear();
    this.#seen.clear();
    for (const parked of all) parked.end(gatewayError("gateway.draining"));
    await Promise.all([...all.map((parked) => parked.over()), ...this.#ending]);
  }

  #refusal(): GatewayError | undefined {
    if (this.#closed) return gatewayError("gateway.draining");
    if (this.count < this.#limits.countMax) return undefined;
    const { oldest } = this.#seen;
    if (oldest === undefined) {
      return gatewayError("capacity.queueFull", {
        message: "Too many queries wait for their clients to ask for the result.",
      });
    }
    this.#forget(oldest[0]);
    return undefined;
  }

  #endSeen(parked: ParkedQuery): void {
    const { id } = parked.query;
    if (!this.#queries.delete(id)) return;
    this.#seen.put(id, { owner: parked.owner, atMs: this.#host.clock.nowMs() });
    if (parked.isOver) return;
    const ending = parked.over().then(() => void this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(id: QueryId): void {
    this.#queries.delete(id);
    this.#seen.delete(id);
  }

  /** All of them stay equally long, so the oldest is always the first to go. */
  #forgetSeen(): void {
    if (this.#seen.size === 0) return;
    const { keepMs, seenMax } = this.#limits;
    const goneMs = this.#host.clock.nowMs() - keepMs;
    for (let { oldest } = this.#seen; oldest !== undefined; { oldest } = this.#seen) {
      const [id, { atMs }] = oldest;
      if (atMs > goneMs && this.#seen.size <= seenMax) return;
      this.#forget(id);
    }
  }

  #sweepLater(): Disposable {
    return this.#host.clock.timer(this.#limits.sweepEveryMs, () => {
      this.#sweep();
      this.#sweeping = this.count === 0 ? undefined : this.#sweepLater();
    });
  }

  #sweep(): void {
    this.#forgetSeen();
    const abandonedMs = this.#host.clock.nowMs() - this.#limits.abandonAfterMs;
    for (const [id, parked] of this.#queries.entries()) {
      if (parked.held || parked.askedMs > abandonedMs) continue;
      if (parked.ended) this.#forget(id);
      else parked.end(gatewayError("query.abandoned"));
    }
  }
}

function failing(error: GatewayError): RunQuery {
  return async function* refused() {
    yield { kind: "failed", error };
  };
}
