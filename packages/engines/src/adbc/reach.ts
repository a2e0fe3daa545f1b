/**
 * How the main side reaches a driver that is inside a native call: through memory it shares with a
 * thread, or by messages to the process that keeps the thread.
 */
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import { CancelControl, controlBlock } from "./control.ts";
import { Driver } from "./driver.ts";
import type { ProcessMessage, Request, ThreadData } from "./message.ts";

/** Which driver to call. */
export type DriverLibrary = Omit<ThreadData, "control">;

/** One place where a driver is called. */
export interface Reach {
  readonly thread: Thread;
  /** Sends a request; so many messages of its result may come before the first was read. */
  post(request: Request, credits: number): void;
  /** Allows one more message. */
  addCredit(): void;
  /** Cancels what is under way, once; one that comes before the engine began is lost. */
  cancel(): void;
}

/** A thread of this process. It can not be ended inside a native call. */
export function threadReach(threads: Threads, library: DriverLibrary): Reach {
  const block = controlBlock();
  const control = new CancelControl(block);
  const data: ThreadData = { ...library, control: block };
  const thread = threads.start("adbc", data);
  return {
    thread,
    post: (request, credits) => {
      control.reset(credits);
      thread.post(request);
    },
    addCredit: () => control.addCredit(),
    cancel: () => {
      // A driver that refuses has nothing to cancel any more; the next try or the answer shows it.
      control.cancel((target, kind) => {
        const name = kind === "statement" ? "StatementCancel" : "ConnectionCancel";
        void cancelDriver(library)?.call(name, target);
      });
    },
  };
}

/** A thread of a process of its own, which can be ended whatever it does. Throws on a host without processes. */
export function processReach({ spawn }: Threads, library: DriverLibrary): Reach {
  if (spawn === undefined) throw new Error("this host starts no processes");
  const thread = spawn("adbc", library);
  const post = (message: ProcessMessage): void => thread.post(message);
  return {
    thread,
    post: (request, credits) => post({ kind: "request", request, credits }),
    addCredit: () => post({ kind: "credit" }),
    cancel: () => post({ kind: "cancel" }),
  };
}

const drivers = new Map<string, Driver | undefined>();

/** The driver as the main thread calls it: for cancelling only. */
function cancelDriver({ library, entrypoint }: DriverLibrary): Driver | undefined {
  const key = `${library}\0${entrypoint}`;
  if (!drivers.has(key)) {
    const loaded = Driver.load(library, entrypoint);
    drivers.set(key, loaded.ok ? loaded.value : undefined);
  }
  return drivers.get(key);
}
