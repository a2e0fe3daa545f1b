/** Threads and child processes of the process: each name is one file of the bundle. */
import { fileURLToPath } from "node:url";
import { Worker, type ResourceLimits } from "node:worker_threads";
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import { spawnChild } from "./childProcess.ts";

const files = {
  adbc: "adbcThread.js",
  catalogMirror: "catalogMirrorThread.js",
  hash: "hashThread.js",
  judge: "judgeThread.js",
  pglite: "pgliteThread.js",
  script: "scriptThread.js",
  sql: "sqlThread.js",
} as const;

/** Some keep nothing between two requests, so a young generation as large as the main thread's would only fill memory. */
const limits: { readonly [N in keyof typeof files]?: ResourceLimits } = {
  adbc: { maxYoungGenerationSizeMb: 6 },
  catalogMirror: { maxYoungGenerationSizeMb: 6 },
  pglite: { maxYoungGenerationSizeMb: 6 },
  script: { maxYoungGenerationSizeMb: 6 },
  // Its parser recurses once for each level of nesting in a text.
  sql: { stackSizeMb: 64 },
};

/** These hold a database, and run in the program that gives back what it leaves. */
const databases: ReadonlySet<string> = new Set<keyof typeof files>(["catalogMirror", "pglite"]);
const databaseProgram = "databaseThread.js";

const programs = { adbc: "adbcProcess.js" } as const;

/** `bundle` is the folder that holds the built thread programs. */
export function workerThreads(bundle: URL): Threads {
  return {
    start: (name, data) => {
      const resourceLimits = limits[name];
      const program = new URL(files[name], bundle);
      const within = databases.has(name) ? new URL(databaseProgram, bundle) : undefined;
      const options = {
        workerData: data,
        name,
        ...(resourceLimits && { resourceLimits }),
        ...(within && { argv: [program.href] }),
      };
      return threadOf(new Worker(within ?? program, options));
    },
    spawn: (name, ...given) => spawnChild(fileURLToPath(new URL(programs[name], bundle)), ...given),
  };
}

function threadOf(worker: Worker): Thread {
  let failure: unknown;
  worker.on("error", (error) => {
    failure = error;
  });
  return {
    post: (message, transfer) =>
      worker.postMessage(message, transfer === undefined ? [] : [...transfer]),
    onMessage: (handle) => void worker.on("message", handle),
    onExit: (handle) => void worker.on("exit", () => handle(failure)),
    ref: (on) => (on ? worker.ref() : worker.unref()),
    terminate: async () => {
      await worker.terminate();
    },
  };
}
