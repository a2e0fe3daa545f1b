import { describe, expect, it } from "vitest";
import { Turns } from "./turns.ts";

describe("Turns", () => {
  it("serves so many at a time, in the order they came", async () => {
    const turns = new Turns(2);
    const served: number[] = [];
    const taken = [1, 2, 3, 4].map(async (name) => {
      const turn = await turns.take();
      served.push(name);
      return turn;
    });
    const [first, second] = await Promise.all(taken.slice(0, 2));
    expect(served).toEqual([1, 2]);
    second?.[Symbol.dispose]();
    await taken[2];
    expect(served).toEqual([1, 2, 3]);
    first?.[Symbol.dispose]();
    await taken[3];
    expect(served).toEqual([1, 2, 3, 4]);
  });

  it("gives a turn back once, however often it is disposed", async () => {
    const turns = new Turns(1);
    const first = await turns.take();
    first?.[Symbol.dispose]();
    first?.[Symbol.dispose]();
    const second = await turns.take();
    let third: Disposable | undefined;
    const wait = async (): Promise<void> => {
      third = await turns.take();
    };
    const waiting = wait();
    await Promise.resolve();
    expect(third).toBeUndefined();
    second?.[Symbol.dispose]();
    await waiting;
    expect(third).toBeDefined();
  });

  it("turns away whoever comes when the line is full", () => {
    const turns = new Turns(1);
    const answers = Array.from({ length: 10_002 }, () => turns.take());
    expect(answers.filter((answer) => answer === undefined).length).toBe(1);
  });
});
