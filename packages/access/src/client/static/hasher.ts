/**
 * Main-thread side of password hashing: a few threads of low priority, each started when a login would
 * wait, and a bounded line before them in which origins take turns.
 */
import { availableParallelism } from "node:os";
import type { Host } from "@gateway/core/port/host.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { OriginQueue } from "../originQueue.ts";
import type { HashResponse, HashRequest } from "./hashThread.ts";

/** Logins that may wait at once; with one thread, at 70 ms each, the last one waits about 18 s. */
const pendingMax = 256;
/** They only use idle time, so there may be one for each core. */
const threadsMax = Math.min(4, availableParallelism());

/** `busy`: too many wait. `failed`: the thread died. */
export type NoAnswer = "busy" | "failed";
export type HashOutcome = "match" | "differs" | NoAnswer;

type Settle = (answer: HashResponse | NoAnswer) => void;

interface Waiting {
  readonly request: HashRequest;
  readonly settle: Settle;
}

/** A thread and who waits for it; undefined while it has nothing to do. */
interface Worker {
  readonly thread: Thread;
  settle: Settle | undefined;
}

export class Hasher implements AsyncDisposable {
  readonly #host: Pick<Host, "threads" | "log">;
  readonly #line = new OriginQueue<Waiting>();
  readonly #workers = new Set<Worker>();
  #count = 0;

  constructor(host: Pick<Host, "threads" | "log">) {
    this.#host = host;
  }

  /** Each `origin` takes turns with others. */
  async compare(password: Secret, hash: string, origin = ""): Promise<HashOutcome> {
    const answer = await this.#ask(password, hash, origin);
    if (typeof answer === "string") return answer;
    return answer.match ? "match" : "differs";
  }

  /** A bcrypt hash with a fresh salt. */
  async make(password: Secret): Promise<{ readonly hash: string } | NoAnswer> {
    const answer = await this.#ask(password, undefined, "");
    return typeof answer === "string" ? answer : { hash: answer.hash };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const workers = [...this.#workers];
    this.#workers.clear();
    for (const { settle } of workers) settle?.("failed");
    for (let next = this.#line.take(); next !== undefined; next = this.#line.take()) {
      next.settle("failed");
    }
    await Promise.all(workers.map(({ thread }) => thread.terminate()));
  }

  #ask(
    password: Secret,
    hash: string | undefined,
    origin: string,
  ): Promise<HashResponse | NoAnswer> {
    this.#count += 1;
    const request: HashRequest = { id: this.#count, password: password.reveal(), hash };
    return new Promise((settle) => {
      this.#line.add(origin, { request, settle });
      this.#next();
      if (this.#line.size + this.#workers.size > pendingMax) this.#line.takeLast()?.settle("busy");
    });
  }

  /** Gives the next in line to a thread that has nothing to do, or to a new one. */
  #next(): void {
    if (this.#line.size === 0) return;
    const free = [...this.#workers].find(({ settle }) => settle === undefined);
    const worker = free ?? (this.#workers.size < threadsMax ? this.#start() : undefined);
    const waiting = worker && this.#line.take();
    if (worker === undefined || waiting === undefined) return;
    worker.settle = waiting.settle;
    worker.thread.ref(true);
    worker.thread.post(waiting.request);
  }

  #start(): Worker {
    const thread = this.#host.threads.start("hash", undefined);
    const worker: Worker = { thread, settle: undefined };
    this.#workers.add(worker);
    thread.ref(false);
    thread.onMessage((message) => {
      const { settle } = worker;
      worker.settle = undefined;
      thread.ref(false);
      settle?.(message as HashResponse);
      this.#next();
    });
    thread.onExit((error) => {
      if (!this.#workers.delete(worker)) return;
      this.#host.log.bug(error ?? new Error("a hash thread ended"));
      worker.settle?.("failed");
      this.#next();
    });
    return worker;
  }
}
