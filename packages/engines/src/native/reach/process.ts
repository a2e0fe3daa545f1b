/**
 * The middle of a driver's process: starts the threads that read its lines, and cancels what they do.
 *
 * The threads do the work, so that this side is free to cancel while a driver is inside a call. Should even
 * this side hang, the gateway ends the process.
 */
import type { Threads } from "@gateway/core/port/threads.ts";
import { CancelControl, controlBlock } from "../memory/control.ts";
import type { DriverLibrary, ProcessMessage, ThreadData, ThreadLine } from "../message.ts";
import { cancelOn } from "./reach.ts";
import { seatsBlock } from "../memory/seats.ts";

/** The gateway, as its child sees it. */
export interface Parent {
  /** Answers a ping, and expects the next one. */
  answer(): void;
  /** No further ping is expected. */
  rest(): void;
  /** From now on the process may have so many resident bytes. */
  bound(memoryMax: number | undefined): void;
  /** Called when a driver's thread is gone: what was asked of it can not be answered any more. */
  lost(): void;
}

/** Returns what handles every message of the gateway. `firstLine` is the descriptor of line 0. */
export function serveDriver(
  threads: Threads,
  parent: Parent,
  firstLine: number,
): (message: ProcessMessage) => void {
  const controls = new Map<number, CancelControl>();
  let library: DriverLibrary | undefined;
  let seats: SharedArrayBuffer | undefined;
  let memory: number | undefined;
  return (message) => {
    switch (message.kind) {
      case "start":
        library = message.library;
        seats = seatsBlock(message.seats);
        if (message.sharedLines !== undefined) memory = firstLine + message.sharedLines;
        parent.bound(message.memoryMax);
        return;
      case "open": {
        if (library === undefined || seats === undefined) return parent.lost();
        const control = controlBlock();
        const line: ThreadLine = {
          descriptor: firstLine + message.line,
          memory: memory === undefined ? undefined : { descriptor: memory, line: message.line },
        };
        const data: ThreadData = { ...library, control, seats, line };
        threads.start("adbc", data).onExit(() => parent.lost());
        controls.set(message.line, new CancelControl(control));
        return;
      }
      case "cancel": {
        const control = controls.get(message.line);
        if (control !== undefined && library !== undefined)
          cancelOn(control, message.turn, library);
        return;
      }
      case "ping":
        return parent.answer();
      case "idle":
        return parent.rest();
    }
  };
}
