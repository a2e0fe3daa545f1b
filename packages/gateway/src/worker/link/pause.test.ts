import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { backoffOf, pause } from "./pause.ts";

describe("backoffOf", () => {
  it("doubles from 1 s to 60 s, with full jitter", () => {
    const backoff = backoffOf({ random: () => 0.999_999 });
    const ceilings = Array.from({ length: 9 }, () => Math.round(backoff.next()));
    expect(ceilings).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(backoffOf({ random: () => 0 }).next()).toBe(0);
  });

  it("starts again after a success", () => {
    const backoff = backoffOf({ random: () => 0.5 });
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.next()).toBe(500);
  });

  it("never comes earlier than the server asked, and not in step with others", () => {
    const host = virtualHost(7);
    const pauses = Array.from({ length: 50 }, () => backoffOf(host).next(5_000));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5_000);
    expect(new Set(pauses).size).toBeGreaterThan(40);
  });
});

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
