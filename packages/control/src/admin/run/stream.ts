/**
 * The events of one query as lines of JSON. The next is asked for when the reader has room, so a slow reader slows
 * its query down; one that leaves, or stays beyond the time limit, ends it.
 */
import type { RunEvent } from "@gateway/contract/studioApi.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Log } from "@gateway/core/port/log.ts";

export interface RunParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly events: (signal: AbortSignal) => AsyncGenerator<RunEvent, void, void>;
  /** Called once, however it ends. */
  readonly closed: () => void;
}

export function runStream(parts: RunParts): ReadableStream<Uint8Array> {
  const { clock, log, timeoutMs, closed } = parts;
  const encoder = new TextEncoder();
  const abort = new AbortController();
  const events = parts.events(abort.signal);
  let limit: Disposable | undefined;
  let isAsking = false;
  let isOver = false;

  function over(): void {
    if (isOver) return;
    isOver = true;
    limit?.[Symbol.dispose]();
    closed();
  }

  /** Ends the query. Waits for nobody: the engine may take its time. */
  function end(reason: GatewayError): void {
    if (!abort.signal.aborted) abort.abort(reason);
    void events.return().catch((bug: unknown) => log.bug(bug));
  }

  const lineOf = (event: RunEvent) => encoder.encode(`${JSON.stringify(event)}\n`);

  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        limit = clock.timer(timeoutMs, () => {
          const timeout = gatewayError("query.timeout");
          // Who waits for an event gets the query's own end; a reader without room gets this one.
          abort.abort(timeout);
          if (isAsking || isOver) return;
          over();
          end(timeout);
          const { code, message } = timeout;
          controller.enqueue(lineOf({ kind: "failed", error: { code, message, retry: "never" } }));
          controller.close();
        });
      },
      pull: async (controller) => {
        isAsking = true;
        const step = await stepOf(events, log);
        isAsking = false;
        if (isOver) return;
        if (step !== undefined) controller.enqueue(lineOf(step));
        if (step !== undefined && step.kind !== "done" && step.kind !== "failed") return;
        over();
        controller.close();
        end(gatewayError("query.cancelled"));
      },
      cancel: () => {
        over();
        end(gatewayError("query.cancelled"));
      },
    },
    { highWaterMark: 1 },
  );
}

/** The next event; undefined after the last. A bug is the query's end, and its text is for the log. */
async function stepOf(
  events: AsyncGenerator<RunEvent, void, void>,
  log: Log,
): Promise<RunEvent | undefined> {
  try {
    const step = await events.next();
    return step.done === true ? undefined : step.value;
  } catch (bug) {
    log.bug(bug);
    const { code, message } = gatewayError("internal.bug");
    return { kind: "failed", error: { code, message, retry: "never" } };
  }
}
