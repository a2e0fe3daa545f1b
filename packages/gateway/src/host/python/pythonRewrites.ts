/**
 * Rewrites in Python of this process: opened at its start, each call in a process that can open, reach and start nothing.
 * Calls are made one at a time, in turns of users. An interpreter that is gone is started again by the next call.
 */
import { scriptAnswer, scriptAnswerText, type ScriptAnswers } from "@gateway/contract/script.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type {
  LocalRewrite,
  LocalRewrites,
  ScriptCall,
  ScriptFailure,
} from "@gateway/core/script/scripts.ts";
import { CutCalls } from "@gateway/sql/script/cuts.ts";
import { waitingMax, waitMsMax } from "@gateway/sql/script/limits.ts";
import { Turns } from "@gateway/sql/turns.ts";
import { askedBytesMax } from "./limits.ts";
import {
  PythonProcess,
  type Outcome,
  type PythonProgram,
  type PythonSource,
} from "./pythonProcess.ts";

/** A file that was read. */
export interface PythonRewrite extends LocalRewrite {
  readonly source: string;
}

/** Why a script can not be opened, by its place in the list; without one none can be. */
export interface PythonFault {
  readonly index: number | undefined;
  readonly reason: string;
}

type Answer = Result<ScriptAnswers["rewrite"], ScriptFailure>;

interface Waiting {
  readonly script: number;
  readonly user: string;
  readonly args: string;
  /** Later it does not begin. */
  readonly untilMs: number;
  resolve(answer: Answer): void;
}

/** Times that a call is made anew because its interpreter went away, or something else came in its place. */
const againMax = 2;

const closed: ScriptFailure = { code: "lost", detail: "the scripts are closed" };

export class PythonRewrites implements LocalRewrites {
  readonly list: readonly LocalRewrite[];
  readonly #sources: readonly PythonSource[];
  readonly #program: PythonProgram;
  readonly #clock: Clock;
  readonly #waiting = new Turns<Waiting>();
  readonly #cuts = new CutCalls();
  #process: PythonProcess | undefined;
  #busy = false;
  #closed = false;

  private constructor(rewrites: readonly PythonRewrite[], program: PythonProgram) {
    this.list = rewrites;
    this.#sources = rewrites.map(({ name, source }) => ({ file: name, source }));
    this.#program = program;
    this.#clock = program.clock;
  }

  /** Starts an interpreter, and compiles and runs each file once; answers every fault with nothing left open. */
  static async open(
    rewrites: readonly PythonRewrite[],
    program: PythonProgram,
  ): Promise<Result<PythonRewrites, readonly PythonFault[]>> {
    const opened = new PythonRewrites(rewrites, program);
    const process = await opened.#start();
    if (process.ok) return ok(opened);
    await opened[Symbol.asyncDispose]();
    return process;
  }

  /** Of the interpreter; undefined while there is none. */
  get pid(): number | undefined {
    return this.#process?.over === false ? this.#process.pid : undefined;
  }

  async ask(name: string, { query, beside }: ScriptCall): Promise<Answer> {
    const script = this.list.findIndex((one) => one.name === name);
    if (script < 0 || this.#closed) return err(closed);
    const { user } = query;
    if (this.#cuts.paused(script, user, this.#clock.nowMs())) {
      return err({ code: "busy", detail: "the script was cut again and again for this user" });
    }
    if (this.#waiting.size >= waitingMax) {
      return err({ code: "busy", detail: `${waitingMax} calls wait` });
    }
    const args = JSON.stringify([query, beside ?? null]);
    if (Buffer.byteLength(args) > askedBytesMax) {
      return err({ code: "memory", detail: `it is given more than ${askedBytesMax} bytes` });
    }
    const answer = await new Promise<Answer>((resolve) => {
      const untilMs = this.#clock.nowMs() + waitMsMax;
      this.#waiting.put(user, { script, user, args, untilMs, resolve });
      void this.#work();
    });
    const cut = !answer.ok && (answer.error.code === "time" || answer.error.code === "memory");
    this.#cuts.ended(script, user, cut, this.#clock.nowMs());
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const call of this.#waiting.drop(() => true)) call.resolve(err(closed));
    await this.#process?.[Symbol.asyncDispose]();
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let call = this.#waiting.take(); call !== undefined; call = this.#waiting.take()) {
      const late = this.#clock.nowMs() > call.untilMs;
      call.resolve(
        late
          ? err({ code: "busy", detail: "it waited too long for its turn" })
          : await this.#call(call),
      );
    }
    this.#busy = false;
  }

  async #call({ script, args }: Waiting): Promise<Answer> {
    for (let times = 0; times <= againMax; times += 1) {
      if (this.#closed) return err(closed);
      const started = await this.#running();
      if (!started.ok) {
        const [fault] = started.error;
        return err({ code: "lost", detail: fault?.reason ?? "does not start" });
      }
      const outcome = await started.value.call(script, args);
      if (outcome.kind !== "stray" || times === againMax) return answerOf(outcome);
    }
    return err(closed);
  }

  async #running(): Promise<Result<PythonProcess, readonly PythonFault[]>> {
    return this.#process?.over === false ? ok(this.#process) : this.#start();
  }

  async #start(): Promise<Result<PythonProcess, readonly PythonFault[]>> {
    const started = await PythonProcess.start(this.#program);
    if (!started.ok) return err([{ index: undefined, reason: started.error }]);
    const process = started.value;
    const faults: PythonFault[] = [];
    for (const [index, source] of this.#sources.entries()) {
      // One that was cut in the middle may have taken the interpreter along; the others wait for the next start.
      if (process.over) break;
      const opened = answerOf(await process.open(source));
      if (!opened.ok) faults.push({ index, reason: reasonOf(opened.error) });
    }
    if (faults.length === 0 && !this.#closed) {
      this.#process = process;
      return ok(process);
    }
    await process[Symbol.asyncDispose]();
    return err(faults);
  }
}

function answerOf(outcome: Outcome): Answer {
  switch (outcome.kind) {
    case "answered":
      return readAnswer(outcome.json);
    case "cut":
      return err({ code: "time", detail: "it took too long and was ended" });
    case "refused":
      return err({ code: "lost", detail: `it can not be limited here: ${outcome.reason}` });
    case "lost":
    case "stray":
      return err({ code: "lost", detail: `its process ended: ${outcome.how}` });
  }
}

const failureCodes = ["memory", "threw", "answer"] as const;

/** Its author wrote the process that wrote this, so nothing of it is taken for granted. */
function readAnswer(json: string): Answer {
  const read = parsed(json);
  if (typeof read !== "object" || read === null) return err(noAnswer);
  if ("answer" in read) {
    const answer = scriptAnswer("rewrite", read.answer);
    return answer === undefined ? err(noAnswer) : ok(answer.value);
  }
  const { code, detail, line } = read as Partial<Record<"code" | "detail" | "line", unknown>>;
  const known = failureCodes.find((one) => one === code);
  if (known === undefined || typeof detail !== "string") return err(noAnswer);
  return err({ code: known, detail, ...(typeof line === "number" ? { line } : {}) });
}

const noAnswer: ScriptFailure = {
  code: "answer",
  detail: `it has to answer ${scriptAnswerText("rewrite")}`,
};

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function reasonOf({ detail, line }: ScriptFailure): string {
  return line === undefined ? detail : `line ${line}: ${detail}`;
}
