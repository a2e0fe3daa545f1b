/** Thread program: holds the sandboxes and runs one call after the other. */
import { hrtime } from "node:process";
import { parentPort } from "node:worker_threads";
import type { FromThread, ToThread } from "./message.ts";
import { loadSandboxes, type Sandbox } from "./sandbox.ts";

const sandboxes = new Map<number, Sandbox>();
const open = await loadSandboxes(() => Number(hrtime.bigint() / 1_000n) / 1_000);
parentPort?.on("message", (message: ToThread) => {
  const answer = answerTo(message);
  if (answer !== undefined) tell(answer);
});
tell({ kind: "ready" });

function answerTo(message: ToThread): FromThread | undefined {
  switch (message.kind) {
    case "open": {
      const { script, use, source } = message;
      const opened = open(source, use);
      if (!opened.ok) return { kind: "opened", script, failure: opened.error };
      sandboxes.set(script, opened.value);
      return { kind: "opened", script };
    }
    case "close":
      sandboxes.get(message.script)?.[Symbol.dispose]();
      sandboxes.delete(message.script);
      return undefined;
    case "call": {
      const { call, script, args } = message;
      const called = sandboxes.get(script)?.call(args);
      if (called === undefined) throw new Error("a script is called that is not open");
      return called.ok
        ? { kind: "answered", call, answer: called.value }
        : { kind: "failed", call, failure: called.error };
    }
  }
}

function tell(message: FromThread): void {
  parentPort?.postMessage(message);
}
