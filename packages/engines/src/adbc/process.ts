/**
 * The middle of a driver's process: passes what the parent says to the thread that calls the driver,
 * and what the thread answers to the parent.
 *
 * The thread does the work, so that this side is free to cancel while the driver is inside a call.
 * Should even this side hang, the parent ends the process.
 */
import type { Threads } from "@gateway/core/port/threads.ts";
import type { ProcessMessage } from "./message.ts";
import { threadReach, type DriverLibrary } from "./reach.ts";

/** The parent, as its child sees it. */
export interface Parent {
  send(message: unknown): void;
  /** Called when the driver's thread is gone: nothing can be answered any more. */
  lost(): void;
}

/** Starts the thread; the answer takes every later message of the parent. */
export function serveDriver(
  threads: Threads,
  library: DriverLibrary,
  parent: Parent,
): (message: ProcessMessage) => void {
  const reach = threadReach(threads, library);
  reach.thread.onMessage((messages) => parent.send(messages));
  reach.thread.onExit(() => parent.lost());
  return (message) => {
    switch (message.kind) {
      case "request":
        return reach.post(message.request, message.credits);
      case "credit":
        return reach.addCredit();
      case "cancel":
        return reach.cancel();
    }
  };
}
