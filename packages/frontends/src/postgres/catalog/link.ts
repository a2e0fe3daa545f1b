/** The main thread's end of one mirror's thread: requests with ids, replies, an end. Knows nothing of tables. */
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import type { MirrorCommand, MirrorData, MirrorReply } from "./message.ts";

type Answer = Extract<MirrorReply, { id: number }>;
/** `lost`: the thread ended, and nobody knows what became of the request. */
export type MirrorOutcome = Answer | { readonly kind: "lost"; readonly code: string };

const serve: MirrorData = { work: { kind: "serve" } };

export class MirrorLink implements AsyncDisposable {
  readonly #thread: Thread;
  readonly #pending = new Map<number, (outcome: MirrorOutcome) => void>();
  #count = 0;
  #ended: string | undefined;

  constructor(threads: Threads) {
    this.#thread = threads.start("catalogMirror", serve);
    // A mirror at rest does not keep the process alive.
    this.#thread.ref(false);
    this.#thread.onMessage((message) => this.#take(message as MirrorReply));
    this.#thread.onExit(() => this.#end("threadEnded"));
  }

  /** Why it ended; undefined while it lives. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Sends a command. The thread starts meanwhile, if it has to. Never rejects. */
  ask(command: MirrorCommand): Promise<MirrorOutcome> {
    if (this.#ended !== undefined) return Promise.resolve({ kind: "lost", code: this.#ended });
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#thread.ref(true);
      this.#thread.post({ ...command, id });
    });
  }

  /** Ends the thread, whatever it does; what was asked is lost with `code`. */
  async end(code: string): Promise<void> {
    this.#end(code);
    await this.#thread.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("closed");
  }

  #take(reply: MirrorReply): void {
    if (reply.kind === "broken") {
      this.#end(reply.code);
      void this.#thread.terminate();
      return;
    }
    if (reply.kind === "ready" || reply.kind === "made") return;
    const resolve = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#thread.ref(false);
    resolve?.(reply);
  }

  #end(code: string): void {
    this.#ended ??= code;
    this.#thread.ref(false);
    for (const resolve of this.#pending.values()) resolve({ kind: "lost", code: this.#ended });
    this.#pending.clear();
  }
}
