/** Statements that run for this listener's clients, by user and by the id that the client gave or got. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Canceller } from "@gateway/core/tool/canceller.ts";
import { Cells } from "@gateway/core/tool/cells.ts";
import { Members, type Membership } from "@gateway/core/tool/members.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { named } from "../errors.ts";
import { runningOfUserMax } from "../limits.ts";

/** One of them. */
export interface RunningStatement {
  readonly sql: string;
  readonly canceller: Canceller;
}

/** The running statements of a user. */
class OfUser {
  /** By ids that their client gave. */
  readonly named = new Cells<string, Held>();
  /** Those with an id of the gateway's, which no other has: they need not be looked up to be added. */
  readonly unnamed = new Members<Held>();

  get size(): number {
    return this.named.size + this.unnamed.size;
  }

  find(id: string): Held | undefined {
    return this.named.get(id) ?? this.unnamed.values().find((held) => held.id === id);
  }

  has(id: string, isOurs: boolean): boolean {
    if (isOurs) return this.named.size > 0 && this.named.get(id) !== undefined;
    return this.find(id) !== undefined;
  }

  add(held: Held, isOurs: boolean): void {
    if (isOurs) held.place = this.unnamed.add(held);
    else this.named.set(held.id, held);
  }

  remove({ id, place }: Held): void {
    if (place === undefined) this.named.delete(id);
    else this.unnamed.remove(place);
  }
}

/** Is over once it is disposed. */
class Held implements RunningStatement, Disposable {
  readonly id: string;
  readonly sql: string;
  readonly canceller: Canceller;
  /** Among those without a name. */
  place: Membership<Held> | undefined;
  readonly #end: (held: Held) => void;
  #over = false;
  #onGone: (() => void) | undefined;

  constructor(id: string, { sql, canceller }: RunningStatement, end: (held: Held) => void) {
    this.id = id;
    this.sql = sql;
    this.canceller = canceller;
    this.#end = end;
  }

  /** For one who waits. */
  gone(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#onGone;
      this.#onGone = () => {
        before?.();
        resolve();
      };
    });
  }

  [Symbol.dispose](): void {
    if (this.#over) return;
    this.#over = true;
    this.#end(this);
    this.#onGone?.();
  }
}

/** A user, and what ends one of his statements. */
interface User {
  readonly mine: OfUser;
  readonly end: (held: Held) => void;
}

/** So many users without a statement are remembered (`members.ts` says why). */
const restingMax = 1_000;

export class Running {
  readonly #users = new Map<string, User>();

  /** Holds an id until disposed. Refuses one that its user's statement has already. `isOurs`: the gateway gave it. */
  add(
    user: string,
    { id, isOurs }: { readonly id: string; readonly isOurs: boolean },
    statement: RunningStatement,
  ): Result<Disposable, GatewayError> {
    const { mine, end } = this.#users.get(user) ?? this.#user(user);
    if (mine.has(id, isOurs)) {
      const message = `Query with id = ${id} is already running`;
      const vendor = named("QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING");
      return err(gatewayError("query.conflict", { message, vendor }));
    }
    if (mine.size >= runningOfUserMax) return err(gatewayError("connection.limit"));
    const held = new Held(id, statement, end);
    mine.add(held, isOurs);
    return ok(held);
  }

  #user(name: string): User {
    const mine = new OfUser();
    const user: User = {
      mine,
      end: (held) => {
        mine.remove(held);
        const rests = mine.size === 0 && this.#users.size > restingMax;
        if (rests && this.#users.get(name) === user) this.#users.delete(name);
      },
    };
    this.#users.set(name, user);
    return user;
  }

  /** A statement of this user; nobody finds another's. */
  find(user: string, id: string): RunningStatement | undefined {
    return this.#users.get(user)?.mine.find(id);
  }

  /** Resolves when the statement of that id is over; at once where there is none. */
  async gone(user: string, id: string): Promise<void> {
    await this.#users.get(user)?.mine.find(id)?.gone();
  }
}
