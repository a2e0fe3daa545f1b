/**
 * Wakes a watcher when the head moved: at each notification where the driver can listen, and by
 * looking at the row in any case, because a notification may be lost.
 */
import { sameRevision, type Revision } from "@gateway/contract/revision.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Database } from "../database.ts";
import type { Stored } from "../store.ts";

/** Channel that a commit notifies, in the statement that moves the head. */
export const configChannel = "gateway_config";

export interface WatchOptions {
  readonly database: Pick<Database, "listen">;
  readonly clock: Clock;
  readonly lookMs: number;
  readonly head: () => Stored<Revision | undefined>;
}

/** Wakes at the first look too, perhaps for nothing: nobody knows what was missed before it. */
export function watchHead(
  { database, clock, lookMs, head }: WatchOptions,
  wake: () => void,
): AsyncDisposable {
  /** Null until the first look. */
  let seen: Revision | undefined | null = null;
  let stopped = false;
  let timer: Disposable | undefined;
  let looking = look();

  async function look(): Promise<void> {
    const now = await head();
    if (stopped) return;
    // While the database is away nothing is known to have moved; the next look tells.
    if (now.ok && moved(seen, now.value)) {
      seen = now.value;
      wake();
    }
    timer = clock.timer(lookMs, () => {
      looking = look();
    });
  }

  const listening = database.listen?.(configChannel, () => {
    if (!stopped) wake();
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      timer?.[Symbol.dispose]();
      await listening?.[Symbol.asyncDispose]();
      await looking;
    },
  };
}

function moved(seen: Revision | undefined | null, now: Revision | undefined): boolean {
  if (seen === null || seen === undefined || now === undefined) return seen !== now;
  return !sameRevision(seen, now);
}
