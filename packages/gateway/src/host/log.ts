/** JSON lines on standard error. */
import { pino, destination, type Logger } from "pino";
import type { Log } from "@gateway/core/port/log.ts";

export type LogThreshold = "debug" | "info" | "warn" | "error" | "silent";

/** Lines below `level` are not written. Bugs are counted by `onBug`. */
export function jsonLog(level: LogThreshold, onBug: () => void): Log {
  const logger: Logger = pino(
    {
      level,
      base: null,
      messageKey: "event",
      timestamp: () => `,"time":"${new Date(Date.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ dest: 2, sync: true }),
  );
  return {
    write: (at, event, fields) => logger[at](fields ?? {}, event),
    bug: (error, fields) => {
      onBug();
      logger.error({ ...fields, stack: stackOf(error) }, "internal.bug");
    },
  };
}

/** Frames only: the message of a foreign error may hold values of a query. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "")
    .split("\n")
    .filter((line) => line.trimStart().startsWith("at "));
  return [error.name, ...frames.map((line) => line.trim())].join(" | ");
}
