/**
 * The connections of one listener by their id: for KILL and SHOW PROCESSLIST.
 *
 * An id lives as long as its connection and means nothing elsewhere. Its owner may use it, and users who
 * may end the queries of others.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { Row } from "../commands/filter.ts";

/** A connection as others see it. */
export interface Member {
  /** Undefined before the login. */
  readonly user: string | undefined;
  readonly address: string;
  readonly database: string | undefined;
  /** The statement that runs, shortened; undefined while none does. */
  readonly running: string | undefined;
  /** The query that runs; undefined while none does. */
  readonly queryId: QueryId | undefined;
  /** Milliseconds on the host's clock since the state last changed. */
  readonly sinceMs: number;
  /** Ends what runs; the client is told. */
  cancel(): void;
  /** Ends the connection. */
  close(): void;
  /** Ends a connection that was idle for longer than its `wait_timeout`, with a MySQL server's error. */
  closeIdle(nowMs: number): void;
}

/** Who asks. `endForeign` ends a query of somebody else and answers false where that is not allowed. */
export interface Killer {
  readonly user: string;
  readonly endForeign: (query: QueryId) => Promise<boolean>;
}

export type Killed = "done" | "unknown" | "notOwner";

/** Ids have four bytes on the wire. */
const idMax = 0xffff_ffff;

/** How often idle connections are looked for. `wait_timeout` counts whole seconds. */
const sweepMs = 1000;

export class Members {
  readonly #clock: Clock;
  readonly #byId = new Map<number, Member>();
  #nextId = 1;
  #sweep: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Gives the connection its id. */
  join(member: Member): number {
    while (this.#byId.has(this.#nextId))
      this.#nextId = this.#nextId === idMax ? 1 : this.#nextId + 1;
    const id = this.#nextId;
    this.#nextId = id === idMax ? 1 : id + 1;
    this.#byId.set(id, member);
    this.#sweep ??= this.#clock.timer(sweepMs, () => this.#closeIdle());
    return id;
  }

  leave(id: number): void {
    this.#byId.delete(id);
    if (this.#byId.size > 0) return;
    this.#sweep?.[Symbol.dispose]();
    this.#sweep = undefined;
  }

  /** One timer for all connections: a timer each would cost more than the look at all of them. */
  #closeIdle(): void {
    const nowMs = this.#clock.nowMs();
    for (const member of this.#byId.values()) member.closeIdle(nowMs);
    const again = () => this.#closeIdle();
    this.#sweep = this.#byId.size === 0 ? undefined : this.#clock.timer(sweepMs, again);
  }

  /** Ends a connection, or only what it runs. Others than the owner may do so only while it runs a query that they may end. */
  async kill(id: number, { user, endForeign }: Killer, whole: boolean): Promise<Killed> {
    const member = this.#byId.get(id);
    if (member?.user === undefined) return "unknown";
    const { queryId } = member;
    if (member.user === user) member.cancel();
    else if (queryId === undefined || !(await endForeign(queryId))) return "notOwner";
    if (whole) member.close();
    return "done";
  }

  /** Rows of SHOW PROCESSLIST for `user`. */
  list(user: string, nowMs: number): readonly Row[] {
    return [...this.#byId]
      .filter(([, member]) => member.user === user)
      .map(([id, { address, database, running, sinceMs }]) => [
        String(id),
        user,
        address,
        database ?? null,
        running === undefined ? "Sleep" : "Query",
        String(Math.max(0, Math.floor((nowMs - sinceMs) / 1000))),
        running === undefined ? "" : "executing",
        running ?? null,
      ]);
  }
}
