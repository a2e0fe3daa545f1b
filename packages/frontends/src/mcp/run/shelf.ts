/**
 * The statements of a listener: those that run, and for a while those that ended while their agent held a handle,
 * so that an agent that lost the last answer can ask for it again.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { OpenStatement } from "./openStatement.ts";

/** Statements that run at once. Each may hold an answer, so their number bounds memory. */
const openMax = 2_000;
/** Of one user, so that nobody keeps all others out. */
const openPerUserMax = openMax / 2;
/** Ended ones that are kept, oldest given up first. */
const endedMax = 256;
const keepMs = 60_000;
/** In a drain an agent that asks for nothing this long is taken for gone. */
const silentMs = 15_000;
const lookEveryMs = 1_000;

export class Shelf {
  readonly #host: Pick<Host, "clock">;
  readonly #open = new Map<QueryId, OpenStatement>();
  /** When each ended, oldest first. */
  readonly #ended = new Map<
    QueryId,
    { readonly statement: OpenStatement; readonly atMs: number }
  >();
  /** How many of them each user has. */
  readonly #openOf = new Map<string, number>();
  readonly #held = new Set<OpenStatement>();
  readonly #idleFromMs = new Map<OpenStatement, number>();
  #sweep: Disposable | undefined;
  #whenEmpty: (() => void) | undefined;

  constructor(host: Pick<Host, "clock">) {
    this.#host = host;
  }

  /** Why no further statement of that user may begin. */
  refusalOf(user: string): GatewayError | undefined {
    const own = this.#openOf.get(user) ?? 0;
    if (this.#open.size < openMax && own < openPerUserMax) return undefined;
    return gatewayError("capacity.queueFull", {
      message: "Too many queries of agents are open on this gateway.",
    });
  }

  add(statement: OpenStatement): void {
    this.#open.set(statement.polled.query.id, statement);
    this.#count(statement, 1);
  }

  /** Its agent got a handle, so it is found until some time after its end. */
  hold(statement: OpenStatement): void {
    if (!this.#open.has(statement.polled.query.id)) return;
    this.#held.add(statement);
    this.#idleFromMs.set(statement, this.#host.clock.nowMs());
  }

  /** Nothing of it is left to run. */
  over(statement: OpenStatement): void {
    const { id } = statement.polled.query;
    if (!this.#open.delete(id)) return;
    this.#count(statement, -1);
    this.#idleFromMs.delete(statement);
    if (this.#held.delete(statement)) this.#keep(id, statement);
    if (this.#open.size === 0) this.#whenEmpty?.();
  }

  #count({ polled }: OpenStatement, change: 1 | -1): void {
    const { user } = polled.owner;
    const left = (this.#openOf.get(user) ?? 0) + change;
    if (left > 0) this.#openOf.set(user, left);
    else this.#openOf.delete(user);
  }

  /** That user's statement of this id, running or ended a short time ago. */
  find(id: QueryId, user: string): OpenStatement | undefined {
    const statement = this.#open.get(id) ?? this.#ended.get(id)?.statement;
    return statement?.polled.owner.user === user ? statement : undefined;
  }

  /** Resolves when nothing runs any more, or at the deadline. Ends what its agent seems to have left. */
  async idle(deadline: AbortSignal): Promise<void> {
    if (this.#open.size === 0 || deadline.aborted) return;
    using _looking = this.#lookForSilent();
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
      deadline.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Ends what is left. */
  close(): void {
    this.#sweep?.[Symbol.dispose]();
    this.#ended.clear();
    for (const statement of this.#open.values()) {
      statement.cancel(gatewayError("gateway.draining"));
    }
  }

  #keep(id: QueryId, statement: OpenStatement): void {
    this.#ended.set(id, { statement, atMs: this.#host.clock.nowMs() });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > endedMax && oldest !== undefined) this.#ended.delete(oldest);
    this.#sweep ??= this.#sweepLater();
  }

  #sweepLater(): Disposable {
    return this.#host.clock.timer(keepMs, () => {
      const goneMs = this.#host.clock.nowMs() - keepMs;
      for (const [id, { atMs }] of this.#ended) if (atMs <= goneMs) this.#ended.delete(id);
      this.#sweep = this.#ended.size === 0 ? undefined : this.#sweepLater();
    });
  }

  #lookForSilent(): Disposable {
    let timer: Disposable | undefined;
    const look = (): void => {
      const goneMs = this.#host.clock.nowMs() - silentMs;
      for (const [statement, sinceMs] of this.#idleFromMs) {
        if (!statement.isAsked && sinceMs <= goneMs) {
          statement.cancel(gatewayError("query.abandoned"));
        }
      }
      timer = this.#host.clock.timer(lookEveryMs, look);
    };
    look();
    return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
  }
}
