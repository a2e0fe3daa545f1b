import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { retryAfterOf, throttleOf } from "./throttle.ts";

const limits = { burst: 3, refillMs: 1_000, addressesMax: 2 };

describe("throttleOf", () => {
  it("lets a burst of failures pass and then one in each refill time", async () => {
    const host = virtualHost(1);
    const throttle = throttleOf(host.clock, limits);
    expect([1, 2, 3].map(() => throttle.failed("a"))).toEqual([0, 0, 0]);
    expect(throttle.failed("a")).toBe(1_000);
    expect(throttle.retryAfterMs("a")).toBe(1_000);
    await host.advance(999);
    expect(throttle.failed("a")).toBe(1);
    await host.advance(1);
    expect(throttle.retryAfterMs("a")).toBe(0);
    expect(throttle.failed("a")).toBe(0);
    expect(throttle.failed("a")).toBe(1_000);
  });

  it("forgets the whole debt after a quiet time", async () => {
    const host = virtualHost(1);
    const throttle = throttleOf(host.clock, limits);
    for (let count = 0; count < 10; count += 1) throttle.failed("a");
    await host.advance(3_000);
    expect([1, 2, 3].map(() => throttle.failed("a"))).toEqual([0, 0, 0]);
  });

  it("keeps addresses apart, but not the addresses of one IPv6 client", () => {
    const throttle = throttleOf(virtualHost(1).clock, limits);
    for (const address of ["2001:db8::1", "2001:DB8:0:0:1::2", "2001:db8:0:0::3"]) {
      expect(throttle.failed(address)).toBe(0);
    }
    expect(throttle.retryAfterMs("2001:db8::ffff:1")).toBeGreaterThan(0);
    expect(throttle.retryAfterMs("2001:db8:0:1::1")).toBe(0);
    expect(throttle.retryAfterMs("10.0.0.1")).toBe(0);
  });

  it("takes an IPv4 client for the same on a socket that speaks both", () => {
    const throttle = throttleOf(virtualHost(1).clock, limits);
    for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1"]) throttle.failed(address);
    expect(throttle.retryAfterMs("::ffff:10.0.0.1")).toBeGreaterThan(0);
    expect(throttle.retryAfterMs("::ffff:10.0.0.2")).toBe(0);
  });

  it("remembers no more addresses than allowed, and forgets the quietest", () => {
    const throttle = throttleOf(virtualHost(1).clock, limits);
    for (const address of ["a", "a", "b", "a", "c"]) throttle.failed(address);
    expect(throttle.retryAfterMs("a")).toBeGreaterThan(0);
    expect([1, 2, 3].map(() => throttle.failed("b"))).toEqual([0, 0, 0]);
  });
});

describe("retryAfterOf", () => {
  it("is whole seconds, at least one", () => {
    expect([0, 1, 1_000, 1_001].map(retryAfterOf)).toEqual(["1", "1", "1", "2"]);
  });
});
