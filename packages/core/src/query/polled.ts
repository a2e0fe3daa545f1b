/**
 * A query whose client asks for the next piece again and again over separate requests.
 *
 * The generator is parked between the requests. Nobody asking for `abandonAfterMs` ends it; after its
 * end it stays for `keepMs`, so that a repeated last poll gets the same answer. What a piece looks
 * like, and its repetition, is the frontend's business: here are only events, each handed out once.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import type { AuthContext } from "../port/authenticator.ts";
import type { Host } from "../port/host.ts";
import { err, ok, type Result } from "../result.ts";
import { Aged } from "./aged.ts";
import { Canceller } from "./canceller.ts";
import type { LastEvent, ResultEvent, ResultStream } from "./event.ts";
import type { Query, QueryId } from "./query.ts";

export interface PolledQuery {
  readonly query: Query;
  readonly owner: AuthContext;
  /**
   * The next event, or undefined when none came within `waitMs` (progress can be shown) or after the
   * last one. One call at a time. Aborting `signal` (the client hung up) cancels the query.
   *
   * A call after the last event says that the client has seen the end: from then on the query stays
   * for `keepMs` only. A frontend that reads ahead makes this call when it gave its last answer.
   */
  next(waitMs: number, signal: AbortSignal): Promise<ResultEvent | undefined>;
  /** Ends the query as the client's wish; its last event is `failed: query.cancelled` unless it is over already. */
  cancel(): void;
  /** The client was given nothing to ask again with: the query is not kept after its end. Absent where nothing is kept anyway. */
  forget?(): void;
}

/** For `next` without a client that could hang up. Known to the parking place, which then listens to nothing. */
export const neverAborted: AbortSignal = new AbortController().signal;

export interface PolledLimits {
  /** A query nobody asked for this long is ended, and forgotten when its end is not asked for either. */
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

/** Events read from an engine that goes on after its query was ended, before the stream is cut. */
const drainedEventsMax = 64;

export type RunQuery = (query: Query, signal: AbortSignal) => ResultStream;

/** Every started query of this process, by id. */
export class PolledQueries {
  readonly #host: Host;
  readonly #limits: PolledLimits;
  readonly #queries = new Map<QueryId, ParkedQuery>();
  /** Those whose end was seen, oldest first. */
  readonly #seen = new Aged<QueryId, ParkedQuery>();
  #sweeping: Disposable | undefined;
  #closed = false;

  constructor(host: Host, limits: PolledLimits = polledLimits) {
    this.#host = host;
    this.#limits = limits;
  }

  /** Queries that can be resumed now. */
  get count(): number {
    return this.#queries.size;
  }

  /** Parks a query at its start; `run` is called at once and read from the first `next` on. Never refuses: a query over the limit fails with its first event. */
  start(query: Query, run: RunQuery): PolledQuery {
    this.#forgetSeen();
    const refusal = this.#refusal();
    const parked = new ParkedQuery(query, refusal === undefined ? run : failing(refusal), {
      host: this.#host,
      onEndSeen: () => this.#endSeen(parked),
      onForget: () => this.#forget(query.id),
    });
    if (refusal !== undefined) return parked;
    this.#queries.set(query.id, parked);
    this.#sweeping ??= this.#sweepLater();
    return parked;
  }

  /** `query.unknown` when there is none or it belongs to somebody else. Counts as a sign of life. */
  resume(id: QueryId, owner: AuthContext): Result<PolledQuery, GatewayError> {
    this.#forgetSeen();
    const parked = this.#queries.get(id);
    if (parked === undefined || parked.owner.user !== owner.user) {
      return err(gatewayError("query.unknown"));
    }
    parked.touch();
    return ok(parked);
  }

  /** Ends the query as its owner's wish; `query.unknown` as in `resume`. Ending an ended one is no error. */
  cancel(id: QueryId, owner: AuthContext): Result<void, GatewayError> {
    const found = this.resume(id, owner);
    if (!found.ok) return found;
    found.value.cancel();
    return ok(undefined);
  }

  /** Ends every query with `gateway.draining` and takes no new ones. Resolves when every stream has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeping?.[Symbol.dispose]();
    this.#sweeping = undefined;
    const all = [...this.#queries.values()];
    this.#queries.clear();
    this.#seen.clear();
    for (const parked of all) parked.end(gatewayError("gateway.draining"));
    await Promise.all(all.map((parked) => parked.over));
  }

  #refusal(): GatewayError | undefined {
    if (this.#closed) return gatewayError("gateway.draining");
    if (this.#queries.size < this.#limits.countMax) return undefined;
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
    if (this.#queries.has(parked.query.id)) this.#seen.put(parked.query.id, parked);
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
      const [id, { endSeenMs }] = oldest;
      if (endSeenMs > goneMs && this.#seen.size <= seenMax) return;
      this.#forget(id);
    }
  }

  #sweepLater(): Disposable {
    return this.#host.clock.timer(this.#limits.sweepEveryMs, () => {
      this.#sweep();
      this.#sweeping = this.#queries.size === 0 ? undefined : this.#sweepLater();
    });
  }

  #sweep(): void {
    this.#forgetSeen();
    const abandonedMs = this.#host.clock.nowMs() - this.#limits.abandonAfterMs;
    for (const [id, parked] of this.#queries) {
      if (parked.held || parked.askedMs > abandonedMs) continue;
      if (parked.ended) this.#forget(id);
      else parked.end(gatewayError("query.abandoned"));
    }
  }
}

interface Parking {
  readonly host: Host;
  readonly onEndSeen: () => void;
  readonly onForget: () => void;
}

type Waiter = (event: ResultEvent | undefined) => void;

class ParkedQuery implements PolledQuery {
  #query: Query;
  readonly owner: AuthContext;
  /** Resolves when the stream has ended and everything it held was given back. */
  readonly over: Promise<void>;
  readonly #parking: Parking;
  /** Undefined once the stream has ended: what is kept for late polls is kept small. */
  #running: { readonly controller: Canceller; readonly stream: ResultStream } | undefined;
  readonly #resolveOver: () => void;
  #waiter: Waiter | undefined;
  /** An event that came while nobody asked. */
  #parked: ResultEvent | undefined;
  #reading = false;
  #ending: GatewayError | undefined;
  #drained = 0;
  #lastGiven = false;
  #forgotten = false;
  askedMs: number;
  endSeenMs = Number.POSITIVE_INFINITY;

  constructor(query: Query, run: RunQuery, parking: Parking) {
    this.#query = query;
    this.owner = query.session.identity;
    this.#parking = parking;
    this.askedMs = parking.host.clock.nowMs();
    const resolvers: (() => void)[] = [];
    this.over = new Promise((resolve) => resolvers.push(resolve));
    this.#resolveOver = () => resolvers[0]?.();
    const controller = new Canceller();
    this.#running = { controller, stream: run(query, controller.signal) };
  }

  get query(): Query {
    return this.#query;
  }

  /** True while a client's request waits here. */
  get held(): boolean {
    return this.#waiter !== undefined;
  }

  /** True when nothing of the query is left to run. */
  get ended(): boolean {
    return this.#running === undefined;
  }

  touch(): void {
    this.askedMs = this.#parking.host.clock.nowMs();
  }

  async next(waitMs: number, signal: AbortSignal): Promise<ResultEvent | undefined> {
    if (this.#waiter !== undefined) throw new Error("a polled query was asked twice at once");
    this.touch();
    if (this.#lastGiven) {
      this.#seeEnd();
      return undefined;
    }
    if (signal.aborted) {
      this.cancel();
      return undefined;
    }
    const parked = this.#parked;
    if (parked !== undefined) {
      this.#parked = undefined;
      return this.#give(parked);
    }
    return this.#wait(waitMs, signal);
  }

  cancel(): void {
    this.end(gatewayError("query.cancelled"));
  }

  forget(): void {
    if (this.#running === undefined) this.#parking.onForget();
    else this.#forgotten = true;
  }

  /** Ends the query unless it is over; its last event says why. */
  end(reason: GatewayError): void {
    if (this.#ending !== undefined || this.#running === undefined) return;
    this.#ending = reason;
    if (this.#parked !== undefined && !isLast(this.#parked)) this.#parked = undefined;
    this.#running.controller.abort(reason);
    // Nobody may ever ask again, and only a read stream gives back its slot.
    this.#read();
  }

  #wait(waitMs: number, signal: AbortSignal): Promise<ResultEvent | undefined> {
    return new Promise((resolve) => {
      const onAbort = (): void => {
        answer(undefined);
        this.cancel();
      };
      const answer: Waiter = (event) => {
        this.#waiter = undefined;
        timer[Symbol.dispose]();
        if (signal !== neverAborted) signal.removeEventListener("abort", onAbort);
        this.touch();
        resolve(event === undefined ? undefined : this.#give(event));
      };
      const timer = this.#parking.host.clock.timer(waitMs, () => answer(undefined));
      if (signal !== neverAborted) signal.addEventListener("abort", onAbort, { once: true });
      this.#waiter = answer;
      this.#read();
    });
  }

  #give(event: ResultEvent): ResultEvent {
    if (isLast(event)) this.#lastGiven = true;
    return event;
  }

  #seeEnd(): void {
    if (this.endSeenMs !== Number.POSITIVE_INFINITY) return;
    this.endSeenMs = this.#parking.host.clock.nowMs();
    this.#parking.onEndSeen();
  }

  /** Reads one event unless that is under way. The stream never rejects; if it does, that is a bug. */
  #read(): void {
    if (this.#reading || this.#running === undefined) return;
    this.#reading = true;
    this.#running.stream.next().then(
      (step) => this.#arrived(step.done === true ? undefined : step.value),
      (bug: unknown) => {
        this.#parking.host.log.bug(bug, { queryId: this.query.id });
        this.#arrived({ kind: "failed", error: gatewayError("internal.bug") });
      },
    );
  }

  #arrived(event: ResultEvent | undefined): void {
    this.#reading = false;
    if (event === undefined) {
      // A stream that stops without a last event must never look like a complete result.
      this.#finish({ kind: "failed", error: this.#ending ?? gatewayError("engine.broken") });
    } else if (isLast(event)) {
      this.#finish(event);
    } else if (this.#ending === undefined) {
      this.#offer(event);
    } else {
      this.#drain(this.#ending);
    }
  }

  /** Reads on to the last event of an ended query. An engine that does not stop is cut off. */
  #drain(reason: GatewayError): void {
    this.#drained += 1;
    if (this.#drained < drainedEventsMax) this.#read();
    else this.#finish({ kind: "failed", error: reason });
  }

  #finish(last: LastEvent): void {
    const stream = this.#running?.stream;
    this.#running = undefined;
    this.#query = withoutCredential(this.#query);
    if (this.#forgotten) this.#parking.onForget();
    this.#offer(last);
    // The generator may still have its end to run (a `finally` behind its last `yield`).
    stream?.return().then(this.#resolveOver, (bug: unknown) => {
      this.#parking.host.log.bug(bug, { queryId: this.query.id });
      this.#resolveOver();
    });
  }

  #offer(event: ResultEvent): void {
    if (this.#waiter === undefined) this.#parked = event;
    else this.#waiter(event);
  }
}

/** What stays for late polls asks no engine any more, so it keeps nothing that a client could be identified with. */
function withoutCredential({ session, ...query }: Query): Query {
  return { ...query, session: { ...session, credential: { kind: "none" } } };
}

function isLast(event: ResultEvent): event is LastEvent {
  return event.kind === "done" || event.kind === "failed";
}

function failing(error: GatewayError): RunQuery {
  return async function* refused() {
    yield { kind: "failed", error };
  };
}
