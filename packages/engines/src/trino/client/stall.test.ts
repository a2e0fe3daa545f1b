import type { Clock } from "@gateway/core/port/clock.ts";
import { describe, expect, it } from "vitest";
import { StallWatch } from "./stall.ts";

describe("StallWatch", () => {
  it("tells of silence after the whole time and a quarter at most, whenever it began", () => {
    for (const startMs of [0, 100, 900]) {
      const clock = new ManualClock();
      const watch = new StallWatch(clock, 4_000);
      watch.add(watchedOf(clock));
      clock.pass(startMs);
      const one = watchedOf(clock);
      watch.add(one);
      clock.pass(10_000);
      const silentMs = (one.stalledAtMs ?? 0) - startMs;
      expect(silentMs).toBeGreaterThanOrEqual(4_000);
      expect(silentMs).toBeLessThanOrEqual(5_000);
    }
  });

  it("keeps what goes on, and counts anew from each byte", () => {
    const clock = new ManualClock();
    const watch = new StallWatch(clock, 4_000);
    const one = watchedOf(clock);
    watch.add(one);
    for (let second = 0; second < 30; second += 3) {
      clock.pass(3_000);
      one.bytes += 1;
    }
    expect(one.stalledAtMs).toBeUndefined();
    clock.pass(6_000);
    expect(one.stalledAtMs).toBeDefined();
  });

  it("has one timer for all, and none when there is nothing to look after", () => {
    const clock = new ManualClock();
    const watch = new StallWatch(clock, 4_000);
    const all = Array.from({ length: 10 }, () => watchedOf(clock));
    const watched = all.map((one) => watch.add(one));
    expect(clock.timers).toBe(1);
    for (const one of watched) watch.remove(one);
    clock.pass(20_000);
    expect(clock.timers).toBe(0);
    expect(all.every(({ stalledAtMs }) => stalledAtMs === undefined)).toBe(true);
    watch.add(watchedOf(clock));
    expect(clock.timers).toBe(1);
    watch.close();
    expect(clock.timers).toBe(0);
  });
});

class ManualClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Map<object, { readonly atMs: number; readonly fire: () => void }>();

  get timers(): number {
    return this.#timers.size;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  unixMs(): number {
    return this.#nowMs;
  }

  timer(delayMs: number, fire: () => void): Disposable {
    const timer = { [Symbol.dispose]: () => void this.#timers.delete(timer) };
    this.#timers.set(timer, { atMs: this.#nowMs + delayMs, fire });
    return timer;
  }

  pass(forMs: number): void {
    const endMs = this.#nowMs + forMs;
    while (this.#nowMs < endMs) {
      this.#nowMs = Math.min(endMs, this.#nowMs + 50);
      for (const [timer, { atMs, fire }] of new Map(this.#timers)) {
        if (atMs > this.#nowMs) continue;
        this.#timers.delete(timer);
        fire();
      }
    }
  }
}

function watchedOf(clock: Clock) {
  const one = {
    bytes: 0,
    stalledAtMs: undefined as number | undefined,
    stalled: () => {
      one.stalledAtMs ??= clock.nowMs();
    },
  };
  return one;
}
