/**
 * One Python interpreter that holds compiled scripts, and the calls to it, one after the other (pythonLauncher.py is the
 * other end).
 *
 * It believes nothing of what comes back: an answer begins with a number that only this call knows, because a script
 * could write more than its own answer, for the next one to be taken for.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { answerBytesMax, callMsMax, saidBytesMax, startMsMax, told } from "./limits.ts";

/** How one call ended. After everything but `answered` and `cut` the interpreter is gone. */
export type Outcome =
  /** `json`: as `run` of the launcher answers. */
  | { readonly kind: "answered"; readonly json: string }
  /** It took more processor time or more time than it may. */
  | { readonly kind: "cut" }
  /** It could not be confined, so no script ran. */
  | { readonly kind: "refused"; readonly reason: string }
  /** It ended without an answer. */
  | { readonly kind: "lost"; readonly how: string }
  /** The interpreter is gone, or what came belonged to no call. The call may be made again: it changes nothing. */
  | { readonly kind: "stray"; readonly how: string };

export interface PythonSource {
  /** What stacks name. */
  readonly file: string;
  readonly source: string;
}

export interface PythonProgram {
  /** Path of the interpreter. */
  readonly python: string;
  /** Text of the launcher. */
  readonly launcher: string;
  readonly clock: Clock;
}

const nonceBytes = 16;
const headBytes = nonceBytes + 4;
/** The launcher's own words for how a process ended. */
const refusedStatus = 3;
const sigprof = -27;
const sigxcpu = -24;

interface Running {
  readonly nonce: Buffer;
  readonly resolve: (outcome: Outcome) => void;
  readonly limit: Disposable;
  /** Set once the process of the call is gone. */
  status: number | undefined;
}

export class PythonProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #control: Socket;
  readonly #gone: Promise<unknown>;
  #said = "";
  #came: Buffer[] = [];
  #cameBytes = 0;
  #call: Running | undefined;
  #ready: ((ready: Result<PythonProcess, string>) => void) | undefined;
  #over = false;
  #lastWords = "";

  private constructor({ python, launcher, clock }: PythonProgram) {
    this.#clock = clock;
    // Of the environment nothing but what makes the order of sets the same in every process.
    const args = ["-S", "-s", "-B", "-X", "utf8", "-c", launcher];
    this.#child = spawn(python, args, {
      cwd: "/",
      env: { PYTHONHASHSEED: "0" },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      // A group of its own, so that the process of a call ends with it.
      detached: true,
    });
    const control = this.#child.stdio[3];
    if (!(control instanceof Socket)) throw new Error("a child has no line for its control");
    this.#control = control;
    for (const line of this.#child.stdio) {
      if (!(line instanceof Socket)) continue;
      line.unref();
      // A line ends with its process, whose exit is reported separately.
      line.on("error", () => {});
    }
    this.#child.stderr?.on("data", (bytes: Buffer) => {
      this.#lastWords = (this.#lastWords + bytes.toString("latin1")).slice(-200);
    });
    control.on("data", (bytes: Buffer) => this.#take(bytes));
    this.#child.stdout?.on("data", (bytes: Buffer) => this.#answer(bytes));
    this.#gone = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(this.#ended(error.message)));
      this.#child.once("exit", (code, signal) =>
        resolve(this.#ended(signal ?? `exit code ${code ?? "unknown"}`)),
      );
    });
  }

  /** Answers why it can not run scripts within limits. */
  static async start(program: PythonProgram): Promise<Result<PythonProcess, string>> {
    const process = new PythonProcess(program);
    const ready = new Promise<Result<PythonProcess, string>>((resolve) => {
      process.#ready = resolve;
    });
    using _limit = program.clock.timer(startMsMax, () => process.#beReady(err("does not start")));
    const limits = Buffer.from(JSON.stringify(told));
    process.#control.write(Buffer.concat([lengthOf(limits), limits]));
    const started = await ready;
    // Only a start and calls keep this process alive.
    process.#child.unref();
    if (!started.ok) process.kill();
    return started;
  }

  /** Whether it takes no call any more. */
  get over(): boolean {
    return this.#over;
  }

  /** Of the interpreter; for tests and logs. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Compiles a script, runs its file once and keeps it: its number is how many were opened before. */
  open(source: PythonSource): Promise<Outcome> {
    const text = Buffer.from(JSON.stringify(source));
    return this.#run(Buffer.concat([wish("o", text.length), text]), "null");
  }

  /** `args`: a JSON list. One call at a time. */
  call(script: number, args: string): Promise<Outcome> {
    return this.#run(wish("c", script), args);
  }

  /** Ends it with whatever runs. */
  kill(): void {
    this.#over = true;
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) {
      return;
    }
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Gone in this moment.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.ref();
    this.kill();
    await this.#gone;
  }

  #run(control: Buffer, args: string): Promise<Outcome> {
    if (this.#call !== undefined) throw new Error("an interpreter takes one call at a time");
    if (this.#over) return Promise.resolve({ kind: "stray", how: "it is gone" });
    this.#child.ref();
    return new Promise((resolve) => {
      const nonce = randomBytes(nonceBytes);
      const limit = this.#clock.timer(callMsMax, () => this.#end({ kind: "cut" }, "kill"));
      this.#call = { nonce, resolve, limit, status: undefined };
      const asked = Buffer.from(args);
      this.#child.stdin?.write(Buffer.concat([nonce, lengthOf(asked), asked]));
      this.#control.write(control);
    });
  }

  #end(outcome: Outcome, after: "kill" | "keep"): void {
    const call = this.#call;
    this.#call = undefined;
    this.#came = [];
    this.#cameBytes = 0;
    call?.limit[Symbol.dispose]();
    this.#child.unref();
    if (after === "kill") this.kill();
    call?.resolve(outcome);
  }

  #take(bytes: Buffer): void {
    this.#said += bytes.toString("latin1");
    if (this.#said.length > saidBytesMax) return this.#end(noCall, "kill");
    for (;;) {
      const end = this.#said.indexOf("\n");
      if (end < 0) return;
      const line = this.#said.slice(0, end);
      this.#said = this.#said.slice(end + 1);
      this.#hear(JSON.parse(line) as Said);
    }
  }

  #hear(said: Said): void {
    if (said.ready !== undefined) return this.#beReady(ok(this));
    if (said.refused !== undefined) return this.#beReady(err(said.refused));
    if (said.ended === undefined || this.#call === undefined) return;
    this.#call.status = said.ended;
    this.#settle();
  }

  #beReady(ready: Result<PythonProcess, string>): void {
    this.#ready?.(ready);
    this.#ready = undefined;
  }

  #answer(bytes: Buffer): void {
    if (this.#call === undefined) return this.#end(noCall, "kill");
    this.#came.push(bytes);
    this.#cameBytes += bytes.length;
    if (this.#cameBytes > answerBytesMax + headBytes) return this.#end(tooLong, "kill");
    if (this.#call.status !== undefined) this.#settle();
  }

  /** Whoever wrote is gone. What it wrote lies in the socket, and may have to be read yet. */
  #settle(): void {
    const call = this.#call;
    if (call?.status === undefined) return;
    if (call.status === sigprof || call.status === sigxcpu) {
      return this.#end({ kind: "cut" }, this.#cameBytes > 0 ? "kill" : "keep");
    }
    const found = readFrame(Buffer.concat(this.#came), call.nonce);
    if (found.kind === "whole") {
      if (call.status !== refusedStatus) {
        return this.#end({ kind: "answered", json: found.json }, "keep");
      }
      const { refused = "" } = JSON.parse(found.json) as Said;
      return this.#end({ kind: "refused", reason: refused }, "kill");
    }
    if (found.kind === "wrong") return this.#end(noCall, "kill");
    const seen = this.#cameBytes;
    setImmediate(() =>
      setImmediate(() => {
        if (this.#call !== call || this.#cameBytes !== seen) return;
        this.#end({ kind: "lost", how: howOf(call.status ?? 0) }, "kill");
      }),
    );
  }

  #ended(how: string): void {
    this.#over = true;
    this.#beReady(err(`ended before it was ready (${how}) ${this.#lastWords}`.trim()));
    if (this.#call !== undefined) this.#end({ kind: "stray", how }, "kill");
  }
}

/** What the launcher says over its line. */
interface Said {
  readonly ready?: string;
  readonly refused?: string;
  readonly ended?: number;
}

const noCall: Outcome = { kind: "stray", how: "what came belonged to no call" };
const tooLong: Outcome = { kind: "lost", how: "it wrote more than an answer may be" };

type Frame =
  | { readonly kind: "whole"; readonly json: string }
  | { readonly kind: "part" }
  | { readonly kind: "wrong" };

function readFrame(came: Buffer, nonce: Buffer): Frame {
  const begin = came.subarray(0, nonceBytes);
  if (!begin.equals(nonce.subarray(0, begin.length))) return { kind: "wrong" };
  if (came.length < headBytes) return { kind: "part" };
  const end = headBytes + came.readUInt32LE(nonceBytes);
  if (came.length < end) return { kind: "part" };
  if (came.length > end) return { kind: "wrong" };
  return { kind: "whole", json: came.toString("utf8", headBytes) };
}

function howOf(status: number): string {
  return status < 0 ? `signal ${-status}` : `exit code ${status}`;
}

function wish(what: "o" | "c", number: number): Buffer {
  const bytes = Buffer.alloc(5, what);
  bytes.writeUInt32LE(number, 1);
  return bytes;
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return length;
}
