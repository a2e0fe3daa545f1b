/**
 * The thread of scripts with its calls: a few are given to it ahead, the others wait here in turns of users. A thread
 * that says nothing for too long is ended and started anew; the call that it was at is failed, the others go on.
 */
import type { ScriptUse } from "@gateway/contract/config/script.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ScriptFailure } from "@gateway/core/script/scripts.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { aheadMax, openMsMax, silenceMsMax } from "./limits.ts";
import type { FromThread, ToThread } from "./message.ts";
import { Turns } from "../turns.ts";

export interface ThreadCall {
  readonly script: number;
  readonly args: string;
  readonly user: string;
  /** Monotonic milliseconds: later it does not begin. */
  readonly untilMs: number;
  resolve(answer: Result<string, ScriptFailure>): void;
}

interface OpenScript {
  readonly use: ScriptUse;
  readonly source: string;
  /** Told once how opening went. */
  opened: ((failure: ScriptFailure | undefined) => void) | undefined;
}

const silent: ScriptFailure = {
  code: "time",
  detail: "it did not come back from a built-in function, and its thread was ended",
};
const late: ScriptFailure = { code: "busy", detail: "it waited too long for its turn" };
const closed: ScriptFailure = { code: "lost", detail: "the script is closed" };
const noThread: ScriptFailure = { code: "lost", detail: "the thread of scripts does not start" };

/** Starts that may fail one after the other before all calls are failed. */
const startsMax = 3;

export class ScriptThread implements AsyncDisposable {
  readonly #host: Pick<Host, "threads" | "clock">;
  readonly #scripts = new Map<number, OpenScript>();
  readonly #waiting = new Turns<ThreadCall>();
  /** Calls that the thread has, in their order. */
  #ahead = new Map<number, ThreadCall>();
  /** What the thread was told to open and did not answer yet, in its order. */
  #opening = new Set<number>();
  #calls = 0;
  #thread: Thread | undefined;
  #ready = false;
  #failedStarts = 0;
  #watch: Disposable | undefined;
  #heard = 0;

  constructor(host: Pick<Host, "threads" | "clock">) {
    this.#host = host;
  }

  /** Scripts that are open. */
  get size(): number {
    return this.#scripts.size;
  }

  /** Calls that wait or run. */
  get waiting(): number {
    return this.#waiting.size + this.#ahead.size;
  }

  /** Resolves with what is wrong with the script, which is closed then. */
  open(script: number, use: ScriptUse, source: string): Promise<ScriptFailure | undefined> {
    return new Promise((resolve) => {
      this.#scripts.set(script, { use, source, opened: resolve });
      this.#thread ??= this.#start();
      if (this.#ready) this.#tellOpen(script);
      this.#keepWatch();
    });
  }

  close(script: number): void {
    const open = this.#scripts.get(script);
    this.#scripts.delete(script);
    open?.opened?.(closed);
    if (this.#ready) this.#tell({ kind: "close", script });
    for (const call of this.#waiting.drop((one) => one.script === script)) {
      call.resolve(err(closed));
    }
  }

  call(call: ThreadCall): void {
    this.#waiting.put(call.user, call);
    this.#thread ??= this.#start();
    this.#next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#watch?.[Symbol.dispose]();
    this.#failAll(closed);
    await thread?.terminate();
  }

  #start(): Thread {
    const thread = this.#host.threads.start("script", undefined);
    // A script is never a reason for the process to stay.
    thread.ref(false);
    thread.onMessage((message) => {
      if (this.#thread === thread) this.#take(message as FromThread);
    });
    thread.onExit(() => {
      if (this.#thread === thread)
        this.#ended({ ...silent, code: "lost", detail: "its thread ended" });
    });
    this.#ready = false;
    return thread;
  }

  #take(message: FromThread): void {
    this.#heard += 1;
    switch (message.kind) {
      case "ready":
        this.#ready = true;
        this.#failedStarts = 0;
        for (const script of this.#scripts.keys()) this.#tellOpen(script);
        break;
      case "opened": {
        this.#opening.delete(message.script);
        const script = this.#scripts.get(message.script);
        if (message.failure !== undefined) this.#scripts.delete(message.script);
        script?.opened?.(message.failure);
        if (script !== undefined) script.opened = undefined;
        break;
      }
      case "answered":
        this.#answer(message.call, ok(message.answer));
        break;
      case "failed":
        this.#answer(message.call, err(message.failure));
        break;
    }
    this.#next();
  }

  #answer(id: number, answer: Result<string, ScriptFailure>): void {
    const call = this.#ahead.get(id);
    this.#ahead.delete(id);
    call?.resolve(answer);
  }

  /** Gives the thread as many calls as it may have ahead. */
  #next(): void {
    while (this.#ready && this.#ahead.size < aheadMax) {
      const call = this.#waiting.take();
      if (call === undefined) break;
      if (this.#host.clock.nowMs() > call.untilMs) {
        call.resolve(err(late));
      } else if (!this.#scripts.has(call.script)) {
        call.resolve(err(closed));
      } else {
        const id = (this.#calls += 1);
        this.#ahead.set(id, call);
        this.#tell({ kind: "call", call: id, script: call.script, args: call.args });
      }
    }
    this.#keepWatch();
  }

  #tellOpen(script: number): void {
    const open = this.#scripts.get(script);
    if (open === undefined || this.#opening.has(script)) return;
    this.#opening.add(script);
    this.#tell({ kind: "open", script, use: open.use, source: open.source });
  }

  #tell(message: ToThread): void {
    this.#thread?.post(message);
  }

  get #expects(): boolean {
    if (this.#thread === undefined) return false;
    return !this.#ready || this.#ahead.size + this.#opening.size > 0;
  }

  /** One timer while something is expected, and none while the thread rests. */
  #keepWatch(): void {
    if (this.#watch === undefined && this.#expects) this.#look(this.#heard, false);
  }

  /**
   * Looks again after the longest silence. Silence is believed at the second look only: when this thread itself stood
   * still, what the other one said waits to be read.
   */
  #look(heard: number, again: boolean): void {
    const ms = this.#ready ? silenceMsMax / 2 : openMsMax / 2;
    this.#watch = this.#host.clock.timer(ms, () => {
      this.#watch = undefined;
      if (!this.#expects) return;
      if (this.#heard !== heard) this.#look(this.#heard, false);
      else if (!again) this.#look(heard, true);
      else this.#ended(silent);
    });
  }

  /** The thread is gone or given up. What it was at fails; everything else is done by its successor. */
  #ended(failure: ScriptFailure): void {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
    void thread?.terminate();
    if (!this.#ready) this.#failedStarts += 1;
    const [opening] = this.#opening;
    const [first, ...others] = this.#ahead.values();
    this.#opening = new Set();
    this.#ahead = new Map();
    if (opening !== undefined) this.#giveUp(opening, failure);
    else first?.resolve(err(failure));
    const again = opening === undefined ? others : [first, ...others];
    // They had their turn, and starting a thread takes its time.
    const untilMs = Number.POSITIVE_INFINITY;
    for (const call of again) {
      if (call !== undefined) this.#waiting.put(call.user, { ...call, untilMs });
    }
    if (this.#failedStarts >= startsMax) return this.#failAll(noThread);
    if (this.#scripts.size > 0 && thread !== undefined) this.#thread = this.#start();
    this.#keepWatch();
  }

  #giveUp(script: number, failure: ScriptFailure): void {
    const open = this.#scripts.get(script);
    this.#scripts.delete(script);
    open?.opened?.(failure);
  }

  #failAll(failure: ScriptFailure): void {
    for (const script of this.#scripts.values()) script.opened?.(failure);
    this.#scripts.clear();
    for (const call of this.#ahead.values()) call.resolve(err(failure));
    this.#ahead = new Map();
    for (const call of this.#waiting.drop(() => true)) call.resolve(err(failure));
  }
}
