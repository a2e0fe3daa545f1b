/** The main thread's end of one PGlite thread: questions with ids, answers, notifications. Not a database. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import type { DatabaseError, Parameter } from "../database.ts";
import type { Connection, Reply } from "./connection.ts";
import type { PgliteData, PgliteFolder, PgliteMessage, PgliteRequest } from "./pgliteThread.ts";

type Outcome = Result<Reply, DatabaseError>;

/** Told of what happens in the thread without a question. */
export interface LinkEvents {
  notified(channel: string): void;
  /** The thread ended though nobody closed it. */
  lost(error: unknown): void;
}

const ended: Outcome = err({ kind: "unreachable", code: "threadEnded" });

export class PgliteLink implements Connection, AsyncDisposable {
  /** Fulfilled once: PGlite runs, or the code of the reason why not. */
  readonly started: Promise<Result<void, string>>;
  readonly #thread: Thread;
  readonly #events: LinkEvents;
  readonly #pending = new Map<number, (outcome: Outcome) => void>();
  #count = 0;
  #state: "starting" | "open" | "ended" = "starting";
  #settleStart: (result: Result<void, string>) => void = () => {};

  constructor(threads: Threads, folder: PgliteFolder, events: LinkEvents) {
    this.#events = events;
    this.started = new Promise((resolve) => {
      this.#settleStart = resolve;
    });
    const pgliteData: PgliteData = { work: { kind: "serve", ...folder } };
    this.#thread = threads.start("pglite", pgliteData);
    this.#thread.onMessage((message) => this.#take(message as PgliteMessage));
    this.#thread.onExit((error) => this.#exited(error));
  }

  run(sql: string, parameters: readonly Parameter[]): Promise<Outcome> {
    return this.#ask((id) => ({ id, kind: "run", sql, parameters }));
  }

  script(sql: string): Promise<Outcome> {
    return this.#ask((id) => ({ id, kind: "script", sql }));
  }

  /** Closes the database properly, then ends the thread. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "open") await this.#ask((id) => ({ id, kind: "close" }));
    this.#end();
    await this.#thread.terminate();
  }

  #ask(request: (id: number) => PgliteRequest): Promise<Outcome> {
    if (this.#state === "ended") return Promise.resolve(ended);
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#thread.ref(true);
      this.#thread.post(request(id));
    });
  }

  #take(message: PgliteMessage): void {
    switch (message.kind) {
      case "ready":
        this.#state = "open";
        if (this.#pending.size === 0) this.#thread.ref(false);
        this.#settleStart(ok(undefined));
        return;
      case "made":
        return;
      case "failed":
        this.#end(message.code);
        return;
      case "notified":
        this.#events.notified(message.channel);
        return;
      case "answer":
        this.#settle(message.id, ok(message.reply));
        return;
      case "error":
        this.#settle(message.id, err(message.error));
    }
  }

  #settle(id: number, outcome: Outcome): void {
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#thread.ref(false);
    resolve?.(outcome);
  }

  #exited(error: unknown): void {
    const wasOpen = this.#state === "open";
    this.#end();
    if (wasOpen) this.#events.lost(error);
  }

  #end(code = "threadEnded"): void {
    this.#state = "ended";
    this.#settleStart(err(code));
    for (const resolve of this.#pending.values()) resolve(ended);
    this.#pending.clear();
  }
}
