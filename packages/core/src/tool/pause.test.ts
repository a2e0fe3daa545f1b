import { describe, expect, it } from "vitest";
import { virtualHost } from "../rig/virtual.ts";
import { pause, unlessAborted } from "./pause.ts";

describe("pause", () => {
  it("ends by time, by the signal and by a call, and leaves no timer", async () => {
    const host = virtualHost(1);
    const ended: string[] = [];
    const stop = new AbortController();
    const { signal } = new AbortController();
    void pause(host.clock, 1_000, signal).then(() => ended.push("time"));
    void pause(host.clock, 9_000, stop.signal).then(() => ended.push("signal"));
    const third = pause(host.clock, 9_000, signal);
    void third.then(() => ended.push("call"));
    await host.advance(1_000);
    stop.abort();
    await host.settle();
    third.wake();
    await host.settle();
    expect(ended).toEqual(["time", "signal", "call"]);
    expect(host.timerCount).toBe(0);
    await pause(host.clock, 9_000, stop.signal);
    expect(host.timerCount).toBe(0);
  });
});

describe("unlessAborted", () => {
  it("is the work's value, or what `left` says once the signal aborts", async () => {
    const leaving = new AbortController();
    const never = new Promise<string>(() => {});
    const answered = unlessAborted(Promise.resolve("value"), leaving.signal, () => "left");
    const waiting = unlessAborted(never, leaving.signal, () => "left");
    expect(await answered).toBe("value");
    leaving.abort();
    expect(await waiting).toBe("left");
    expect(await unlessAborted(never, leaving.signal, () => "left")).toBe("left");
  });

  it("passes a rejection on, and swallows one that comes after the signal", async () => {
    const { signal } = new AbortController();
    const bug = new Error("a bug");
    await expect(unlessAborted(Promise.reject(bug), signal, () => "left")).rejects.toBe(bug);
    const late = unlessAborted<string>(Promise.reject(bug), AbortSignal.abort(), () => "left");
    expect(await late).toBe("left");
  });
});
