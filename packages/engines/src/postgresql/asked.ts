/** A statement that was sent on a connection at rest, where nothing had to be waited for, and may come whole. */
import type { Asked, Waiter } from "@gateway/core/query/asked.ts";
import type { Course } from "@gateway/core/query/course.ts";
import type { DoneEvent } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { standsThere } from "./bringing.ts";
import { callAs, findsOf, judgedIn } from "./call.ts";
import type { Taken } from "./client/pool.ts";
import { mayComeWhole, send, type Call } from "./client/run.ts";
import { doneWhole } from "./client/whole.ts";
import { courseOfCall, type RunContext } from "./lane.ts";

/** Undefined where something has to be asked before it, or it has no such answer: then the connection is as it was. */
export function askedOn(
  taken: Taken,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Asked | undefined {
  const { member } = taken;
  const { call } = query;
  if (call?.resultFormats === undefined || call.copy !== undefined) return undefined;
  if (call.statement !== undefined && context.prepares !== undefined) return undefined;
  if (member.encoding.charset !== undefined || !standsThere(member, query, context))
    return undefined;
  const judged = judgedIn(query, context);
  if (!judged.ok || findsOf(member, judged.value, context) !== undefined) return undefined;
  if (judged.value.readsSequences && member.sequences.others) return undefined;
  const made = callAs(judged.value, member, query, context);
  if (!mayComeWhole(made)) return undefined;
  member.session = query.session.process;
  const asked = new AskedStatement(taken, query, made, { context, signal });
  send(member, made);
  return asked;
}

interface Surroundings {
  readonly context: RunContext;
  readonly signal: AbortSignal;
}

class AskedStatement implements Asked {
  readonly #taken: Taken;
  readonly #query: Identified;
  readonly #call: Call;
  readonly #surroundings: Surroundings;

  constructor(taken: Taken, query: Identified, call: Call, surroundings: Surroundings) {
    this.#taken = taken;
    this.#query = query;
    this.#call = call;
    this.#surroundings = surroundings;
  }

  wait(waiter: Waiter): void {
    this.#taken.member.wait(waiter);
  }

  whole(): DoneEvent | undefined {
    const { member } = this.#taken;
    let whole: DoneEvent | undefined;
    try {
      const found = member.whole(this.#call.simple);
      if (found === undefined) return undefined;
      // Whoever asked counts the time.
      whole = doneWhole(found, 0);
    } catch (bug) {
      member.destroy();
      this.#taken[Symbol.dispose]();
      throw bug;
    }
    this.#taken.leave();
    return whole;
  }

  *course(): Course {
    const sent = { query: this.#query, call: this.#call, ahead: true };
    const { context, signal } = this.#surroundings;
    try {
      yield* courseOfCall(this.#taken.member, sent, context, signal);
    } finally {
      this.#taken[Symbol.dispose]();
    }
  }
}
