import { describe, expect, it } from "vitest";
import { virtualHost } from "../rig/virtual.ts";
import { pause, unlessAborted } from "./pause.ts";

describe("pause", () => {
  it("ends with its time, and sooner when the signal aborts", async () => {
    const host = virtualHost(1);
    const leaving = new AbortController();
    const ended: string[] = [];
    const note = (name: string) => () => void ended.push(name);
    const waits = [
      pause(host.clock, 100).then(note("timed")),
      pause(host.clock, 1_000, leaving.signal).then(note("aborted")),
    ];
    leaving.abort();
    await host.settle();
    expect(ended).toEqual(["aborted"]);
    await host.advance(100);
    await Promise.all(waits);
    expect(ended).toEqual(["aborted", "timed"]);
  });

  it("ends at once under a signal that was aborted before", async () => {
    const host = virtualHost(1);
    await expect(pause(host.clock, 1_000, AbortSignal.abort())).resolves.toBeUndefined();
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
