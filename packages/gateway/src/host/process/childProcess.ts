/** A child process and the sockets to it, as the port of core/port/threads.ts wants them. What the two say to each other is not known here. */
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

/** Of what a process wrote to its standard error, only the end is kept: libraries say there why they abort. */
const lastWordsMax = 2_048;

/** Starts `program`; its ends of the lines are its descriptors from `firstLine` on. */
export function spawnChild(program: string, pairs: readonly SocketPair[]): ChildProcess {
  // No environment: secrets of the process live there, and drivers read variables of their own.
  const options: ForkOptions = {
    serialization: "advanced",
    execArgv: [],
    env: {},
    stdio: ["ignore", "ignore", "pipe", "ipc", ...pairs.map(({ theirs }) => theirs)],
  };
  const child = fork(program, [], options);
  for (const { theirs } of pairs) closeSync(theirs);
  // Its lines keep us alive while somebody waits for them, and nothing else does.
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
    // A child that is gone takes nothing; its exit says so.
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
  // The end of a line is the end of its process, which is told by itself.
  socket.on("error", () => {});
  socket.once("close", () => reader.end());
  return {
    write: (bytes) => void socket.write(bytes),
    resume: () => void socket.resume(),
    ref: (on) => void (on ? socket.ref() : socket.unref()),
  };
}
