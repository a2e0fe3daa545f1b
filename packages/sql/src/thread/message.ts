/** What the main thread and the thread with the parser tell each other. One request at a time. */
import type { SqlTasks } from "@gateway/core/port/sql/sqlWork.ts";

export type SqlMessage = {
  readonly [Task in keyof SqlTasks]: {
    readonly task: Task;
    readonly input: SqlTasks[Task]["input"];
  };
}[keyof SqlTasks];

/** `ready` once, when the parser is loaded; then one `done` for each request. */
export type SqlReply =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly output: SqlTasks[keyof SqlTasks]["output"] };
