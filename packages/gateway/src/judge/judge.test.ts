import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import { describe, expect, it } from "vitest";
import { Judge } from "./judge.ts";
import type { JudgeInput } from "./judged.ts";

describe("Judge", () => {
  it("answers in the order of the questions, from one thread that is kept for a while", async () => {
    const { judge, threads, host } = testJudge();
    const asked = [judge.ask(inputOf("one")), judge.ask(inputOf("two"))];
    expect(threads).toHaveLength(1);
    threads[0]?.answer("one");
    threads[0]?.answer("two");
    expect(await Promise.all(asked)).toEqual([{ faults: ["one"] }, { faults: ["two"] }]);
    expect(threads[0]?.refs.at(-1)).toBe(false);

    await host.advance(59_000);
    const third = judge.ask(inputOf("three"));
    expect(threads).toHaveLength(1);
    expect(threads[0]?.refs.at(-1)).toBe(true);
    await host.advance(60_000);
    expect(threads[0]?.terminated).toBe(false);
    threads[0]?.answer("three");
    expect(await third).toEqual({ faults: ["three"] });
    await host.advance(60_000);
    expect(threads[0]?.terminated).toBe(true);
    const fourth = judge.ask(inputOf("four"));
    expect(threads).toHaveLength(2);
    // The end of the first may be told late.
    threads[0]?.end();
    threads[1]?.answer("four");
    expect(await fourth).toEqual({ faults: ["four"] });
  });

  it("refuses what a thread that ended left unanswered, and starts another one for the next", async () => {
    const { judge, threads } = testJudge();
    const asked = [judge.ask(inputOf("one")), judge.ask(inputOf("two"))];
    threads[0]?.end();
    const lost = { faults: ["the snapshot could not be judged"] };
    expect(await Promise.all(asked)).toEqual([lost, lost]);
    const next = judge.ask(inputOf("three"));
    threads[1]?.answer("three");
    expect(await next).toEqual({ faults: ["three"] });
  });
});

/** A judge over threads that answer when the test says so. */
function testJudge() {
  const threads: TestThread[] = [];
  const starting: Threads = {
    start: () => {
      const thread = new TestThread();
      threads.push(thread);
      return thread;
    },
  };
  const host = virtualHost(1, starting);
  return { judge: new Judge(host), threads, host };
}

class TestThread implements Thread {
  readonly refs: boolean[] = [];
  terminated = false;
  #message: ((message: unknown) => void) | undefined;
  #exit: ((error: unknown) => void) | undefined;

  answer(fault: string): void {
    this.#message?.({ faults: [fault] });
  }

  end(): void {
    this.#exit?.(undefined);
  }

  post(): void {}

  onMessage(handle: (message: unknown) => void): void {
    this.#message = handle;
  }

  onExit(handle: (error: unknown) => void): void {
    this.#exit = handle;
  }

  ref(on: boolean): void {
    this.refs.push(on);
  }

  async terminate(): Promise<void> {
    this.terminated = true;
  }
}

function inputOf(name: string): JudgeInput {
  return { bytes: Buffer.from(name) } as Partial<JudgeInput> as JudgeInput;
}
