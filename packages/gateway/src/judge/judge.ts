/**
 * The thread that judges snapshots, kept for a while after its work: it takes longer to start than most
 * snapshots take to be judged, and edits seldom come alone.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import type { JudgeInput } from "./judged.ts";
import type { JudgeAnswer } from "./judgeThread.ts";

/** An idle thread takes some 20 MB. */
const idleMsMax = 60_000;

const lost: JudgeAnswer = { faults: ["the snapshot could not be judged"] };

/** Starts its thread with the first snapshot, and again after that one ended. Snapshots are judged one after the other. */
export class Judge {
  readonly #host: Pick<Host, "threads" | "clock">;
  /** Who waits for an answer, in the order of the questions. */
  readonly #waiting: ((answer: JudgeAnswer) => void)[] = [];
  #thread: Thread | undefined;
  #idle: Disposable | undefined;

  constructor(host: Pick<Host, "threads" | "clock">) {
    this.#host = host;
  }

  /**
   * A thread that ends without an answer is a bug of the program: the configuration is refused with
   * it as the reason. `transfer`: what is given away and not copied.
   */
  ask(input: JudgeInput, transfer: readonly ArrayBuffer[] = []): Promise<JudgeAnswer> {
    this.#idle?.[Symbol.dispose]();
    const thread = (this.#thread ??= this.#start());
    thread.ref(true);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      thread.post(input, transfer);
    });
  }

  #start(): Thread {
    const thread = this.#host.threads.start("judge", undefined);
    thread.onMessage((message) => {
      this.#waiting.shift()?.(message as JudgeAnswer);
      if (this.#waiting.length === 0) this.#rest(thread);
    });
    thread.onExit(() => {
      // This thread was ended because it was idle. Those who wait have asked its successor.
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      for (const resolve of this.#waiting.splice(0)) resolve(lost);
    });
    return thread;
  }

  #rest(thread: Thread): void {
    // An idle thread is no reason for the process to stay.
    thread.ref(false);
    this.#idle = this.#host.clock.timer(idleMsMax, () => {
      this.#thread = undefined;
      void thread.terminate();
    });
  }
}
