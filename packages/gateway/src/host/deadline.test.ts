import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { unlessLate } from "./deadline.ts";

describe("unlessLate", () => {
  it("waits for work as long as the deadline is not there", async () => {
    const host = virtualHost(1);
    const { clock } = host;
    const work = new AbortController();
    const done = new Promise<void>((resolve) => {
      work.signal.addEventListener("abort", () => resolve());
    });
    const inTime = unlessLate(done, new AbortController().signal, { ms: 10, clock });
    await host.advance(1_000_000);
    work.abort();
    expect(await inTime).toBe(true);
  });

  it("leaves work behind that hangs after the deadline", async () => {
    const host = virtualHost(1);
    const { clock } = host;
    const deadline = new AbortController();
    const inTime = unlessLate(new Promise(() => {}), deadline.signal, { ms: 10, clock });
    deadline.abort();
    await host.advance(10);
    expect(await inTime).toBe(false);
  });
});
