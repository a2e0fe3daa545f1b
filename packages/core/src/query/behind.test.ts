import { describe, expect, it } from "vitest";
import { Behind } from "./behind.ts";

describe("Behind", () => {
  it("runs what was added once, in its order, and what is added meanwhile with the next run", () => {
    const { behind, said, leaving } = made();
    behind.add(leaving("a", () => behind.add(leaving("later"))));
    behind.add(leaving("b"));
    behind.add(leaving("c"));
    expect(said).toEqual([]);
    behind.run();
    expect(said).toEqual(["a", "b", "c"]);
    behind.run();
    behind.run();
    expect(said).toEqual(["a", "b", "c", "later"]);
  });

  it("runs it by itself where nobody else does, and plans that once until then", () => {
    const { behind, said, plans, leaving } = made();
    behind.add(leaving("a"));
    behind.run();
    behind.add(leaving("b"));
    behind.add(leaving("c"));
    expect(plans).toHaveLength(1);
    plans.shift()?.();
    expect(said).toEqual(["a", "b", "c"]);
    behind.add(leaving("d"));
    plans.shift()?.();
    expect(said).toEqual(["a", "b", "c", "d"]);
    expect(plans).toEqual([]);
  });
});

function made() {
  const said: string[] = [];
  const plans: (() => void)[] = [];
  const behind = new Behind((run) => void plans.push(run));
  const leaving = (name: string, more?: () => void) => ({
    leave: () => {
      said.push(name);
      more?.();
    },
  });
  return { behind, said, plans, leaving };
}
