/** The last line of a process that a bug ends. A kill leaves none: the next start says so (history/lostQueries.ts). */
import type { Log } from "@gateway/core/port/log.ts";

/** Until disposed: what nobody caught is logged before it ends the process, with where it came from. */
export function logCrash(log: Log): Disposable {
  const say = (error: unknown, origin: string): void => log.bug(error, { endsProcess: origin });
  process.on("uncaughtExceptionMonitor", say);
  return { [Symbol.dispose]: () => void process.off("uncaughtExceptionMonitor", say) };
}
