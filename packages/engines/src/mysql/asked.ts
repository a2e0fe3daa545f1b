/** A statement that was sent on a connection at rest, where nothing had to be waited for, and may come whole. */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Asked, Waiter } from "@gateway/core/query/asked.ts";
import type { Course } from "@gateway/core/query/course.ts";
import type { DoneEvent } from "@gateway/core/query/event.ts";
import { needsLastId } from "../starRocks/client/aftermath.ts";
import type { Member } from "../starRocks/client/member.ts";
import type { Called, RunContext } from "./admission.ts";
import { standsThere } from "./client/bring.ts";
import { sendQuery, wholeDone, type Statement } from "./client/run.ts";
import type { Seat } from "./client/seat.ts";
import { running } from "./lane.ts";
import { atOnce } from "./sql/atOnce.ts";
import { sentText } from "./sql/strings.ts";

/** The same for all statements on connections of a pool. */
export interface AskedParts {
  readonly context: RunContext;
  /** Gives the seat back. */
  readonly leave: (seat: Seat) => void;
}

/** Undefined where something has to be asked before it, or it has no such answer: then the seat is as it was. */
export function askedOn(
  seat: Seat,
  query: Called,
  parts: AskedParts,
  signal: AbortSignal,
): Asked | undefined {
  const { context } = parts;
  const { engineSql, mysql: call, session, parameters } = query;
  const { member } = seat;
  if (call.execution !== undefined || call.next !== undefined || seat.busy) return undefined;
  if (!member.quiet || !query.takes.includes("mysqlRows")) return undefined;
  if (call.attributes !== undefined && !member.takesAttributes) return undefined;
  if (!standsThere(seat, query, context) || needsLastId(session, engineSql)) return undefined;
  const { may, leaves } = atOnce(engineSql, context);
  if (!may) return undefined;
  let sent = engineSql;
  // Without either it goes as it is.
  if (parameters.length > 0 || member.variables.size > 0) {
    const { user } = session.identity;
    const text = sentText(member, query, { slices: context.slices, user, signal });
    if (text instanceof Promise || !text.ok) return undefined;
    sent = text.value;
  }
  if (leaves) seat.used = true;
  seat.busy = true;
  const asked = new AskedStatement({ seat, query, sent, signal }, parts);
  sendQuery(asked);
  return asked;
}

/** Statement and what was asked are one object: each query makes one. */
class AskedStatement implements Asked, Statement {
  readonly member: Member;
  readonly clock: Clock;
  readonly query: Called;
  readonly sent: string;
  readonly tag: string;
  readonly call: Called["mysql"];
  readonly native = true;
  readonly mayComeWhole = true;
  readonly localFiles = false;
  readonly signal: AbortSignal;
  readonly isSent = true;
  readonly #seat: Seat;
  readonly #parts: AskedParts;
  readonly #sentMs: number;

  constructor(
    {
      seat,
      query,
      sent,
      signal,
    }: { readonly seat: Seat } & Pick<Statement, "sent" | "signal"> & { readonly query: Called },
    parts: AskedParts,
  ) {
    const { clock } = parts.context;
    this.member = seat.member;
    this.clock = clock;
    this.query = query;
    this.sent = sent;
    this.tag = query.statement.tag;
    this.call = query.mysql;
    this.signal = signal;
    this.#seat = seat;
    this.#parts = parts;
    this.#sentMs = clock.nowMs();
  }

  wait(waiter: Waiter): void {
    this.member.wait(waiter);
  }

  whole(): DoneEvent | undefined {
    const { member } = this;
    let done: DoneEvent | undefined;
    try {
      done = wholeDone(this, "mysqlRows", this.#sentMs);
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
    const { context } = this.#parts;
    try {
      yield* running(this.#seat, this.query, { context, statement: this }, this.signal);
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    this.#seat.busy = false;
    this.#parts.leave(this.#seat);
  }
}
