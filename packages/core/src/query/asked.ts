/** A statement that an engine was sent at once, and whose whole answer is likely to come in one piece. */
import type { GatewayError } from "../error.ts";
import type { Course } from "./course.ts";
import type { DoneEvent, ResultEvent, ResultStream } from "./event.ts";

/** Whoever waits for an answer. */
export interface Waiter {
  /** Something of it is here, or nothing will come any more. Must not throw: the engine's socket calls it. */
  came(): void;
}

/** It is taken once: whole, or as a course. Until then its connection is its own. */
export interface Asked {
  /** Calls the waiter once. */
  wait(waiter: Waiter): void;
  /** The end of the statement with its result, where all of it is here: everything is given back then. Its time is for the caller to count. A bug that is thrown gives everything back, too. */
  whole(): DoneEvent | undefined;
  /** What comes of it, event by event, where it did not come whole, or has to be cancelled. Whoever takes it begins it at once. */
  course(): Course;
}

/** Who reads a query whose client polls. Told without promises; none of it may throw, because the engine's socket calls it. */
export interface PollReader {
  /** The engine was asked. */
  runs(event: ResultEvent): void;
  /** All that there is to tell. The engine is done; `rows`, of a result, hears when the query is over. */
  whole(events: readonly ResultEvent[], rows?: UntakenRows): void;
  /** It goes on as a stream, which is to be asked for its first event at once. */
  goesOn(stream: ResultStream): void;
  /** Nothing that is not taken yet is given any more, but why. */
  end(reason: GatewayError): void;
}

/** A result that is here whole, and of which its client has not taken the end. */
export interface UntakenRows {
  /** Called once, with the reason where the end will not be taken. */
  taken(reason?: GatewayError): void;
}
