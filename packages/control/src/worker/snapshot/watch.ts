/**
 * Waits for another configuration: one subscription, or one polling loop, for all waiters of a
 * process.
 *
 * It says that a wait is over, not why: whoever waited looks at the configuration again.
 */
import type { ControlDeps } from "../../deps.ts";
import { pollMs } from "../limits.ts";

export interface ConfigWatch {
  /** Waits that are not over. */
  readonly waiting: number;
  /**
   * Resolves when the current configuration has another hash than `since`, at once if it has;
   * after `holdMs`; when `signal` aborts; or when the process stops. Never rejects.
   */
  changed(since: string, holdMs: number, signal: AbortSignal): Promise<void>;
}

interface Waiter {
  readonly since: string;
  readonly end: () => void;
}

type WatchDeps = Pick<ControlDeps, "clock" | "config" | "host" | "log" | "stopping">;

export function configWatch(deps: WatchDeps): ConfigWatch {
  const { clock, config, stopping } = deps;
  const waiters = new Set<Waiter>();
  const poll = deps.host === "function" ? pollingLoop(deps, waiters, wake) : undefined;

  function wake(): void {
    const hash = config.current()?.revision.hash;
    for (const waiter of waiters) if (waiter.since !== hash) waiter.end();
  }

  const subscription = config.onChange(wake);
  const stop = () => {
    subscription[Symbol.dispose]();
    for (const waiter of waiters) waiter.end();
  };
  // One listener for all: a thousand on one signal would be a thousand warnings.
  if (stopping.aborted) stop();
  else stopping.addEventListener("abort", stop, { once: true });

  return {
    get waiting() {
      return waiters.size;
    },
    changed: (since, holdMs, signal) =>
      new Promise((resolve) => {
        const over = holdMs <= 0 || signal.aborted || stopping.aborted;
        if (over || config.current()?.revision.hash !== since) return resolve();
        const waiter: Waiter = {
          since,
          end: () => {
            waiters.delete(waiter);
            timer[Symbol.dispose]();
            signal.removeEventListener("abort", waiter.end);
            resolve();
          },
        };
        const timer = clock.timer(holdMs, waiter.end);
        signal.addEventListener("abort", waiter.end, { once: true });
        waiters.add(waiter);
        poll?.start();
      }),
  };
}

/**
 * In a function nothing runs between two invocations, so nobody tells it of a change: it looks at one
 * row (the head) while somebody waits, once for all of them. A database that does not answer is no
 * news: the hold goes on.
 */
function pollingLoop(
  { clock, config, log }: WatchDeps,
  waiters: ReadonlySet<Waiter>,
  wake: () => void,
): { start(): void } {
  let running = false;

  async function run(): Promise<void> {
    while (waiters.size > 0) {
      await new Promise<void>((resolve) => {
        clock.timer(pollMs, resolve);
      });
      if (waiters.size > 0) await config.refresh().catch((bug: unknown) => log.bug(bug));
      wake();
    }
    running = false;
  }

  return {
    start: () => {
      if (running) return;
      running = true;
      void run();
    },
  };
}
