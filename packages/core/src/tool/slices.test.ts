import { describe, expect, it } from "vitest";
import type { Steps } from "../sql/reading/steps.ts";
import { slicesOf } from "./slices.ts";

const client = { over: false };

describe("slices", () => {
  it("let others be served between two slices, each of as many steps as its time allows", async () => {
    const { slices, state, steps } = made(0.2);
    const found = await slices.run({ steps: steps(8, "found"), user: "ann", client });
    expect({ found, served: state.served }).toEqual({ found: "found", served: 3 });
  });

  it("are single steps while somebody is served, and longer again afterwards", async () => {
    const { slices, state, steps } = made(0.25);
    state.othersMs = [0.125];
    await slices.run({ steps: steps(100, "found"), user: "ann", client });
    // Two steps, then eighty alone for twenty milliseconds, nine times two again, and the end.
    expect(state.served).toBe(1 + 80 + 9 + 1);
  });

  it("rest after half a millisecond of work beside others, and never where nobody is", async () => {
    const { slices, state, steps } = made(0.125);
    await slices.run({ steps: steps(40, "alone"), user: "ann", client });
    expect(state.rests).toBe(0);
    state.othersMs = [0.125];
    await slices.run({ steps: steps(40, "beside"), user: "ann", client });
    // Four steps in one slice, then nine times four alone; the end takes no time.
    expect(state.rests).toBe(10);
  });

  it("go round the users, and within a user one after the other", async () => {
    const { slices, steps } = made(1);
    const ended: string[] = [];
    const run = async (user: string, name: string, count: number) => {
      ended.push((await slices.run({ steps: steps(count, name), user, client })) ?? "over");
    };
    await Promise.all([
      run("ann", "a1", 20),
      run("ann", "a2", 1),
      run("bob", "b1", 3),
      run("eve", "e1", 5),
    ]);
    expect(ended).toEqual(["b1", "e1", "a1", "a2"]);
  });

  it("end without an answer when the client is over, and do nothing for it any more", async () => {
    const { slices } = made(1);
    const gone = { over: false };
    let taken = 0;
    const running = slices.run({
      steps: (function* (): Steps<void> {
        for (;;) {
          taken += 1;
          if (taken === 3) gone.over = true;
          yield;
        }
      })(),
      user: "ann",
      client: gone,
    });
    expect(await running).toBeUndefined();
    expect(taken).toBe(3);
  });

  it("reject with what a step throws, and go on with the next", async () => {
    const { slices, steps } = made(1);
    const broken = slices.run({
      steps: (function* (): Steps<void> {
        yield;
        throw new RangeError("a bug");
      })(),
      user: "ann",
      client,
    });
    const next = slices.run({ steps: steps(2, "next"), user: "ann", client });
    await expect(broken).rejects.toThrow("a bug");
    expect(await next).toBe("next");
  });
});

/** `stepMs`: how long each step takes; `othersMs`: how long others are served after each of the first slices. */
function made(stepMs: number) {
  const state = { served: 0, rests: 0, nowMs: 0, othersMs: [] as number[] };
  const slices = slicesOf({
    othersServed: async () => {
      state.served += 1;
      state.nowMs += state.othersMs.shift() ?? 0;
    },
    rested: async () => {
      state.rests += 1;
    },
    nowMs: () => state.nowMs,
  });
  function* steps<Found>(count: number, found: Found): Steps<Found> {
    for (let step = 0; step < count; step += 1) {
      state.nowMs += stepMs;
      yield;
    }
    return found;
  }
  return { slices, state, steps };
}
