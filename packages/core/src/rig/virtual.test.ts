import { describe, expect, it } from "vitest";
import { seededRandom, virtualHost, virtualStartUnixMs } from "./virtual.ts";

describe("virtualHost", () => {
  it("fires timers in the order they fall due, and equal ones in the order they were made", async () => {
    const host = virtualHost(1);
    const fired: string[] = [];
    const timers = [
      ["late", 20],
      ["early", 5],
      ["second", 10],
      ["third", 10],
    ] as const;
    for (const [name, delayMs] of timers) {
      host.clock.timer(delayMs, () => fired.push(`${name}@${host.clock.nowMs()}`));
    }
    await host.advance(15);
    expect(fired).toEqual(["early@5", "second@10", "third@10"]);
    expect(host.clock.nowMs()).toBe(15);
    expect(host.clock.unixMs()).toBe(virtualStartUnixMs + 15);
    expect(host.timerCount).toBe(1);
  });

  it("lets promises go on before the next timer fires", async () => {
    const host = virtualHost(1);
    const seen: string[] = [];
    host.clock.timer(1, () => void hops(20).then(() => seen.push("promise")));
    host.clock.timer(2, () => seen.push("timer"));
    await host.advance(2);
    expect(seen).toEqual(["promise", "timer"]);
  });

  it("fires timers that a timer made, when they fall due within the same step", async () => {
    const host = virtualHost(1);
    const at: number[] = [];
    const again = () => {
      at.push(host.clock.nowMs());
      host.clock.timer(3, again);
    };
    host.clock.timer(3, again);
    await host.advance(10);
    expect(at).toEqual([3, 6, 9]);
  });

  it("never fires a timer that was disposed", async () => {
    const host = virtualHost(1);
    const timer = host.clock.timer(1, () => expect.unreachable());
    timer[Symbol.dispose]();
    timer[Symbol.dispose]();
    await host.advance(5);
    expect(host.timerCount).toBe(0);
  });

  it("moves the wall clock alone when told, and no timer with it", async () => {
    const host = virtualHost(1);
    host.clock.timer(10, () => expect.unreachable());
    host.moveWall(60_000);
    await host.advance(5);
    host.moveWall(-90_000);
    expect(host.clock.nowMs()).toBe(5);
    expect(host.clock.unixMs()).toBe(virtualStartUnixMs + 5 - 30_000);
  });

  it("runs until a condition holds and says when it can not", async () => {
    const host = virtualHost(1);
    let count = 0;
    const tick = () => {
      count += 1;
      host.clock.timer(100, tick);
    };
    tick();
    await host.runUntil(() => count === 4);
    expect(host.clock.nowMs()).toBe(300);
    await expect(host.runUntil(() => count === 1_000, 500)).rejects.toThrow("not done at");
    await expect(virtualHost(1).runUntil(() => false)).rejects.toThrow("0 timers left");
  });

  it("gives the same numbers and bytes for the same seed", () => {
    const [a, b, other] = [virtualHost(7), virtualHost(7), virtualHost(8)];
    expect([a.random(), a.random()]).toEqual([b.random(), b.random()]);
    expect(a.randomBytes(16)).toEqual(b.randomBytes(16));
    expect(a.randomBytes(16)).not.toEqual(other.randomBytes(16));
  });

  it("remembers log lines and metrics", () => {
    const host = virtualHost(1);
    const family = { name: "gateway_test_total", help: "", labels: ["kind"] } as const;
    const seconds = { ...family, name: "gateway_test_seconds", buckets: [1] } as const;
    host.metrics.counter(family, { kind: "a" }).add(2);
    host.metrics.counter(family, { kind: "a" }).add(1);
    host.metrics.histogram(seconds, { kind: "a" }).observe(3);
    host.log.write("info", "test.done", { count: 1 });
    host.log.bug(new Error("seen"));
    expect(host.metrics.value("gateway_test_total", { kind: "a" })).toBe(3);
    expect(host.metrics.value("gateway_test_total", { kind: "b" })).toBe(0);
    expect(host.metrics.observed("gateway_test_seconds", { kind: "a" })).toEqual([3]);
    expect(host.log.lines).toEqual([{ level: "info", event: "test.done", fields: { count: 1 } }]);
    expect(host.log.bugs).toHaveLength(1);
  });

  it("has no threads unless the test gives some", () => {
    expect(() => virtualHost(1).threads.start("hash", undefined)).toThrow("no threads");
  });
});

describe("seededRandom", () => {
  it("spreads evenly over [0, 1)", () => {
    const random = seededRandom(42);
    const counts = Array.from({ length: 10 }, () => 0);
    for (let draw = 0; draw < 10_000; draw += 1) {
      const bucket = Math.floor(random() * 10);
      counts[bucket] = (counts[bucket] ?? Number.NaN) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});

async function hops(count: number): Promise<void> {
  for (let hop = 0; hop < count; hop += 1) await Promise.resolve();
}
