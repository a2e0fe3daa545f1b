/**
 * The life of what a request submitted, as data: what those who ask for it are answered in each state. The answers are
 * written in `page/`.
 */

/** `running`: something of it may still come. */
export type State = "running" | "succeeded" | "failed";

/** Who asks: the request that submitted it and does not wait for it, or one that wants its result. */
export type Ask = "submitAsync" | "result";

/** `wait`: until it is over, or for a while. `inProgress` and `inProgressAsync`: ask again by its id. */
export type Reply = "wait" | "inProgress" | "inProgressAsync" | "rows" | "error";

/** What is answered at once. What a request is answered that has waited, `afterWait` says. */
export const replies: Readonly<Record<State, Readonly<Record<Ask, Reply>>>> = {
  running: { submitAsync: "inProgressAsync", result: "wait" },
  succeeded: { submitAsync: "inProgressAsync", result: "rows" },
  failed: { submitAsync: "inProgressAsync", result: "error" },
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
