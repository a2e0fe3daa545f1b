import { expect, it, vi } from "vitest";
import type { Member } from "./client/member.ts";
import { Ending } from "./ending.ts";

interface Timer {
  readonly ms: number;
  readonly fire: () => void;
}

it("asks the server again until it answered: a request that came before the statement is lost", async () => {
  const { ending, asks, timers, member } = begun();
  for (const ms of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    await vi.waitFor(() => expect(timers).toHaveLength(1));
    expect(timers[0]?.ms).toBe(ms);
    timers.splice(0)[0]?.fire();
  }
  expect(asks).toHaveLength(8);
  await vi.waitFor(() => expect(timers).toHaveLength(1));
  await ending.over();
  expect([timers.length, asks.length]).toEqual([0, 8]);
  expect(member).toMatchObject({ tainted: true, open: true });
});

it("is over behind the request that is under way, which could meet the next statement", async () => {
  const { ending, asks, timers } = begun(true);
  let over = false;
  const waited = async (): Promise<void> => {
    await ending.over();
    over = true;
  };
  const done = waited();
  await new Promise(setImmediate);
  expect(over).toBe(false);
  asks[0]?.(true);
  await done;
  ending.begin();
  expect([asks.length, timers.length]).toEqual([1, 0]);
});

it("gives the connection up where the server can not be asked", async () => {
  const { ending, asks, timers, member } = begun(true);
  asks[0]?.(false);
  await ending.over();
  expect(member.open).toBe(false);
  expect(timers).toEqual([]);
});

/** `waits`: a request is under way until it is told what came of it. */
function begun(waits = false) {
  const asks: ((passed: boolean) => void)[] = [];
  const timers: Timer[] = [];
  const member = {
    tainted: false,
    open: true,
    destroy: () => {
      member.open = false;
    },
  };
  const context = {
    cancel: () =>
      new Promise<boolean>((resolve) => {
        asks.push(resolve);
        if (!waits) resolve(true);
      }),
    clock: {
      timer: (ms: number, fire: () => void) => {
        const timer = { ms, fire };
        timers.push(timer);
        return { [Symbol.dispose]: () => void timers.splice(timers.indexOf(timer) >>> 0, 1) };
      },
    },
  };
  const ending = new Ending(member as unknown as Member, context);
  ending.begin();
  ending.begin();
  return { ending, asks, timers, member };
}
