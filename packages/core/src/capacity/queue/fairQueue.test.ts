import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue, type WaiterTraits } from "./fairQueue.ts";

const anywhere = () => true;

describe("FairQueue.next", () => {
  it("goes by age within one user", () => {
    const queue = queueOf([{}, {}, {}]);
    expect(drain(queue)).toEqual([0, 1, 2]);
  });

  it("serves the least served user of a group first", () => {
    const queue = queueOf([
      { user: "a" },
      { user: "a" },
      { user: "a" },
      { user: "b" },
      { user: "b" },
    ]);
    expect(drain(queue)).toEqual([0, 3, 1, 4, 2]);
  });

  it("gives groups turns by weight", () => {
    const heavy = Array.from({ length: 8 }, () => ({ group: "heavy", weight: 3 }));
    const light = Array.from({ length: 8 }, () => ({ group: "light", weight: 1 }));
    const served = drain(queueOf([...light, ...heavy])).map((item) => (item < 8 ? "l" : "h"));
    expect(served.slice(0, 8).filter((letter) => letter === "h")).toHaveLength(6);
  });

  it("puts a waiter past its urgent time before everybody, the longest urgent first", () => {
    const queue = queueOf([
      {},
      { urgentAtMs: 50, group: "other", weight: 0.001 },
      { urgentAtMs: 40 },
    ]);
    expect(drain(queue, { nowMs: 39 })).toEqual([0, 1, 2]);
    const late = queueOf([
      {},
      { urgentAtMs: 50, group: "other", weight: 0.001 },
      { urgentAtMs: 40 },
    ]);
    expect(drain(late, { nowMs: 50 })).toEqual([2, 1, 0]);
  });

  it("puts an urgent waiter before an older one of another group that is not", () => {
    const all = [{}, { urgentAtMs: 50, group: "other" }, { urgentAtMs: 40 }];
    expect(drain(queueOf(all), { nowMs: 45 })).toEqual([2, 1, 0]);
  });

  it("goes by the least served user where groups are level", () => {
    const queue = queueOf([
      { group: "a", user: "busy" },
      { group: "a", user: "busy" },
      { group: "b", user: "one" },
    ]);
    expect(drain(queue, { count: 2 })).toEqual([0, 2]);
    queue.add(3, traitsOf({ group: "b", user: "new" }));
    expect(drain(queue)).toEqual([3, 1]);
  });

  it("passes subqueues that do not fit and asks each only once", () => {
    const queue = queueOf([{ subqueue: "full" }, { subqueue: "full" }, { subqueue: "free" }]);
    const asked: string[] = [];
    const next = queue.next(0, ({ subqueue }) => {
      asked.push(subqueue);
      return subqueue === "free";
    });
    expect(next?.item).toBe(2);
    expect(asked).toEqual(["full", "free"]);
  });

  it("keeps each group within one grant of its share, however weights differ", () => {
    const weights = fc.array(fc.constantFrom(0.5, 1, 2, 3, 7), { minLength: 2, maxLength: 5 });
    const fair = fc.property(weights, fc.integer({ min: 1, max: 150 }), (all, grants) => {
      const queue = new FairQueue<number>();
      for (const [group, weight] of all.entries()) {
        for (let count = 0; count < 150; count += 1) {
          queue.add(group, traitsOf({ group: String(group), weight }));
        }
      }
      const served = all.map(() => 0);
      for (let grant = 0; grant < grants; grant += 1) {
        const next = queue.next(0, anywhere);
        if (next === undefined) break;
        served[next.item] = (served[next.item] ?? Number.NaN) + 1;
        queue.grant(next);
      }
      for (const [a, weightA] of all.entries()) {
        for (const [b, weightB] of all.entries()) {
          const apart = (served[a] ?? Number.NaN) / weightA - (served[b] ?? Number.NaN) / weightB;
          expect(Math.abs(apart)).toBeLessThanOrEqual(1 / weightA + 1 / weightB + 1e-9);
        }
      }
    });
    fc.assert(fair, { numRuns: 50 });
  });
});

describe("FairQueue.add", () => {
  it("starts an idle group level with those who waited, not ahead of them", () => {
    const queue = queueOf(Array.from({ length: 20 }, () => ({ group: "old" })));
    drain(queue, { count: 10 });
    for (let item = 100; item < 110; item += 1) queue.add(item, traitsOf({ group: "new" }));
    const served = drain(queue, { count: 6 }).map((item) => (item < 100 ? "old" : "new"));
    expect(served.filter((group) => group === "new")).toHaveLength(3);
  });

  it("holds at most one grant against a group that ran alone for long", () => {
    const queue = new FairQueue<number>();
    const keeper = queue.add(0, traitsOf({ group: "blocked", subqueue: "full" }));
    for (let item = 0; item < 500; item += 1) queue.add(item, traitsOf({ group: "busy" }));
    drain(queue, { count: 400, fits: ({ subqueue }) => subqueue !== "full" });
    queue.move(keeper, "free");
    for (let item = 0; item < 10; item += 1) queue.add(item, traitsOf({ group: "blocked" }));
    const groups = Array.from({ length: 6 }, () => {
      const next = queue.next(0, anywhere);
      if (next !== undefined) queue.grant(next);
      return next?.group;
    });
    expect(groups.filter((group) => group === "busy").length).toBeGreaterThanOrEqual(2);
  });

  it("forgets what a group took while nobody else wanted anything", () => {
    const queue = queueOf(Array.from({ length: 50 }, () => ({ group: "alone" })));
    drain(queue);
    for (let item = 0; item < 10; item += 1) queue.add(item, traitsOf({ group: "late" }));
    for (let item = 10; item < 20; item += 1) queue.add(item, traitsOf({ group: "alone" }));
    expect(drain(queue, { count: 6 }).filter((item) => item >= 10)).toHaveLength(3);
  });

  it("does not let a group jump the line by never having two waiters at a time", () => {
    const queue = queueOf(Array.from({ length: 60 }, () => ({ group: "heavy", weight: 5 })));
    let light = 0;
    let heavy = 0;
    queue.add(-1, traitsOf({ group: "light", weight: 1 }));
    for (let grant = 0; grant < 36; grant += 1) {
      const next = queue.next(0, anywhere);
      if (next === undefined) break;
      queue.grant(next);
      if (next.group === "heavy") heavy += 1;
      else {
        light += 1;
        queue.add(-1, traitsOf({ group: "light", weight: 1 }));
      }
    }
    expect(heavy / light).toBeGreaterThanOrEqual(4);
  });

  it("starts a new user level with the least served one", () => {
    const queue = queueOf(Array.from({ length: 12 }, () => ({ user: "old" })));
    drain(queue, { count: 6 });
    for (let item = 100; item < 106; item += 1) queue.add(item, traitsOf({ user: "new" }));
    const served = drain(queue, { count: 4 });
    expect(served.filter((item) => item >= 100)).toHaveLength(2);
  });
});

describe("FairQueue.remove", () => {
  it("forgets a waiter wherever it stands, once", () => {
    const queue = new FairQueue<number>();
    const first = queue.add(0, traitsOf({}));
    queue.add(1, traitsOf({}));
    const third = queue.add(2, traitsOf({}));
    queue.add(3, traitsOf({}));
    expect(queue.remove(third)).toBe(true);
    expect(queue.remove(first)).toBe(true);
    expect(queue.remove(first)).toBe(false);
    expect(queue.size).toBe(2);
    expect(drain(queue)).toEqual([1, 3]);
    expect(queue.groups()).toEqual([]);
  });

  it("serves everybody who stays exactly once, after any arrivals, moves and removals", () => {
    const action = fc.record({
      kind: fc.constantFrom("add", "add", "remove", "grant", "move"),
      group: fc.constantFrom("g1", "g2"),
      user: fc.constantFrom("a", "b", "c"),
      subqueue: fc.constantFrom("x", "y"),
      urgentAtMs: fc.nat(20),
      at: fc.nat(50),
    });
    const nobodyLost = fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const queue = new FairQueue<number>();
      const inside = new Map<number, ReturnType<typeof queue.add>>();
      const removed: boolean[] = [];
      for (const [item, { kind, at, ...traits }] of actions.entries()) {
        const known = [...inside.keys()][at % Math.max(1, inside.size)];
        const ticket = known === undefined ? undefined : inside.get(known);
        if (kind === "add" || known === undefined || ticket === undefined) {
          inside.set(item, queue.add(item, traitsOf(traits)));
        } else if (kind === "move") {
          queue.move(ticket, traits.subqueue);
        } else if (kind === "remove") {
          removed.push(queue.remove(ticket));
          inside.delete(known);
        } else {
          for (const served of drain(queue, { nowMs: at, count: 1 })) inside.delete(served);
        }
      }
      expect(removed).not.toContain(false);
      expect(queue.size).toBe(inside.size);
      expect(queue.sizeOf("g1") + queue.sizeOf("g2")).toBe(inside.size);
      expect(new Set(drain(queue, { nowMs: 10 }))).toEqual(new Set(inside.keys()));
    });
    fc.assert(nobodyLost);
  });
});

describe("FairQueue.inOrder", () => {
  it("is the order in which waiters of a group are then served", () => {
    const users = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 40 });
    const asServed = fc.property(users, fc.nat(10), (all, before) => {
      const queue = queueOf(all.map((user) => ({ user })));
      drain(queue, { count: before });
      const shown = queue.inOrder("g", 0).map(({ item }) => item);
      expect(drain(queue)).toEqual(shown);
    });
    fc.assert(asServed);
  });

  it("shows urgent waiters first", () => {
    const queue = queueOf([{}, { urgentAtMs: 20 }, { urgentAtMs: 10 }]);
    expect(queue.inOrder("g", 20).map(({ item }) => item)).toEqual([2, 1, 0]);
    expect(queue.inOrder("unknown", 20)).toEqual([]);
  });
});

describe("FairQueue.positionOfYoungest", () => {
  it("agrees with the whole order", () => {
    const users = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 30 });
    const same = fc.property(users, fc.nat(10), (all, granted) => {
      const queue = queueOf(all.map((user) => ({ user })));
      drain(queue, { count: granted });
      const youngest = queue.add(99, traitsOf({ user: "a" }));
      const shown = queue.inOrder("g", 0).findIndex(({ item }) => item === 99) + 1;
      expect(queue.positionOfYoungest(youngest)).toBe(shown);
    });
    fc.assert(same);
  });

  it("is the last position where many users wait", () => {
    const queue = queueOf(Array.from({ length: 300 }, (_, item) => ({ user: `u${item % 150}` })));
    const youngest = queue.add(300, traitsOf({ user: "new" }));
    expect(queue.positionOfYoungest(youngest)).toBe(301);
    expect(queue.inOrder("g", 0).findIndex(({ item }) => item === 300) + 1).toBe(151);
  });
});

function traitsOf(traits: Partial<WaiterTraits>): WaiterTraits {
  const far = Number.POSITIVE_INFINITY;
  return { subqueue: "l", group: "g", weight: 1, user: "u", urgentAtMs: far, ...traits };
}

/** Items are numbered from 0. */
function queueOf(all: readonly Partial<WaiterTraits>[]): FairQueue<number> {
  const queue = new FairQueue<number>();
  for (const [item, traits] of all.entries()) queue.add(item, traitsOf(traits));
  return queue;
}

interface Drain {
  readonly nowMs?: number;
  readonly count?: number;
  readonly fits?: Parameters<FairQueue<number>["next"]>[1];
}

function drain(queue: FairQueue<number>, options: Drain = {}): number[] {
  const { nowMs = 0, count = Number.POSITIVE_INFINITY, fits = anywhere } = options;
  const served: number[] = [];
  while (served.length < count) {
    const next = queue.next(nowMs, fits);
    if (next === undefined) break;
    queue.grant(next);
    served.push(next.item);
  }
  return served;
}
