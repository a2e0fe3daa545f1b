/**
 * Savepoints of a transaction whose engine has none. SAVEPOINT and RELEASE are remembered; ROLLBACK TO
 * succeeds only where success is true:
 *
 * | since the savepoint                       | before it              | ROLLBACK TO                   |
 * | ----------------------------------------- | ---------------------- | ----------------------------- |
 * | nothing changed, and the engine goes on   | whatever               | does nothing                  |
 * | something changed, or the engine gave up  | nothing changed        | rolls all back, begins anew   |
 * | something changed, or the engine gave up  | something changed      | refused, all has to be undone |
 *
 * A transaction begun anew sees what others committed meanwhile, so one that asked for more than READ
 * COMMITTED is begun anew only when it had not even read before the savepoint.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import { err, ok, type Result } from "../../result.ts";
import type { Division, TransactionModes } from "../../sql/session/statement.ts";
import type { Statement } from "../../sql/statement.ts";
import type { Query } from "../../query/query.ts";

/** What ROLLBACK TO undoes: nothing, where the engine goes on; or all that was done so far. */
export type WayBack = { readonly kind: "stay" } | { readonly kind: "anew" };

interface Point {
  readonly name: string;
  /** Statements that had run, and those of them that may have changed something. */
  readonly ran: number;
  readonly changed: number;
}

/** One transaction keeps no more of them; PostgreSQL has no such limit. */
const pointsMax = 1000;

/** Outside of a transaction: PostgreSQL refuses all three; elsewhere SAVEPOINT succeeds and is forgotten, as on MySQL. */
export function divideNothing(division: Division, { session }: Query): GatewayError | undefined {
  if (session.dialect !== "postgres") {
    return division.kind === "savepoint" ? undefined : unknownPoint(division.name);
  }
  const word = wordsOf[division.kind];
  const message = `${word} can only be used in transaction blocks`;
  return gatewayError("query.transaction", { sqlState: "25P01", message });
}

/** The name of the statement as PostgreSQL writes it. */
export const wordsOf = {
  savepoint: "SAVEPOINT",
  releaseSavepoint: "RELEASE SAVEPOINT",
  rollbackToSavepoint: "ROLLBACK TO SAVEPOINT",
} as const satisfies Record<Division["kind"], string>;

/** What was done in a transaction so far, by numbers, and the savepoints in it. */
export class Savepoints {
  #points: Point[] = [];
  #ran = 0;
  #changed = 0;
  /** The last statement failed, and was counted as a change. */
  #undecided = false;

  /** A statement goes to the engine. */
  run(statement: Statement): void {
    this.#ran += 1;
    this.#undecided = false;
    if (mayChange(statement)) this.#changed += 1;
  }

  /** That statement failed. */
  fail(statement: Statement): void {
    this.#undecided = mayChange(statement);
  }

  set(name: string): GatewayError | undefined {
    if (this.#points.length >= pointsMax) {
      const message = `a transaction has no more than ${pointsMax} savepoints`;
      return gatewayError("query.invalid", { sqlState: "54000", message });
    }
    this.#points.push({ name, ran: this.#ran, changed: this.#changed });
    return undefined;
  }

  /** Forgets it and those behind it. */
  release(name: string): GatewayError | undefined {
    const at = this.#indexOf(name);
    if (at < 0) return unknownPoint(name);
    this.#points.length = at;
    return undefined;
  }

  /** The error of a name that no savepoint has. */
  unknown(name: string): GatewayError | undefined {
    return this.#indexOf(name) < 0 ? unknownPoint(name) : undefined;
  }

  /**
   * What it takes to go back. `goesOn` asks the engine whether the transaction is alive and its last statement,
   * if it failed, changed nothing; `strict` for more than READ COMMITTED. `query.unsupported` where
   * there is no way back.
   */
  async wayBack(
    name: string,
    strict: boolean,
    goesOn: () => Promise<boolean>,
  ): Promise<Result<WayBack, GatewayError>> {
    const point = this.#points[this.#indexOf(name)];
    if (point === undefined) return err(unknownPoint(name));
    const changed = this.#changed - (this.#undecided ? 1 : 0);
    if (changed === point.changed && (await goesOn())) return ok({ kind: "stay" });
    if (point.changed === 0 && !(strict && point.ran > 0)) return ok({ kind: "anew" });
    return err(noWayBack());
  }

  /** The transaction is back at the savepoint; later ones are gone. */
  back(name: string): void {
    const at = this.#indexOf(name);
    const point = this.#points[at];
    if (point === undefined) return;
    this.#points.length = at + 1;
    this.#changed = point.changed;
    this.#undecided = false;
  }

  /** Another transaction follows. */
  clear(): void {
    this.#points = [];
    this.#ran = 0;
    this.#changed = 0;
    this.#undecided = false;
  }

  #indexOf(name: string): number {
    return this.#points.findLastIndex((point) => point.name === name);
  }
}

function mayChange({ writes, doubt }: Statement): boolean {
  return writes || doubt !== undefined;
}

/** Whether the client may count on seeing nothing new once it has read. MySQL's clients may unless they say otherwise. */
export function isStrict({ isolation }: TransactionModes, { session }: Query): boolean {
  if (session.dialect !== "postgres") return true;
  if (isolation !== undefined)
    return isolation === "repeatableRead" || isolation === "serializable";
  const { settings } = session;
  const set =
    settings.get("transaction_isolation") ?? settings.get("default_transaction_isolation") ?? "";
  return /^(?:repeatable|serializable)/i.test(set);
}

function unknownPoint(name: string): GatewayError {
  const message = `savepoint "${name}" does not exist`;
  return gatewayError("query.invalid", { sqlState: "3B001", message });
}

function noWayBack(): GatewayError {
  const message =
    "the engine has no savepoints and what was done before this one would be lost; the transaction can only be rolled back as a whole";
  return gatewayError("query.unsupported", { message });
}
