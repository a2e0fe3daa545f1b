import type { EventEmitter } from "node:events";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { jsonLog, logCrash } from "./log.ts";

describe("jsonLog", () => {
  it("writes members as it writes the fields they are made of, above its level alone", () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line.replace(/"time":"[^"]*"/, "T"));
    const log = jsonLog(
      "info",
      () => {},
      () => ({ write, flush: () => {}, end: () => {} }),
    );
    for (const [level, event] of [
      ["info", "a.b"],
      ["warn", "c.d"],
      ["debug", "e"],
    ] as const) {
      log.write(level, event, { a: 1, b: '"' });
      log.writeMembers(level, event, String.raw`"a":1,"b":"\""`);
    }
    expect(lines).toEqual([
      `{"level":"info",T,"a":1,"b":"\\"","event":"a.b"}\n`,
      `{"level":"info",T,"a":1,"b":"\\"","event":"a.b"}\n`,
      `{"level":"warn",T,"a":1,"b":"\\"","event":"c.d"}\n`,
      `{"level":"warn",T,"a":1,"b":"\\"","event":"c.d"}\n`,
    ]);
  });
});

describe("logCrash", () => {
  it("logs what nobody caught, until it is disposed", () => {
    const { log } = virtualHost(1);
    const emitter: EventEmitter = process;
    const crash = (): boolean =>
      emitter.emit("uncaughtExceptionMonitor", new Error("a bug"), "unhandledRejection");
    {
      using _crash = logCrash(log);
      crash();
    }
    crash();
    expect(log.bugs).toHaveLength(1);
  });
});
