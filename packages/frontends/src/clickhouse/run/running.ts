/** Statements that run for this listener's clients, by user and by the id that the client gave or got. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Canceller } from "@gateway/core/tool/canceller.ts";
import { Cells } from "@gateway/core/tool/cells.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { named } from "../errors.ts";
import { runningOfUserMax } from "../limits.ts";

/** One of them. */
export interface RunningStatement {
  readonly sql: string;
  readonly canceller: Canceller;
}

/** Is over once it is disposed. */
class Held implements RunningStatement, Disposable {
  readonly sql: string;
  readonly canceller: Canceller;
  readonly #end: () => void;
  #over = false;
  #onGone: (() => void) | undefined;

  constructor({ sql, canceller }: RunningStatement, end: () => void) {
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
    this.#end();
    this.#onGone?.();
  }
}

/** So many users without a statement are remembered (`members.ts` says why). */
const restingMax = 1_000;

export class Running {
  readonly #users = new Map<string, Cells<string, Held>>();

  /** Holds an id until disposed. Refuses one that its user's statement has already. */
  add(user: string, id: string, statement: RunningStatement): Result<Disposable, GatewayError> {
    const known = this.#users.get(user);
    const mine = known ?? new Cells<string, Held>();
    if (mine.get(id) !== undefined) {
      const message = `Query with id = ${id} is already running`;
      const vendor = named("QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING");
      return err(gatewayError("query.conflict", { message, vendor }));
    }
    if (mine.size >= runningOfUserMax) return err(gatewayError("connection.limit"));
    const held = new Held(statement, () => {
      mine.delete(id);
      const rests = mine.size === 0 && this.#users.size > restingMax;
      if (rests && this.#users.get(user) === mine) this.#users.delete(user);
    });
    mine.set(id, held);
    if (known === undefined) this.#users.set(user, mine);
    return ok(held);
  }

  /** A statement of this user; nobody finds another's. */
  find(user: string, id: string): RunningStatement | undefined {
    return this.#users.get(user)?.get(id);
  }

  /** Resolves when the statement of that id is over; at once where there is none. */
  async gone(user: string, id: string): Promise<void> {
    await this.#users.get(user)?.get(id)?.gone();
  }
}
