import type { EventEmitter } from "node:events";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { logCrash } from "./log.ts";

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
