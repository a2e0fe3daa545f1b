/**
 * The life of what a request submitted, as data: what each kind of request is answered in each state. The answers are
 * written in `page/`.
 */

/** `running`: something of it may still come. */
export type State = "running" | "succeeded" | "failed";

/** Who asks: the request that submitted it, with or without waiting; later ones; what only looks; what ends it. */
export type Ask = "submit" | "submitAsync" | "result" | "monitor" | "abort";

/** `wait`: until it is over, or for a while. `inProgress` and `inProgressAsync`: ask again by its id. */
export type Reply =
  | "wait"
  | "inProgress"
  | "inProgressAsync"
  | "rows"
  | "error"
  | "state"
  | "ended";

/** What is answered at once. A request that waited asks again as `afterWait` says. */
export const replies: Readonly<Record<State, Readonly<Record<Ask, Reply>>>> = {
  running: {
    submit: "wait",
    submitAsync: "inProgressAsync",
    result: "wait",
    monitor: "state",
    abort: "ended",
  },
  succeeded: {
    submit: "rows",
    submitAsync: "inProgressAsync",
    result: "rows",
    monitor: "state",
    abort: "ended",
  },
  failed: {
    submit: "error",
    submitAsync: "inProgressAsync",
    result: "error",
    monitor: "state",
    abort: "ended",
  },
};

/** What a request that has waited is answered: it is never held again. */
export function afterWait(state: State): Exclude<Reply, "wait"> {
  const reply = replies[state].result;
  return reply === "wait" ? "inProgress" : reply;
}

/** As `monitoring` calls them. */
export const stateNames: Readonly<Record<State, string>> = {
  running: "RUNNING",
  succeeded: "SUCCESS",
  failed: "FAILED_WITH_ERROR",
};
