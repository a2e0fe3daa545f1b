import { describe, expect, it } from "vitest";
import { Aged } from "./aged.ts";
import { Cells } from "./cells.ts";
import { Members } from "./members.ts";
import { keptOf } from "./rig/kept.ts";

describe("Members", () => {
  it("has them in the order in which they came", () => {
    const members = new Members<string>();
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => members.add(name));
    expect([members.values(), members.size, members.first?.value]).toEqual([
      ["a", "b", "c", "d"],
      4,
      "a",
    ]);
    for (const [one, left] of [
      [b, "acd"],
      [a, "cd"],
      [d, "c"],
      [c, ""],
    ] as const) {
      if (one !== undefined) members.remove(one);
      expect([members.values().join(""), members.size]).toEqual([left, left.length]);
    }
    expect(members.first).toBeUndefined();
    members.add("e");
    expect(members.values()).toEqual(["e"]);
  });

  it("lets go once, and knows no more of who went", () => {
    const members = new Members<string>();
    const one = members.add("one");
    members.add("other");
    members.remove(one);
    members.remove(one);
    expect([members.size, one.value, one.before, one.behind]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("Cells", () => {
  it("is a map", () => {
    const cells = new Cells<string, number>();
    cells.set("a", 1);
    cells.set("b", 2);
    cells.set("a", 3);
    expect([cells.size, cells.get("a"), cells.get("c")]).toEqual([2, 3, undefined]);
    expect(cells.entries()).toEqual([
      ["a", 3],
      ["b", 2],
    ]);
    expect([cells.delete("a"), cells.delete("a"), cells.values()]).toEqual([true, false, [2]]);
    cells.clear();
    expect([cells.size, cells.get("b")]).toEqual([0, undefined]);
  });
});

describe("what comes and goes", () => {
  it("is not kept by what it came to, where a map's old tables keep nearly all of it", () => {
    const map = new Map<number, object>();
    const inMap = keptOf(
      (n, value) => map.set(n, value),
      (n) => map.delete(n),
    );
    const cells = new Cells<number, object>();
    const inCells = keptOf(
      (n, value) => {
        cells.set(n, value);
        return n;
      },
      (n) => cells.delete(n),
    );
    const aged = new Aged<number, object>();
    const inAged = keptOf(
      (n, value) => {
        aged.put(n, value);
        return n;
      },
      (n) => aged.delete(n),
    );
    const members = new Members<object>();
    const inMembers = keptOf(
      (_, value) => members.add(value),
      (_, place) => members.remove(place),
    );
    for (const kept of [inCells, inAged, inMembers]) expect(kept).toBeLessThan(inMap / 3);
  });
});
