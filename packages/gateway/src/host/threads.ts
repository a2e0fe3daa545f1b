/** Threads and child processes of the process: each name is one file of the bundle. */
import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Thread, Threads } from "@gateway/core/port/threads.ts";

const files = {
  adbc: "adbcThread.js",
  catalogMirror: "catalogMirrorThread.js",
  hash: "hashThread.js",
  judge: "judgeThread.js",
  pglite: "pgliteThread.js",
} as const;

const programs = { adbc: "adbcProcess.js" } as const;

/** `bundle` is the folder that holds the built thread programs. */
export function workerThreads(bundle: URL): Threads {
  return {
    start: (name, data) =>
      threadOf(new Worker(new URL(files[name], bundle), { workerData: data, name })),
    spawn: (name, data) => {
      // No environment: secrets of the process live there, and drivers read variables of their own.
      const options: ForkOptions = {
        serialization: "advanced",
        execArgv: [],
        env: {},
        stdio: "ignore",
      };
      const child = fork(fileURLToPath(new URL(programs[name], bundle)), [], options);
      child.send({ kind: "start", data });
      return processOf(child);
    },
  };
}

function processOf(child: ChildProcess): Thread {
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  let failure: unknown;
  child.on("error", (error) => {
    failure = error;
  });
  return {
    // A child that is gone takes nothing; its exit says so.
    post: (message) => void child.send(message as object, () => {}),
    onMessage: (handle) => void child.on("message", handle),
    onExit: (handle) => void gone.then(() => handle(failure)),
    ref: (on) => {
      if (on) child.ref();
      else child.unref();
      if (on) child.channel?.ref();
      else child.channel?.unref();
    },
    terminate: async () => {
      child.kill("SIGKILL");
      if (child.pid !== undefined) await gone;
    },
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
