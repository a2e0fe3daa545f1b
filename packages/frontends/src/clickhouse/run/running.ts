/** Statements that run for this listener's clients, by user and by the id that the client gave or got. */
import { onDispose } from "@gateway/core/tool/onDispose.ts";
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

interface Held extends RunningStatement {
  readonly gone: Promise<void>;
}

/** So many users without a statement are remembered (`members.ts` says why). */
const restingMax = 1_000;

export class Running {
  readonly #users = new Map<string, Cells<string, Held>>();

  /** Holds an id until disposed. Refuses one that its user's statement has already. */
  add(user: string, id: string, statement: RunningStatement): Result<Disposable, GatewayError> {
    const mine = this.#users.get(user) ?? new Cells<string, Held>();
    if (mine.get(id) !== undefined) {
      const message = `Query with id = ${id} is already running`;
      const vendor = named("QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING");
      return err(gatewayError("query.conflict", { message, vendor }));
    }
    if (mine.size >= runningOfUserMax) return err(gatewayError("connection.limit"));
    let ended: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => (ended = resolve));
    mine.set(id, { sql: statement.sql, canceller: statement.canceller, gone });
    this.#users.set(user, mine);
    const end = onDispose(() => {
      ended?.();
      mine.delete(id);
      const rests = mine.size === 0 && this.#users.size > restingMax;
      if (rests && this.#users.get(user) === mine) this.#users.delete(user);
    });
    return ok(end);
  }

  /** A statement of this user; nobody finds another's. */
  find(user: string, id: string): RunningStatement | undefined {
    return this.#users.get(user)?.get(id);
  }

  /** Resolves when the statement of that id is over; at once where there is none. */
  async gone(user: string, id: string): Promise<void> {
    await this.#users.get(user)?.get(id)?.gone;
  }
}
