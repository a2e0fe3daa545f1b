/**
 * Main-thread side of parsing: one thread for short texts and one for long ones, each started with the first text
 * that asks for it and ended when nobody did for a while. A text that takes too long costs its thread, which the next
 * text starts again.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type {
  SqlRequest,
  SqlTasks,
  SqlWork,
  SqlWorkFault,
} from "@gateway/core/port/sql/sqlWork.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  idleMsMax,
  lengthMax,
  shortLengthMax,
  startMsMax,
  waitingMax,
  workMsMax,
} from "./limits.ts";
import type { SqlReply } from "./message.ts";
import { Turns } from "../turns.ts";

type ThreadHost = Pick<Host, "threads" | "clock" | "log">;
type Answer = Result<SqlTasks[keyof SqlTasks]["output"], SqlWorkFault>;

interface Waiting {
  readonly message: unknown;
  readonly signal: AbortSignal;
  settle(answer: Answer): void;
}

/** Makes no thread. */
export class SqlThreads implements SqlWork, AsyncDisposable {
  readonly #short: Lane;
  readonly #long: Lane;

  constructor(host: ThreadHost) {
    this.#short = new Lane(host);
    this.#long = new Lane(host);
  }

  async ask<Task extends keyof SqlTasks>({
    task,
    input,
    length,
    user,
    signal,
  }: SqlRequest<Task>): Promise<Result<SqlTasks[Task]["output"], SqlWorkFault>> {
    if (length > lengthMax) return err("tooLong");
    const lane = length > shortLengthMax ? this.#long : this.#short;
    return await lane.ask({ task, input }, user, signal);
  }

  /** Ends both threads. Who waits is told `broken`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#short.end(), this.#long.end()]);
  }
}

/** One thread with its line. */
class Lane {
  readonly #host: ThreadHost;
  readonly #line = new Turns<Waiting>();
  #thread: Thread | undefined;
  #ready = false;
  #current: Waiting | undefined;
  /** Ends the thread: it does not start, takes too long, or nobody asks. */
  #limit: Disposable | undefined;

  constructor(host: ThreadHost) {
    this.#host = host;
  }

  ask(message: unknown, user: string, signal: AbortSignal): Promise<Answer> {
    if (this.#line.size >= waitingMax) return Promise.resolve(err("busy"));
    return new Promise((settle) => {
      this.#line.put(user, { message, signal, settle });
      if (this.#thread === undefined) this.#start();
      else this.#next();
    });
  }

  async end(): Promise<void> {
    const thread = this.#forget();
    this.#settle(err("broken"));
    for (let next = this.#line.take(); next !== undefined; next = this.#line.take()) {
      next.settle(err("broken"));
    }
    await thread?.terminate();
  }

  #start(): void {
    const thread = this.#host.threads.start("sql", undefined);
    this.#thread = thread;
    this.#limitTo(startMsMax, () => {
      this.#host.log.write("error", "sql.threadSlow", { doing: "start" });
      void this.end();
    });
    thread.onMessage((message) => {
      if (this.#thread === thread) this.#told(message as SqlReply);
    });
    thread.onExit((error) => {
      if (this.#thread !== thread) return;
      this.#host.log.bug(error ?? new Error("a thread with the SQL parser ended"));
      const started = this.#ready;
      this.#forget();
      this.#settle(err("broken"));
      // A thread that never started would not start for the others either.
      if (!started) void this.end();
      else if (this.#line.size > 0) this.#start();
    });
  }

  #told(reply: SqlReply): void {
    if (reply.kind === "ready") this.#ready = true;
    else this.#settle(ok(reply.output));
    this.#next();
  }

  /** Gives the thread its next text, if it is free. */
  #next(): void {
    if (!this.#ready || this.#current !== undefined) return;
    let next = this.#line.take();
    while (next?.signal.aborted === true) {
      next.settle(err("cancelled"));
      next = this.#line.take();
    }
    if (next === undefined) {
      // An idle thread is no reason for the process to stay.
      this.#thread?.ref(false);
      this.#limitTo(idleMsMax, () => void this.#forget()?.terminate());
      return;
    }
    this.#current = next;
    this.#thread?.ref(true);
    this.#limitTo(workMsMax, () => this.#tooSlow());
    this.#thread?.post(next.message);
  }

  #tooSlow(): void {
    this.#host.log.write("warn", "sql.threadSlow", { doing: "work" });
    void this.#forget()?.terminate();
    this.#settle(err("slow"));
    if (this.#line.size > 0) this.#start();
  }

  /** Whatever it says from now on is not heard. */
  #forget(): Thread | undefined {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#ready = false;
    this.#limit?.[Symbol.dispose]();
    this.#limit = undefined;
    return thread;
  }

  #settle(answer: Answer): void {
    const current = this.#current;
    this.#current = undefined;
    current?.settle(answer);
  }

  #limitTo(ms: number, fire: () => void): void {
    this.#limit?.[Symbol.dispose]();
    this.#limit = this.#host.clock.timer(ms, fire);
  }
}
