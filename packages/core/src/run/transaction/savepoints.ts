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
 *
 * Some engines can not say whether they go on, and there a function that a query calls may change something
 * (`PinnedLane.goesOn`). Nothing was changed there when all that ran were queries that succeeded and call nothing.
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
  /** The last that may have left something: it changes or calls something, failed, or was left unread. 0 for none. */
  #lastTrace = 0;
  #traceBefore = 0;

  /** A statement goes to the engine. */
  run(statement: Statement): void {
    this.#ran += 1;
    this.#undecided = false;
    if (mayChange(statement)) this.#changed += 1;
    this.#traceBefore = this.#lastTrace;
    this.#lastTrace = this.#ran;
  }

  /** That statement failed. */
  fail(statement: Statement): void {
    this.#undecided = mayChange(statement);
  }

  /** That statement succeeded. */
  succeed(statement: Statement): void {
    // What ran before all savepoints is of no interest, and looking for calls takes time.
    if (this.#points.length === 0 || mayChange(statement) || mayCall(statement)) return;
    this.#lastTrace = this.#traceBefore;
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
   * if it failed, changed nothing; undefined where the engine can not be asked. `strict` for more than READ
   * COMMITTED. `query.unsupported` where there is no way back.
   */
  async wayBack(
    name: string,
    strict: boolean,
    goesOn: (() => Promise<boolean>) | undefined,
  ): Promise<Result<WayBack, GatewayError>> {
    const point = this.#points[this.#indexOf(name)];
    if (point === undefined) return err(unknownPoint(name));
    if (goesOn === undefined) {
      if (this.#lastTrace <= point.ran) return ok({ kind: "stay" });
      return point.ran === 0 ? ok({ kind: "anew" }) : err(noWayBack());
    }
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
    this.#lastTrace = Math.min(this.#lastTrace, point.ran);
    this.#undecided = false;
  }

  /** Another transaction follows. */
  clear(): void {
    this.#points = [];
    this.#ran = 0;
    this.#changed = 0;
    this.#undecided = false;
    this.#lastTrace = 0;
  }

  #indexOf(name: string): number {
    return this.#points.findLastIndex((point) => point.name === name);
  }
}

function mayChange({ writes, doubt }: Statement): boolean {
  return writes || doubt !== undefined;
}

/** What stands before a bracket without being called, and functions that nobody replaces. */
const callsNothing: ReadonlySet<string> = new Set(
  "all and any as avg by case cast coalesce count distinct else except exists from having in intersect join max min not nullif on or over select some sum then union using values when where with".split(
    " ",
  ),
);

/** A longer text is not looked at, nor what stands further before a bracket. */
const callTextMax = 65_536;
const nameBefore = 80;

/** Whether a query may call a function of somebody's own. In doubt it does: a comment may hide the name. */
function mayCall({ sql }: Statement): boolean {
  if (sql.length > callTextMax || /--|\/\*|#/.test(sql)) return true;
  for (let at = sql.indexOf("("); at >= 0; at = sql.indexOf("(", at + 1)) {
    const before = sql.slice(Math.max(0, at - nameBefore), at).trimEnd();
    const name = /[\p{L}\p{N}_$."`\]]*$/u.exec(before)?.[0] ?? "";
    if ((before === "" && at > 0) || (name !== "" && !callsNothing.has(name.toLowerCase()))) {
      return true;
    }
  }
  return false;
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
