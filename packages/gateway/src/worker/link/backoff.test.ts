import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { backoffOf } from "./backoff.ts";

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
