/**
 * JSON lines for the platform's log, which puts the time before each. Small on purpose: a logger with
 * transports and threads would be a tenth of the bundle.
 */
import type { Log, LogLevel } from "@gateway/core/port/log.ts";

const order: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Lines below `threshold` are not written. `write` takes one line without its end. */
export function lineLog(threshold: LogLevel, write: (line: string) => void): Log {
  const lowest = order.indexOf(threshold);
  const log: Log = {
    write: (level, event, fields) => {
      if (order.indexOf(level) >= lowest) write(JSON.stringify({ level, event, ...fields }));
    },
    writeMembers: (level, event, members) => {
      const more = members === "" ? "" : `,${members}`;
      if (order.indexOf(level) >= lowest)
        write(`{"level":"${level}","event":${JSON.stringify(event)}${more}}`);
    },
    bug: (error, fields) => {
      write(
        JSON.stringify({ level: "error", event: "internal.bug", ...fields, stack: stackOf(error) }),
      );
    },
  };
  return log;
}

/** Frames only: the message of a foreign error may hold values of a query. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "").split("\n").map((line) => line.trim());
  return [error.name, ...frames.filter((line) => line.startsWith("at "))].join(" | ");
}
