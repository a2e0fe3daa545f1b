/** JSON lines on standard error. */
import { pino, type Logger } from "pino";
import type { Log } from "@gateway/core/port/log.ts";
import { systemClock } from "./clock.ts";
import { descriptorTarget, lineSink, type LineSink } from "./lineSink.ts";

export type LogThreshold = "debug" | "info" | "warn" | "error" | "silent";

/**
 * Lines below `level` are not written. Bugs are counted by `onBug`. Lines come some milliseconds after
 * their event, those of errors and what stands before them at once, and all of them before the process
 * exits; whoever kills it may take the last ten milliseconds.
 */
export function jsonLog(
  level: LogThreshold,
  onBug: () => void,
  sink: () => LineSink = standardError,
): Log {
  const logger: Logger = pino(
    {
      level,
      base: null,
      messageKey: "event",
      timestamp: timeMember,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => sink().write(line) },
  );
  return {
    write: (at, event, fields) => {
      logger[at](fields ?? {}, event);
      if (at === "error" && logger.isLevelEnabled("error")) sink().flush();
    },
    bug: (error, fields) => {
      onBug();
      logger.error({ ...fields, stack: stackOf(error) }, "internal.bug");
      if (logger.isLevelEnabled("error")) sink().flush();
    },
  };
}

let shared: LineSink | undefined;

/** There is one standard error, whoever writes to it. */
function standardError(): LineSink {
  if (shared !== undefined) return shared;
  const sink = lineSink(descriptorTarget(2), systemClock, droppedLine);
  process.on("exit", () => sink.end());
  return (shared = sink);
}

function droppedLine(count: number): string {
  return `{"level":"warn"${timeMember()},"count":${count},"event":"log.dropped"}\n`;
}

function timeMember(): string {
  return `,"time":"${new Date().toISOString()}"`;
}

/** Frames only: the message of a foreign error may hold values of a query. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "")
    .split("\n")
    .filter((line) => line.trimStart().startsWith("at "));
  return [error.name, ...frames.map((line) => line.trim())].join(" | ");
}
