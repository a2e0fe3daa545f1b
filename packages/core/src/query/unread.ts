/**
 * What an aborted query holds although its client does not read: the engine's stream and the slot.
 *
 * A generator goes on only when it is asked for the next event, so a client that stopped reading
 * would keep a slot beyond every time limit. Here the abort itself ends the engine's stream and, when
 * the engine is done, gives the slot back. What the client is told waits until it reads.
 */
import type { Log } from "../port/log.ts";
import type { Slot } from "../port/capacity.ts";
import type { ResultStream } from "./event.ts";
import type { LiveQuery } from "./live.ts";

/** Watches until disposed. Ending the stream and giving the slot back a second time does nothing. */
export function freedOnAbort(
  events: ResultStream,
  slot: Slot,
  live: LiveQuery,
  log: Log,
): Disposable {
  const free = async (): Promise<void> => {
    try {
      await events.return();
    } catch (bug) {
      log.bug(bug, { queryId: live.query.id });
    }
    await slot[Symbol.asyncDispose]();
  };
  const onAbort = (): void => void free();
  live.signal.addEventListener("abort", onAbort, { once: true });
  return { [Symbol.dispose]: () => live.signal.removeEventListener("abort", onAbort) };
}
