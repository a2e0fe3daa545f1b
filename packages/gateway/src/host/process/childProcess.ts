/**
 * A child process and the sockets to it, as the port of core/port/threads.ts wants them. It does
 * not know what the two say to each other.
 */
import { fork, type ForkOptions } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket, type ConnectOpts, type SocketConstructorOpts } from "node:net";
import type {
  ChildProcess,
  Line,
  LineReader,
  ProcessEnd,
  SocketPair,
} from "@gateway/core/port/threads.ts";

/** Only the end of a process's standard error is kept: there libraries say why they abort. */
const lastWordsMax = 2_048;

/** What our clients are told of a session that chose nothing, for PostgreSQL's library, which tells its server. */
const sessionDefaults = { PGTZ: "UTC", PGDATESTYLE: "ISO, MDY" };

/** Starts `program`; its ends of the lines are its descriptors from `firstLine` on, and `memory` is behind them. */
export function spawnChild(
  program: string,
  pairs: readonly SocketPair[],
  memory?: number,
): ChildProcess {
  const theirs = pairs.map((pair) => pair.theirs);
  const shared = memory === undefined ? [] : [memory];
  // Nothing of our environment: it holds secrets, and drivers would read variables of their own.
  const options: ForkOptions = {
    serialization: "advanced",
    execArgv: [],
    env: sessionDefaults,
    stdio: ["ignore", "ignore", "pipe", "ipc", ...theirs, ...shared],
  };
  const child = fork(program, [], options);
  for (const descriptor of theirs) closeSync(descriptor);
  // Only lines that somebody waits for keep this process alive.
  child.unref();
  child.channel?.unref();
  let lastWords = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    lastWords = (lastWords + text).slice(-lastWordsMax);
  });
  if (child.stderr instanceof Socket) child.stderr.unref();
  const gone = new Promise<ProcessEnd>((resolve) => {
    child.once("exit", (code, signal) => {
      const how = signal === null ? `exit code ${code ?? "unknown"}` : `signal ${signal}`;
      resolve({ how, lastWords });
    });
    child.on("error", (error) => resolve({ how: error.message, lastWords }));
  });
  return {
    line: (index, reader) => {
      const pair = pairs[index];
      if (pair === undefined) throw new RangeError("a process has no such line");
      return lineOn(pair.ours, reader);
    },
    // A child that is gone takes no message; its exit is reported separately.
    post: (message) => void child.send(message as object, () => {}),
    onMessage: (handle) => void child.on("message", handle),
    onExit: (handle) => void gone.then(handle),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** The descriptor of a process's first line: behind the three standard ones and the channel of `fork`. */
export const firstLine = 4;

function lineOn(fd: number, reader: LineReader): Line {
  const options: SocketConstructorOpts & ConnectOpts = {
    fd,
    onread: { buffer: () => reader.place(), callback: (bytes) => reader.take(bytes) },
  };
  const socket = new Socket(options);
  socket.unref();
  // A line ends with its process, whose exit is reported separately.
  socket.on("error", () => {});
  socket.once("close", () => reader.end());
  return {
    write: (bytes) => void socket.write(bytes),
    resume: () => void socket.resume(),
    ref: (on) => void (on ? socket.ref() : socket.unref()),
  };
}
