/** Main-thread side of password hashing: one thread, started at the first login, a bounded line before it. */
import type { Host } from "@gateway/core/port/host.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { HashAnswer, HashRequest } from "./hashThread.ts";

/** Logins that may wait at once; at 70 ms each the last one waits about 18 s. */
const pendingMax = 256;

/** `busy`: too many wait. `failed`: the thread died. */
export type NoAnswer = "busy" | "failed";
export type HashOutcome = "match" | "differs" | NoAnswer;

export class Hasher implements AsyncDisposable {
  readonly #host: Pick<Host, "threads" | "log">;
  readonly #pending = new Map<number, (answer: HashAnswer | NoAnswer) => void>();
  #thread: Thread | undefined;
  #count = 0;

  constructor(host: Pick<Host, "threads" | "log">) {
    this.#host = host;
  }

  async compare(password: Secret, hash: string): Promise<HashOutcome> {
    const answer = await this.#ask(password, hash);
    if (typeof answer === "string") return answer;
    return answer.match ? "match" : "differs";
  }

  /** A bcrypt hash with a fresh salt. */
  async make(password: Secret): Promise<{ readonly hash: string } | NoAnswer> {
    const answer = await this.#ask(password, undefined);
    return typeof answer === "string" ? answer : { hash: answer.hash };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#settleAll();
    await thread?.terminate();
  }

  #ask(password: Secret, hash: string | undefined): Promise<HashAnswer | NoAnswer> {
    if (this.#pending.size >= pendingMax) return Promise.resolve("busy");
    const thread = (this.#thread ??= this.#start());
    this.#count += 1;
    const request: HashRequest = { id: this.#count, password: password.reveal(), hash };
    return new Promise((resolve) => {
      this.#pending.set(request.id, resolve);
      thread.ref(true);
      thread.post(request);
    });
  }

  #start(): Thread {
    const thread = this.#host.threads.start("hash", undefined);
    thread.ref(false);
    thread.onMessage((message) => {
      const answer = message as HashAnswer;
      this.#pending.get(answer.id)?.(answer);
      this.#pending.delete(answer.id);
      if (this.#pending.size === 0) thread.ref(false);
    });
    thread.onExit((error) => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#host.log.bug(error ?? new Error("the hash thread ended"));
      this.#settleAll();
    });
    return thread;
  }

  #settleAll(): void {
    for (const resolve of this.#pending.values()) resolve("failed");
    this.#pending.clear();
  }
}
