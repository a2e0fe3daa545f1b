/**
 * The connections of one listener by their id: for KILL and SHOW PROCESSLIST.
 *
 * Ids live as long as their connection and mean nothing elsewhere; only the owner may use one.
 */
import type { Row } from "./local/filter.ts";

/** A connection as others see it. */
export interface Member {
  /** Undefined before the login. */
  readonly user: string | undefined;
  readonly address: string;
  readonly database: string | undefined;
  /** The statement that runs, shortened; undefined while none does. */
  readonly running: string | undefined;
  /** Milliseconds on the host's clock since the state last changed. */
  readonly sinceMs: number;
  /** Ends what runs; the client is told. */
  cancel(): void;
  /** Ends the connection. */
  close(): void;
}

export type Killed = "done" | "unknown" | "notOwner";

/** Ids have four bytes on the wire. */
const idMax = 0xffff_ffff;

export class Members {
  readonly #byId = new Map<number, Member>();
  #nextId = 1;

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
    return id;
  }

  leave(id: number): void {
    this.#byId.delete(id);
  }

  /** Ends a connection of `user`, or only what it runs. */
  kill(id: number, user: string, whole: boolean): Killed {
    const member = this.#byId.get(id);
    if (member?.user === undefined) return "unknown";
    if (member.user !== user) return "notOwner";
    member.cancel();
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
