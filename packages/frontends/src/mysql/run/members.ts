/**
 * The connections of one listener by their id: for KILL and SHOW PROCESSLIST.
 *
 * An id lives as long as its connection and means nothing elsewhere. Its owner may use it, and users who
 * may end the queries of others. Where several processes share the listener, an id tells whose it is.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type { SiblingTopic } from "@gateway/core/port/siblings.ts";
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

interface AskedKill {
  readonly id: number;
  readonly user: string;
  readonly whole: boolean;
  /** The asker may end what runs there, and has done so. */
  readonly permitted: boolean;
}

/** A stranger's query is named to who asks in its name: only there it is known whether the asker may end it. */
type AnsweredKill = { readonly killed: Killed } | { readonly foreign: QueryId };

const killing: SiblingTopic<AskedKill, AnsweredKill> = { name: "mysql.kill" };

const listing: SiblingTopic<{ readonly user: string }, readonly Row[]> = { name: "mysql.list" };

/** Ids have four bytes on the wire. */
const idMax = 0xffff_ffff;

/** How often idle connections are looked for. `wait_timeout` counts whole seconds. */
const sweepMs = 1000;

export class Members {
  readonly #host: Pick<Host, "clock" | "siblings">;
  readonly #byId = new Map<number, Member>();
  readonly #step: number;
  readonly #firstId: number;
  #nextId: number;
  #sweep: Disposable | undefined;

  constructor(host: Pick<Host, "clock" | "siblings">) {
    const { siblings } = host;
    this.#host = host;
    this.#step = siblings?.count ?? 1;
    this.#firstId = (siblings?.index ?? 0) + 1;
    this.#nextId = this.#firstId;
    siblings?.answer(killing, (asked) => this.#answerKill(asked));
    siblings?.answer(listing, ({ user }) => this.list(user));
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Gives the connection its id. */
  join(member: Member): number {
    while (this.#byId.has(this.#nextId)) this.#nextId = this.#after(this.#nextId);
    const id = this.#nextId;
    this.#nextId = this.#after(id);
    this.#byId.set(id, member);
    this.#sweep ??= this.#host.clock.timer(sweepMs, () => this.#closeIdle());
    return id;
  }

  #after(id: number): number {
    return id > idMax - this.#step ? this.#firstId : id + this.#step;
  }

  leave(id: number): void {
    this.#byId.delete(id);
    if (this.#byId.size > 0) return;
    this.#sweep?.[Symbol.dispose]();
    this.#sweep = undefined;
  }

  /** One timer for all connections: a timer each would cost more than the look at all of them. */
  #closeIdle(): void {
    const nowMs = this.#host.clock.nowMs();
    for (const member of this.#byId.values()) member.closeIdle(nowMs);
    const again = () => this.#closeIdle();
    this.#sweep = this.#byId.size === 0 ? undefined : this.#host.clock.timer(sweepMs, again);
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

  /** The same for an id of any process. */
  async killAnywhere(id: number, killer: Killer, whole: boolean): Promise<Killed> {
    const { siblings } = this.#host;
    const owner = siblings === undefined ? 0 : (id - 1) % siblings.count;
    if (siblings === undefined || owner === siblings.index) return this.kill(id, killer, whole);
    const asked = { id, user: killer.user, whole, permitted: false };
    const [answer] = await siblings.ask(killing, asked, owner);
    if (answer === undefined) return "unknown";
    if ("killed" in answer) return answer.killed;
    if (!(await killer.endForeign(answer.foreign))) return "notOwner";
    if (whole) await siblings.ask(killing, { ...asked, permitted: true }, owner);
    return "done";
  }

  async #answerKill({ id, user, whole, permitted }: AskedKill): Promise<AnsweredKill> {
    const member = this.#byId.get(id);
    const isForeign = member?.user !== undefined && member.user !== user;
    if (isForeign && !permitted && member.queryId !== undefined) return { foreign: member.queryId };
    if (isForeign && permitted) {
      member.close();
      return { killed: "done" };
    }
    return { killed: await this.kill(id, { user, endForeign: never }, whole) };
  }

  /** Rows of SHOW PROCESSLIST for `user`, of every process, by their ids. */
  async listAnywhere(user: string): Promise<readonly Row[]> {
    const { siblings } = this.#host;
    const others = siblings === undefined ? [] : await siblings.ask(listing, { user });
    const rows = [...this.list(user), ...others.flat()];
    return rows.toSorted(([left], [right]) => Number(left) - Number(right));
  }

  /** The same of this process. */
  list(user: string): readonly Row[] {
    const nowMs = this.#host.clock.nowMs();
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

function never(): Promise<boolean> {
  return Promise.resolve(false);
}
