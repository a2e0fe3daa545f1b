/**
 * One statement as its client sees it, as data: which answer a poll gets, and what is known so far.
 *
 * Answers are numbered from 0, the answer to the POST. Each but the last names the next number. Asking
 * again for the last one given repeats it, because a client that lost an answer can not know whether
 * we sent it; asking for the next one says that the last one arrived. Pure: no clock, no socket.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type {
  DoneEvent,
  QueryStats,
  ResultEvent,
  SessionChange,
} from "@gateway/core/query/event.ts";
import type { Column } from "@gateway/core/type/type.ts";

/** What was answered so far. */
export interface Turn {
  /** Number of the last answer given; undefined before the first. */
  readonly given: number | undefined;
  /** True when that answer was the last of all. */
  readonly over: boolean;
}

export const firstTurn: Turn = { given: undefined, over: false };

/** What a poll for an answer gets: the same bytes again, a new answer, or nothing, because that number is past or not due. */
export function ask(turn: Turn, token: number): "repeat" | "next" | "gone" {
  if (token === turn.given) return "repeat";
  if (turn.over) return "gone";
  return token === nextToken(turn) ? "next" : "gone";
}

/** The number of the answer that is due. */
export function nextToken(turn: Turn): number {
  return turn.given === undefined ? 0 : turn.given + 1;
}

/** The turn after an answer was given. */
export function given(turn: Turn, over: boolean): Turn {
  return { given: nextToken(turn), over };
}

export interface Notice {
  readonly code: string;
  readonly text: string;
}

/** What is known of the statement. */
export interface Progress {
  readonly state: "QUEUED" | "RUNNING" | "FINISHED" | "FAILED";
  /** Milliseconds in the queue; undefined while it is there. */
  readonly queuedMs: number | undefined;
  readonly stats: QueryStats | undefined;
  readonly columns: readonly Column[] | undefined;
  readonly error: GatewayError | undefined;
  readonly updateType: string | undefined;
  readonly updateCount: number | undefined;
  /** Changes and notices that no answer carried yet. */
  readonly changes: readonly SessionChange[];
  readonly notices: readonly Notice[];
}

export const noProgress: Progress = {
  state: "QUEUED",
  queuedMs: undefined,
  stats: undefined,
  columns: undefined,
  error: undefined,
  updateType: undefined,
  updateCount: undefined,
  changes: [],
  notices: [],
};

/** More notices of one answer are dropped: an engine may raise one per row. */
const noticesMax = 100;

/**
 * What is known after an event. `elapsedMs` counts from the receipt of the statement. Rows are not kept
 * here. All fields are written out, in one order: every event comes by, and a spread costs microseconds.
 */
export function observe(progress: Progress, event: ResultEvent, elapsedMs: number): Progress {
  switch (event.kind) {
    case "queued":
      return progress;
    case "progress":
      return event.state === "queued"
        ? { ...progress, stats: event.stats }
        : running(progress, elapsedMs, progress.columns, event.stats);
    case "session":
      return { ...progress, changes: [...progress.changes, event.change] };
    case "notice":
      return progress.notices.length >= noticesMax
        ? progress
        : { ...progress, notices: [...progress.notices, { code: event.code, text: event.text }] };
    case "columns":
      return running(progress, elapsedMs, event.columns, progress.stats);
    case "batch":
      return progress.state === "RUNNING"
        ? progress
        : running(progress, elapsedMs, progress.columns, progress.stats);
    case "done":
      return finished(progress, event, elapsedMs);
    case "failed":
      return {
        ...progress,
        state: "FAILED",
        queuedMs: progress.queuedMs ?? elapsedMs,
        error: event.error,
      };
  }
}

/** What is known once a client ended its query early: the query is finished, with a notice that rows are missing. */
export function endedEarly(progress: Progress, elapsedMs: number): Progress {
  const text = "The query was ended by its client; further rows are missing.";
  const noted = observe(progress, { kind: "notice", code: "PARTIAL_RESULT", text }, elapsedMs);
  const queuedMs = startedMs(noted, elapsedMs);
  return { ...noted, state: "FINISHED", queuedMs };
}

/** The same once an answer carried the changes and notices. */
export function carried(progress: Progress): Progress {
  if (progress.changes.length === 0 && progress.notices.length === 0) return progress;
  return { ...progress, changes: [], notices: [] };
}

/** True when nothing follows. */
export function isOver({ state }: Progress): boolean {
  return state === "FINISHED" || state === "FAILED";
}

function running(
  progress: Progress,
  elapsedMs: number,
  columns: Progress["columns"],
  stats: Progress["stats"],
): Progress {
  return {
    state: "RUNNING",
    queuedMs: startedMs(progress, elapsedMs),
    stats,
    columns,
    error: progress.error,
    updateType: progress.updateType,
    updateCount: progress.updateCount,
    changes: progress.changes,
    notices: progress.notices,
  };
}

/**
 * Clients show a statement with an update type as a change and never show its rows. One without columns
 * and without a type they take for a query whose columns got lost.
 */
function finished(progress: Progress, event: DoneEvent, elapsedMs: number): Progress {
  const changes = progress.columns === undefined;
  return {
    state: "FINISHED",
    queuedMs: startedMs(progress, elapsedMs),
    stats: event.stats,
    columns: progress.columns,
    error: progress.error,
    updateType: changes ? (event.updateType ?? "STATEMENT") : undefined,
    updateCount: changes ? event.updateCount : undefined,
    changes: progress.changes,
    notices: progress.notices,
  };
}

function startedMs({ state, queuedMs }: Progress, elapsedMs: number): number | undefined {
  return state === "RUNNING" ? queuedMs : elapsedMs;
}

/**
 * Milliseconds that rows at hand wait for the next batch or the end. Engines send the end of a short
 * query after its rows. A client that waited long gains more from one answer with both, which saves a
 * round trip, than from rows a little sooner.
 */
export function lingerMs(elapsedMs: number, leastMs: number): number {
  return Math.max(leastMs, Math.min(elapsedMs / 2, lingerMsMax));
}

const lingerMsMax = 25;

/** The first page with rows is small, so that something is seen soon; then they grow to what transfers well. */
export function pageTargetBytes(pagesWithRows: number): number {
  return Math.min(firstPageBytes * 2 ** pagesWithRows, lastPageBytes);
}

const firstPageBytes = 64 * 1024;
const lastPageBytes = 1024 * 1024;
