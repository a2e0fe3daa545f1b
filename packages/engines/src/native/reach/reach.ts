/**
 * How the main side reaches a driver that is inside a native call: through memory it shares with a
 * thread, or by lines to a process that keeps the thread (driverProcess.ts).
 */
import type { Threads } from "@gateway/core/port/threads.ts";
import { CancelControl, controlBlock } from "../memory/control.ts";
import { Driver } from "../driver.ts";
import type { DriverLibrary, Request, ThreadMessage } from "../message.ts";
import { seatsBlock } from "../memory/seats.ts";

/** A way to a driver: a thread of this process, or a line to another. */
export interface Reach {
  /** False once nothing can be asked any more; what was asked before may still be answered. */
  readonly alive: boolean;
  /** Called with every group of messages. Set once, right after the start. */
  onMessages(handle: (messages: readonly ThreadMessage[]) => void): void;
  /** Called once when nothing can be answered any more, with why. */
  onEnd(handle: (end: ReachEnd) => void): void;
  /** Sends a request; so many messages of its result may come before the first was read. */
  post(request: Request, credits: number): void;
  /** Allows one more message. */
  addCredit(): void;
  /** Cancels what is under way, once; one that comes before the engine began may be lost. */
  cancel(): void;
  /** Whether it keeps our process alive. */
  ref(on: boolean): void;
  /** Gives it up once no request is under way: a thread ends, a line goes to its next owner. */
  leave(): Promise<void>;
  /**
   * Ends it whatever it does, with everything that shares its process. A thread inside a native call can not
   * be ended.
   */
  kill(): void;
}

export interface ReachEnd {
  /** A process ended with everything in it. */
  readonly crashed: boolean;
  /** For the operator. */
  readonly reason: string;
}

/** A thread of this process. */
export function threadReach(threads: Threads, library: DriverLibrary): Reach {
  const block = controlBlock();
  const control = new CancelControl(block);
  const thread = threads.start("adbc", {
    ...library,
    control: block,
    seats: seatsBlock(1),
    line: undefined,
  });
  thread.ref(false);
  let turn = 0;
  return {
    // Its end is told in order with its messages.
    alive: true,
    onMessages: (handle) =>
      thread.onMessage((messages) => handle(messages as readonly ThreadMessage[])),
    onEnd: (handle) =>
      thread.onExit((error) => {
        const reason = error instanceof Error ? error.message : "the driver has ended";
        handle({ crashed: false, reason });
      }),
    post: (request, credits) => {
      turn = control.reset(credits);
      thread.post(request);
    },
    addCredit: () => control.addCredit(),
    cancel: () => cancelOn(control, turn, library),
    ref: (on) => thread.ref(on),
    leave: () => thread.terminate(),
    kill: () => void thread.terminate(),
  };
}

/** Cancels the request of a turn on a thread of this process. */
export function cancelOn(control: CancelControl, turn: number, library: DriverLibrary): void {
  // A driver that refuses has nothing to cancel any more; the next try or the answer shows it.
  control.cancel(turn, (target, kind) => {
    const name = kind === "statement" ? "StatementCancel" : "ConnectionCancel";
    void cancelDriver(library)?.call(name, target);
  });
}

const drivers = new Map<string, Driver | undefined>();

/** The driver as a main thread calls it: for cancelling only. */
function cancelDriver({ library, entrypoint }: DriverLibrary): Driver | undefined {
  const key = `${library}\0${entrypoint}`;
  if (!drivers.has(key)) {
    const loaded = Driver.load(library, entrypoint);
    drivers.set(key, loaded.ok ? loaded.value : undefined);
  }
  return drivers.get(key);
}
