/**
 * The program of a driver's process. Messages tell it which driver to load, which lines to serve
 * and what to cancel; its threads read the lines themselves.
 *
 * It lives as long as its parent: a native call would keep it from an orderly end, so it kills
 * itself.
 */
import { writeFileSync } from "node:fs";
import type { ProcessMessage, ProcessReport } from "@gateway/engines/native/message.ts";
import { endWithParent } from "@gateway/engines/native/memory/native.ts";
import { serveDriver } from "@gateway/engines/native/reach/process.ts";
import { firstLine } from "./childProcess.ts";
import { watchMemory } from "../memory/processMemory.ts";
import { workerThreads } from "./threads.ts";

/**
 * A gateway that asked once whether we live asks again every two seconds while it waits. One that
 * stops asking is frozen. Others may get its slots after 15 s at the earliest, and nothing may run
 * here by then.
 */
const silenceMsMax = 10_000;
let silence: NodeJS.Timeout | undefined;

endWithParent();
preferredVictim();
const threads = workerThreads(new URL(".", import.meta.url));
const serve = serveDriver(
  threads,
  {
    answer: () => {
      clearTimeout(silence);
      silence = setTimeout(endNow, silenceMsMax);
      report("pong");
    },
    rest: () => clearTimeout(silence),
    bound: (memoryMax) => watchMemory(memoryMax, () => report("overgrown")),
    lost: endNow,
  },
  firstLine,
);

process.on("disconnect", endNow);
// A terminal's Ctrl-C reaches this process as well. The parent drains first and then ends it.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("message", (message: ProcessMessage) => serve(message));

function report(what: ProcessReport): void {
  process.send?.(what, undefined, undefined, endOnError);
}

function endOnError(error: Error | null): void {
  if (error !== null) endNow();
}

function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

/** When the machine runs out of memory, a query's process is ended rather than the gateway. */
function preferredVictim(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "800");
  } catch {
    // Not Linux, or not allowed. The system then chooses the largest process, which is this one,
    // too.
  }
}
