/**
 * The events of several sources in one stream: the sources push, and the life cycle takes them one
 * by one. It is bounded: when it is full, a failure or a head gives way to a newer event.
 */
import type { SourceEvent } from "@gateway/core/port/configSource.ts";

export interface EventQueue<Body> {
  push(event: SourceEvent<Body>): void;
  /** Everything pushed, until `signal` aborts. One reader. */
  events(signal: AbortSignal): AsyncGenerator<SourceEvent<Body>, void, void>;
}

/** While a snapshot opens (a minute at most) a few heads and failures come together. */
const waitingMax = 32;

export function eventQueue<Body>(): EventQueue<Body> {
  const waiting: SourceEvent<Body>[] = [];
  let wake = ignore;
  const stop = (): void => wake();
  return {
    push: (event) => {
      if (waiting.length >= waitingMax) waiting.splice(leastNeeded(waiting), 1);
      waiting.push(event);
      wake();
    },
    events: async function* (signal) {
      signal.addEventListener("abort", stop, { once: true });
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next;
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      signal.removeEventListener("abort", stop);
    },
  };
}

/** The oldest event without a snapshot. When all carry one, the oldest: a newer one follows it. */
function leastNeeded<Body>(waiting: readonly SourceEvent<Body>[]): number {
  const index = waiting.findIndex((event) => event.kind !== "offer" || event.body === undefined);
  return Math.max(0, index);
}

function ignore(): void {}
