/** Thread program: the parser of SQL. It takes seconds for some texts and is then ended from outside, so nothing is kept here between two requests but what is found again. */
import { parentPort } from "node:worker_threads";
import { init } from "@polyglot-sql/sdk";
import type { SqlMessage, SqlReply } from "./message.ts";
import { done } from "./tasks.ts";

parentPort?.on("message", (message: SqlMessage) => {
  const output = done(message);
  parentPort?.postMessage({ kind: "done", output } satisfies SqlReply);
});

await init();
parentPort?.postMessage({ kind: "ready" } satisfies SqlReply);
