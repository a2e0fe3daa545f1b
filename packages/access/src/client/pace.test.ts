import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { LoginPace } from "./pace.ts";

describe("LoginPace", () => {
  it("lets people mistype, then spaces out the answers to that address and user and to nobody else", async () => {
    const { pace } = paceOf();
    for (let n = 0; n < 10; n += 1) pace.failed("a", "alice");
    expect(pace.waitMs("a", "alice")).toBe(0);
    pace.failed("a", "alice");
    expect(pace.waitMs("a", "alice")).toBe(250);
    expect(pace.waitMs("a", "alice")).toBe(500);
    expect(pace.waitMs("a", "bob")).toBe(0);
    expect(pace.waitMs("b", "alice")).toBe(0);
  });

  it("never makes anybody wait longer than five seconds, however many guess", () => {
    const { pace } = paceOf();
    for (let n = 0; n < 10_000; n += 1) {
      pace.failed("a", "alice");
      expect(pace.waitMs("a", "alice")).toBeLessThanOrEqual(5_000);
    }
  });

  it("is at rest again after a right login, and after a quarter of an hour", async () => {
    const { pace, host } = paceOf();
    for (let n = 0; n < 19; n += 1) pace.failed("a", "alice");
    pace.succeeded("a", "alice");
    expect(pace.waitMs("a", "alice")).toBe(0);
    for (let n = 0; n < 19; n += 1) pace.failed("a", "alice");
    await host.advance(900_000);
    expect(pace.waitMs("a", "alice")).toBe(0);
    pace.failed("a", "alice");
    expect(pace.waitMs("a", "alice")).toBeGreaterThan(0);
    await host.advance(900_001);
    for (let n = 0; n < 10; n += 1) {
      expect(pace.waitMs("a", "alice")).toBe(0);
      pace.failed("a", "alice");
    }
  });

  it("takes spellings of one name for one name", () => {
    const { pace } = paceOf();
    for (const name of ["alice", "Alice", "ALICE", "\uff41lice", "aLiCe"]) {
      for (let n = 0; n < 3; n += 1) pace.failed("a", name);
    }
    expect(pace.waitMs("a", "alicE")).toBeGreaterThan(0);
  });

  it("slows an address down that tries one name after the other, or tokens without one", () => {
    const { pace } = paceOf();
    for (let n = 0; n <= 100; n += 1) pace.failed("a", `user${n}`);
    expect(pace.waitMs("a", "another")).toBeGreaterThan(0);
    const other = paceOf().pace;
    for (let n = 0; n <= 100; n += 1) other.failed("a", undefined);
    expect(other.waitMs("a", undefined)).toBeGreaterThan(0);
  });

  it("forgets the oldest failures instead of growing", () => {
    const { pace } = paceOf();
    for (let n = 0; n < 12; n += 1) pace.failed("first", "alice");
    for (let n = 0; n < 6_000; n += 1) pace.failed(`address${n}`, "x");
    expect(pace.waitMs("first", "alice")).toBe(0);
  });
});

function paceOf() {
  const host = virtualHost(1);
  return { host, pace: new LoginPace(host.clock) };
}
