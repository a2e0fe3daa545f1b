/**
 * One statement as an agent sees it, as data: which answer its handle gets, and what is known so far.
 *
 * Answers with rows, or with the end, are numbered from 0. Asking again for the last one given repeats it, because an
 * agent that lost an answer can not know whether we sent it; asking for the next one says that the last one
 * arrived. An answer that only says "it still runs" has no number: the same one stays due. Pure: no clock, no socket.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { QueryStats, ResultEvent } from "@gateway/core/query/event.ts";
import type { Column } from "@gateway/core/type/type.ts";

/** What was answered so far. */
export interface Turn {
  /** Number of the last answer given; undefined before the first. */
  readonly given: number | undefined;
  /** True when that answer was the last of all. */
  readonly over: boolean;
}

export const firstTurn: Turn = { given: undefined, over: false };

/** What a handle gets: the same answer again, a new one, or nothing, because that number is past or not due. */
export function ask(turn: Turn, token: number): "repeat" | "next" | "gone" {
  if (token === turn.given) return "repeat";
  if (turn.over) return "gone";
  return token === nextToken(turn) ? "next" : "gone";
}

/** The number of the answer that is due. */
export function nextToken(turn: Turn): number {
  return turn.given === undefined ? 0 : turn.given + 1;
}

/** The turn after an answer with a number was given. */
export function given(turn: Turn, over: boolean): Turn {
  return { given: nextToken(turn), over };
}

/** What is known of the statement. */
export interface Facts {
  readonly state: "queued" | "running" | "finished" | "failed";
  /** Its place in the queue, 1 is next; undefined where it does not wait or nobody said. */
  readonly queuePosition: number | undefined;
  readonly stats: QueryStats | undefined;
  /** Undefined while they are not known, and for a statement without a result. */
  readonly columns: readonly Column[] | undefined;
  readonly error: GatewayError | undefined;
  readonly updateType: string | undefined;
  readonly updateCount: number | undefined;
  /** What the engine said beside rows, for the next answer. */
  readonly notices: readonly string[];
}

export const noFacts: Facts = {
  state: "queued",
  queuePosition: undefined,
  stats: undefined,
  columns: undefined,
  error: undefined,
  updateType: undefined,
  updateCount: undefined,
  notices: [],
};

/** More notices of one answer, and the rest of longer ones, are dropped: an engine may raise one per row. */
const noticesMax = 20;
const noticeLengthMax = 500;

/** What is known after an event. Rows are not kept here. */
export function observe(facts: Facts, event: ResultEvent): Facts {
  switch (event.kind) {
    case "queued":
      return { ...facts, queuePosition: event.position };
    case "progress":
      return event.state === "queued"
        ? { ...facts, stats: event.stats }
        : { ...running(facts), stats: event.stats };
    // A session ends with its call, so there is nothing to take over.
    case "session":
      return facts;
    case "notice":
      return facts.notices.length >= noticesMax
        ? facts
        : { ...facts, notices: [...facts.notices, event.text.slice(0, noticeLengthMax)] };
    case "columns":
      return { ...running(facts), columns: event.columns };
    case "batch":
      return running(facts);
    case "done":
      return {
        ...running(facts),
        state: "finished",
        stats: event.stats,
        updateType: event.updateType,
        updateCount: event.updateCount,
      };
    case "failed":
      return { ...running(facts), state: "failed", error: event.error };
  }
}

/** The same once an answer carried the notices. */
export function carried(facts: Facts): Facts {
  return facts.notices.length === 0 ? facts : { ...facts, notices: [] };
}

/** True when no event follows. */
export function isOver({ state }: Facts): boolean {
  return state === "finished" || state === "failed";
}

function running(facts: Facts): Facts {
  return facts.state === "running"
    ? facts
    : { ...facts, state: "running", queuePosition: undefined };
}
