/** A statement that was sent on a connection at rest, where nothing had to be waited for, and may come whole. */
import type { Asked, Waiter } from "@gateway/core/query/asked.ts";
import type { Course } from "@gateway/core/query/course.ts";
import type { DoneEvent } from "@gateway/core/query/event.ts";
import { needsLastId } from "../starRocks/client/aftermath.ts";
import type { Called, RunContext } from "./admission.ts";
import { standsThere } from "./client/bring.ts";
import { sendQuery, wholeDone, type Statement } from "./client/run.ts";
import type { Seat } from "./client/seat.ts";
import { running, statementOf } from "./lane.ts";
import { atOnce } from "./sql/atOnce.ts";
import { sentText } from "./sql/strings.ts";

export interface AskedParts {
  readonly query: Called;
  readonly context: RunContext;
  readonly signal: AbortSignal;
  /** Gives the seat back. */
  readonly leave: (seat: Seat) => void;
}

/** Undefined where something has to be asked before it, or it has no such answer: then the seat is as it was. */
export function askedOn(seat: Seat, parts: AskedParts): Asked | undefined {
  const { query, context, signal } = parts;
  const { engineSql, mysql: call, session } = query;
  const { member } = seat;
  if (call.execution !== undefined || call.next !== undefined || seat.busy) return undefined;
  if (!member.quiet || !query.takes.includes("mysqlRows")) return undefined;
  if (call.attributes !== undefined && !member.takesAttributes) return undefined;
  if (!standsThere(seat, query, context) || needsLastId(session, engineSql)) return undefined;
  const { may, leaves } = atOnce(engineSql, context);
  if (!may) return undefined;
  const { user } = session.identity;
  const text = sentText(member, query, { slices: context.slices, user, signal });
  if (text instanceof Promise || !text.ok) return undefined;
  if (leaves) seat.used = true;
  seat.busy = true;
  const statement = statementOf(
    seat,
    query,
    { context, localFiles: false, sent: text.value },
    signal,
  );
  const asked = new AskedStatement(seat, statement, parts);
  sendQuery(statement);
  return asked;
}

class AskedStatement implements Asked {
  readonly #seat: Seat;
  readonly #statement: Statement;
  readonly #parts: AskedParts;
  readonly #sentMs: number;

  constructor(seat: Seat, statement: Statement, parts: AskedParts) {
    this.#seat = seat;
    this.#statement = statement;
    this.#parts = parts;
    this.#sentMs = statement.clock.nowMs();
  }

  wait(waiter: Waiter): void {
    this.#seat.member.wait(waiter);
  }

  whole(): DoneEvent | undefined {
    const { member } = this.#seat;
    let done: DoneEvent | undefined;
    try {
      done = wholeDone(this.#statement, "mysqlRows", this.#sentMs);
      // The server has more to say, which takes a question. Of no text that asks for more one is sent here.
      const report = done?.report;
      if (done === undefined || report === undefined) return undefined;
      if (report.warnings > 0 || report.insertId !== 0n) return undefined;
      member.takeHeld();
    } catch (bug) {
      member.destroy();
      this.#leave();
      throw bug;
    }
    this.#leave();
    return done;
  }

  *course(): Course {
    const { query, signal, context } = this.#parts;
    const statement = { ...this.#statement, isSent: true };
    try {
      yield* running(this.#seat, query, { context, statement }, signal);
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    this.#seat.busy = false;
    this.#parts.leave(this.#seat);
  }
}
