/**
 * One reader's stream of events (HTML Living Standard §9.2): the whole state, then what changed.
 *
 * Nothing is kept for a reader but the board it was told last. The next step is made when the reader has room for
 * it, so one that is slow gets fewer and larger steps, and never a backlog.
 */
import { liveEvents, type LiveEnd } from "@gateway/contract/studioApi.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { boardAgeMs, type Board, type Boards } from "./board.ts";
import { deltaOf, wholeOf } from "./delta.ts";

/** So often something is said, so that proxies and readers know that the other side is there. */
const heartbeatMs = 15_000;
/** A reader that took nothing for so long is cut off. */
const stalledMs = 60_000;
/** When a reader whose stream broke off asks again, in milliseconds. */
const retryMs = 2_000;

export interface StreamParts {
  readonly clock: Clock;
  readonly boards: Boards;
  /** The reader may see texts of others. */
  readonly texts: boolean;
  /** Told the reader as the last event. */
  readonly ending: Promise<LiveEnd["reason"]>;
  /** Called once, however it ends. */
  readonly closed: () => void;
}

export function liveStream({ clock, boards, texts, ending, closed }: StreamParts): ReadableStream {
  const encoder = new TextEncoder();
  let told: Board | undefined;
  let end: LiveEnd["reason"] | undefined;
  let spokeMs = clock.nowMs();
  let stalled: Disposable | undefined;
  let isOver = false;

  function over(): void {
    if (isOver) return;
    isOver = true;
    stalled?.[Symbol.dispose]();
    closed();
  }

  async function untilEnd(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const reason = await ending;
    end = reason;
    if (isOver) return;
    over();
    // A reader without room is told as well: it is one short event more, and the last.
    controller.enqueue(encoder.encode(eventText(liveEvents.end, { reason })));
    controller.close();
  }

  /** The next piece of text; undefined at the end. */
  async function next(): Promise<string | undefined> {
    for (;;) {
      if (end !== undefined || isOver) return undefined;
      const board = await boards.current();
      if (told === undefined) {
        told = board;
        return `retry: ${retryMs}\n${eventText(liveEvents.snapshot, wholeOf(board, texts))}`;
      }
      const delta = deltaOf(told, board, texts);
      told = board;
      if (delta !== undefined) return eventText(liveEvents.delta, delta);
      if (clock.nowMs() - spokeMs >= heartbeatMs) return ": still here\n\n";
      await passed(clock, boardAgeMs, ending);
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        void untilEnd(controller);
      },
      pull: async (controller) => {
        stalled?.[Symbol.dispose]();
        const text = await next();
        if (isOver || text === undefined) return;
        spokeMs = clock.nowMs();
        controller.enqueue(encoder.encode(text));
        stalled = clock.timer(stalledMs, () => {
          over();
          controller.error(new Error("the reader of a stream took nothing"));
        });
      },
      cancel: over,
    },
    { highWaterMark: 1 },
  );
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Resolves after `ms`, or at the end. */
async function passed(clock: Clock, ms: number, ending: Promise<unknown>): Promise<void> {
  let timer: Disposable | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = clock.timer(ms, resolve);
  });
  await Promise.race([waited, ending]);
  timer?.[Symbol.dispose]();
}
