/** JSON lines on standard error. */
import type { Log, LogFields, LogLevel } from "@gateway/core/port/log.ts";
import { systemClock } from "../clock.ts";
import { lineSink, type LineSink } from "./lineSink.ts";
import { descriptorTarget } from "./lineTarget.ts";

export type LogThreshold = LogLevel | "silent";

const ranks = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const;

/**
 * Lines below `level` are not written. Bugs are counted by `onBug`. Lines come some milliseconds
 * after their event. An error is written at once, with what waits before it, and so is everything
 * before the process exits. A kill may lose the lines that wait.
 */
export function jsonLog(
  level: LogThreshold,
  onBug: () => void,
  sink: () => LineSink = standardError,
): Log {
  const rankMin = ranks[level];
  const writeMembers = (at: LogLevel, event: string, members: string): void => {
    const to = sink();
    to.write(lineOf(at, event, members));
    if (at === "error") to.flush();
  };
  const write = (at: LogLevel, event: string, fields: LogFields | undefined): void => {
    if (ranks[at] >= rankMin) writeMembers(at, event, membersOf(fields));
  };
  return {
    write,
    writeMembers: (at, event, members) => {
      if (ranks[at] >= rankMin) writeMembers(at, event, members);
    },
    bug: (error, fields) => {
      onBug();
      write("error", "internal.bug", { ...fields, stack: stackOf(error) });
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
  return lineOf("warn", "log.dropped", membersOf({ count }));
}

function membersOf(fields: LogFields = {}): string {
  return JSON.stringify(fields).slice(1, -1);
}

/** `{"level":"info","time":"2026-01-01T00:00:00.000Z",` then the fields, the event last. */
function lineOf(level: LogLevel, event: string, members: string): string {
  const separator = members === "" ? "" : ",";
  return `{"level":"${level}","time":"${timeText(Date.now())}"${separator}${members},"event":${eventText(event)}}\n`;
}

let lastEvent = "";
let lastEventText = '""';

/** Nearly every line is that of a query. */
function eventText(event: string): string {
  if (event === lastEvent) return lastEventText;
  lastEvent = event;
  return (lastEventText = JSON.stringify(event));
}

let lastMs = Number.NaN;
let lastText = "";
let second = 0;
let secondText = "";

/** ISO 8601 in UTC with milliseconds. All but the milliseconds stays the same for a thousand lines and more. */
function timeText(unixMs: number): string {
  if (unixMs === lastMs) return lastText;
  lastMs = unixMs;
  const ms = unixMs % 1_000;
  if (unixMs - ms !== second || secondText === "") {
    second = unixMs - ms;
    secondText = new Date(second).toISOString().slice(0, -"000Z".length);
  }
  return (lastText = `${secondText}${String(ms).padStart(3, "0")}Z`);
}

/** Frames only: the message of a foreign error may hold values of a query. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "")
    .split("\n")
    .filter((line) => line.trimStart().startsWith("at "));
  return [error.name, ...frames.map((line) => line.trim())].join(" | ");
}

/**
 * Until disposed, an error that nobody caught is logged before it ends the process, with its
 * origin. A kill leaves no such line: the next start reports what it lost (history/lostQueries.ts).
 */
export function logCrash(log: Log): Disposable {
  const say = (error: unknown, origin: string): void => log.bug(error, { endsProcess: origin });
  process.on("uncaughtExceptionMonitor", say);
  return { [Symbol.dispose]: () => void process.off("uncaughtExceptionMonitor", say) };
}
