import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StrategyConfig } from "@gateway/contract/config/group.ts";
import { strategyOf, type StrategyMember } from "./strategy.ts";

const idle = () => 0;
const [a, b, c] = [memberOf("a"), memberOf("b"), memberOf("c", "trino")];

describe("strategyOf", () => {
  it("roundRobin turns the list by one place per query and not per question", () => {
    const strategy = strategyOf({ type: "roundRobin" });
    const first = strategy.draw();
    expect(names(first([a, b, c], idle))).toEqual(["a", "b", "c"]);
    expect(names(first([a, b, c], idle))).toEqual(["a", "b", "c"]);
    expect(names(strategy.draw()([a, b, c], idle))).toEqual(["b", "c", "a"]);
    expect(names(strategy.draw()([a, b, c], idle))).toEqual(["c", "a", "b"]);
  });

  it("keeps a wheel per strategy", () => {
    strategyOf({ type: "roundRobin" }).draw();
    expect(names(strategyOf({ type: "roundRobin" }).draw()([a, b], idle))).toEqual(["a", "b"]);
  });

  it("leastLoaded takes the fewest running first, as they are when asked, and equals in turn", () => {
    const strategy = strategyOf({ type: "leastLoaded" });
    const loads = new Map([
      ["a", 3],
      ["b", 1],
      ["c", 2],
    ]);
    const draw = strategy.draw();
    const load = (cluster: string) => loads.get(cluster) ?? 0;
    expect(names(draw([a, b, c], load))).toEqual(["b", "c", "a"]);
    loads.set("b", 9);
    expect(names(draw([a, b, c], load))).toEqual(["c", "a", "b"]);
    const firsts = [1, 2, 3].map(() => strategy.draw()([a, b, c], idle)[0]?.cluster);
    expect(new Set(firsts)).toEqual(new Set(["a", "b", "c"]));
  });

  it("failover keeps the order of the config", () => {
    const strategy = strategyOf({ type: "failover" });
    expect(names(strategy.draw()([a, b, c], idle))).toEqual(["a", "b", "c"]);
    expect(names(strategy.draw()([b, c], idle))).toEqual(["b", "c"]);
  });

  it("engineAffinity takes preferred engines first, others last, equals in turn", () => {
    const strategy = strategyOf({ type: "engineAffinity", preference: ["trino", "starRocks"] });
    expect(names(strategy.draw()([a, b, c], idle))).toEqual(["c", "a", "b"]);
    expect(names(strategy.draw()([a, b, c], idle))).toEqual(["c", "b", "a"]);
  });

  it("weighted gives smooth turns by weight, and an unnamed member weight 1", () => {
    const strategy = strategyOf({ type: "weighted", weights: { a: 5 } });
    const firsts = Array.from({ length: 7 }, () => strategy.draw()([a, b, c], idle)[0]?.cluster);
    expect(firsts.join("")).toBe("aabacaa");
  });

  it("weighted keeps a query's turn while it waits, and chooses again when that member is gone", () => {
    const strategy = strategyOf({ type: "weighted", weights: { a: 1, b: 1 } });
    const draw = strategy.draw();
    expect(names(draw([a, b], idle))).toEqual(["a", "b"]);
    expect(names(draw([a, b], idle))).toEqual(["a", "b"]);
    expect(names(draw([b], idle))).toEqual(["b"]);
    expect(names(draw([a, b], idle))).toEqual(["b", "a"]);
  });

  it("weighted uses a member of weight 0 only behind all others", () => {
    const strategy = strategyOf({ type: "weighted", weights: { a: 0, b: 1, c: 2 } });
    for (let turn = 0; turn < 9; turn += 1) {
      expect(strategy.draw()([a, b, c], idle).at(-1)?.cluster).toBe("a");
    }
    expect(names(strategy.draw()([a], idle))).toEqual(["a"]);

    // b has just had its turn and is in debt, and c is gone: still b, not a.
    const level = strategyOf({ type: "weighted", weights: { a: 0, b: 1, c: 1 } });
    expect(names(level.draw()([b, c], idle))).toEqual(["b", "c"]);
    expect(names(level.draw()([a, b], idle))).toEqual(["b", "a"]);
  });

  it("weighted meets its shares exactly over one round of whole weights", () => {
    const weights = fc.record({
      a: fc.integer({ min: 0, max: 9 }),
      b: fc.integer({ min: 1, max: 9 }),
      c: fc.integer({ min: 0, max: 9 }),
    });
    const shares = fc.property(weights, (all) => {
      const strategy = strategyOf({ type: "weighted", weights: all });
      const counts = { a: 0, b: 0, c: 0 };
      for (let turn = 0; turn < all.a + all.b + all.c; turn += 1) {
        const [first] = strategy.draw()([a, b, c], idle);
        if (first?.cluster === "a" || first?.cluster === "b" || first?.cluster === "c")
          counts[first.cluster] += 1;
      }
      expect(counts).toEqual(all);
    });
    fc.assert(shares);
  });

  it("never adds, drops or doubles a member, whatever the strategy", () => {
    const configs = fc.constantFrom<StrategyConfig>(
      { type: "roundRobin" },
      { type: "leastLoaded" },
      { type: "failover" },
      { type: "engineAffinity", preference: ["trino"] },
      { type: "weighted", weights: { a: 2, c: 0 } },
    );
    const usable = fc.subarray([a, b, c]);
    const same = fc.property(configs, fc.array(usable, { maxLength: 10 }), (config, asked) => {
      const strategy = strategyOf(config);
      let draw = strategy.draw();
      for (const [turn, members] of asked.entries()) {
        if (turn % 3 === 0) draw = strategy.draw();
        expect(names(draw(members, idle)).toSorted()).toEqual(names(members).toSorted());
      }
    });
    fc.assert(same);
  });
});

function memberOf(cluster: string, engine = "duckDb"): StrategyMember {
  return { cluster, engine };
}

function names(members: readonly StrategyMember[]): readonly string[] {
  return members.map(({ cluster }) => cluster);
}
