import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";
import { timersOf } from "./timers.ts";

describe("timersOf", () => {
  it("fires what is due in order of time and creation, whatever is made and cancelled meanwhile", async () => {
    const delay = fc.constantFrom(-1, 0, 0.25, 1, 1.5, 2, 7, 7.25, 30, Number.NaN);
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add" as const), delayMs: delay }),
      fc.record({ kind: fc.constant("cancel" as const), index: fc.nat(20) }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(0.5, 1, 3, 20) }),
    );
    const holds = fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { host, timer } = timersOnHost();
      const model: { dueMs: number; id: number }[] = [];
      const made: Disposable[] = [];
      const fired: number[] = [];
      const expected: number[] = [];
      const early: unknown[] = [];
      const late: unknown[] = [];
      for (const one of steps) {
        if (one.kind === "add") {
          const id = made.length;
          made.push(timer(one.delayMs, () => fired.push(id)));
          model.push({ dueMs: host.nowMs + (one.delayMs > 1 ? one.delayMs : 1), id });
        } else if (one.kind === "cancel") {
          made[one.index]?.[Symbol.dispose]();
          const at = model.findIndex(({ id }) => id === one.index);
          if (at >= 0) model.splice(at, 1);
        } else {
          await host.pass(one.ms);
          const due = model.filter(({ id }) => fired.includes(id));
          const later = model.filter(({ id }) => !fired.includes(id));
          early.push(...due.filter(({ dueMs }) => dueMs > host.nowMs));
          // A wake may be a part of a millisecond late: the real timer counts whole ones.
          late.push(...later.filter(({ dueMs }) => dueMs <= host.nowMs - 1));
          due.sort((a, b) => a.dueMs - b.dueMs || a.id - b.id);
          expected.push(...due.map(({ id }) => id));
          model.splice(0, model.length, ...later);
        }
        expect([fired, early, late]).toEqual([expected, [], []]);
        expect(host.armedCount).toBeLessThanOrEqual(1);
      }
      await host.pass(100);
      await host.pass(100);
      expect(fired).toHaveLength(expected.length + model.length);
      expect(host.armedCount).toBe(0);
    });
    await fc.assert(holds);
  });

  it("moves the real timer only for something earlier, and forgets what was cancelled", async () => {
    const { host, timer } = timersOnHost();
    for (let n = 0; n < 1_000; n += 1) timer(300_000, () => {})[Symbol.dispose]();
    expect(host.arms).toBe(1);
    timer(10, () => {})[Symbol.dispose]();
    timer(20, () => {})[Symbol.dispose]();
    expect(host.arms).toBe(2);
    await host.pass(10);
    expect([host.arms, host.armedCount]).toEqual([2, 0]);
  });

  it("waits on for what is due next when it was woken for something cancelled", async () => {
    const { host, timer } = timersOnHost();
    const fired: string[] = [];
    timer(50, () => fired.push("late"));
    timer(10, () => fired.push("cancelled"))[Symbol.dispose]();
    await host.pass(10);
    expect([fired, host.armedCount]).toEqual([[], 1]);
    await host.pass(40);
    expect([fired, host.armedCount]).toEqual([["late"], 0]);
  });

  it("clamps a delay that Node could not wait for", async () => {
    const { host, timer } = timersOnHost();
    timer(Number.POSITIVE_INFINITY, () => {});
    timer(1e12, () => {});
    expect(host.delays).toEqual([2_147_483_647]);
  });

  it("lets what follows from one timer cancel another that is due at the same moment", async () => {
    const { host, timer } = timersOnHost();
    const fired: string[] = [];
    timer(5, () => {
      fired.push("first");
      void cancelSoon();
    });
    const cancelSoon = async (): Promise<void> => {
      await Promise.resolve();
      await Promise.resolve();
      second[Symbol.dispose]();
    };
    const second = timer(5, () => fired.push("second"));
    const third = timer(5, () => {
      fired.push("third");
      third[Symbol.dispose]();
      third[Symbol.dispose]();
    });
    await host.pass(5);
    expect(fired).toEqual(["first", "third"]);
  });

  it("leaves a turn to others when a timer starts itself again", async () => {
    const { host, timer } = timersOnHost();
    let count = 0;
    const again = (): void => {
      count += 1;
      host.nowMs += 2;
      timer(0, again);
    };
    timer(0, again);
    await host.pass(1);
    expect([count, host.armedCount]).toEqual([1, 1]);
  });

  it("fires the others when one throws, which is an uncaught exception as in Node", async () => {
    const { host, timer } = timersOnHost();
    const fired: string[] = [];
    timer(5, () => {
      throw new Error("thrown by a timer");
    });
    timer(5, () => fired.push("other"));
    timer(9, () => fired.push("later"));
    await expect(host.pass(5)).rejects.toThrow("thrown by a timer");
    await turn();
    expect(fired).toEqual(["other"]);
    await host.pass(4);
    expect(fired).toEqual(["other", "later"]);
  });
});

describe("systemClock", () => {
  it("fires not before the delay has passed, never inside the call, and not what was cancelled", async () => {
    const beganMs = systemClock.nowMs();
    let cancelledFired = false;
    using _other = systemClock.timer(20_000, () => {});
    const cancelled = systemClock.timer(2, () => {
      cancelledFired = true;
    });
    cancelled[Symbol.dispose]();
    const endedMs = await new Promise<number>((resolve) => {
      let inside = true;
      systemClock.timer(5, () => resolve(inside ? -1 : systemClock.nowMs()));
      inside = false;
      // The clock's own timer keeps nothing alive.
      setTimeout(() => {}, 50);
    });
    expect(endedMs - beganMs).toBeGreaterThanOrEqual(5);
    expect(cancelledFired).toBe(false);
  });
});

function timersOnHost() {
  const host = new TestTimers();
  return { host, timer: timersOf({ nowMs: () => host.nowMs, arm: (...how) => host.arm(...how) }) };
}

/** Real timers whose time stands still unless it is told to pass. */
class TestTimers {
  nowMs = 1_000.125;
  readonly delays: number[] = [];
  #armed: { readonly dueMs: number; readonly wake: () => void }[] = [];

  get arms(): number {
    return this.delays.length;
  }

  get armedCount(): number {
    return this.#armed.length;
  }

  arm(delayMs: number, wake: () => void): Disposable {
    this.delays.push(delayMs);
    const armed = { dueMs: this.nowMs + delayMs, wake };
    this.#armed.push(armed);
    return {
      [Symbol.dispose]: () => {
        this.#armed = this.#armed.filter((one) => one !== armed);
      },
    };
  }

  /** Wakes whoever is due; work settles after each. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (;;) {
      const [next] = this.#armed.toSorted((a, b) => a.dueMs - b.dueMs);
      if (next === undefined || next.dueMs > endMs) break;
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      this.#armed = this.#armed.filter((one) => one !== next);
      next.wake();
      await turn();
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
