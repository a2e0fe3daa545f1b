import { gatewayError } from "@gateway/core/error.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, carried, firstTurn, given, isOver, nextToken, noFacts, observe } from "./machine.ts";

const stats = { queueMs: 1, executionMs: 2, rows: 3, bytes: 4 };

describe("ask", () => {
  it("repeats the last answer, gives the next, and nothing else", () => {
    fc.assert(
      fc.property(
        fc.nat(6),
        fc.boolean(),
        fc.integer({ min: -2, max: 9 }),
        (count, over, token) => {
          let turn = firstTurn;
          for (let answer = 1; answer <= count; answer += 1)
            turn = given(turn, over && answer === count);
          const last = count - 1;
          const isRepeat = count > 0 && token === last;
          const isNext = token === count && !(over && count > 0);
          expect(ask(turn, token)).toBe(isRepeat ? "repeat" : isNext ? "next" : "gone");
          expect(nextToken(turn)).toBe(count);
        },
      ),
    );
  });
});

describe("observe", () => {
  it("forgets the place in the queue once the query runs", () => {
    const queued = observe(noFacts, { kind: "queued", position: 2 });
    expect(queued).toMatchObject({ state: "queued", queuePosition: 2 });
    const runs = observe(queued, { kind: "progress", state: "running", stats });
    expect(runs).toMatchObject({ state: "running", queuePosition: undefined, stats });
  });

  it("ends with the count of a change or with its error", () => {
    const ended = observe(noFacts, { kind: "done", stats, updateType: "INSERT", updateCount: 3 });
    expect(ended).toMatchObject({ state: "finished", updateType: "INSERT", updateCount: 3 });
    const failed = observe(noFacts, { kind: "failed", error: gatewayError("engine.failed") });
    expect([isOver(ended), isOver(failed), isOver(noFacts)]).toEqual([true, true, false]);
  });

  it("keeps a few short notices until an answer carried them", () => {
    let facts = noFacts;
    for (let count = 0; count < 50; count += 1) {
      facts = observe(facts, { kind: "notice", code: "x", text: "n".repeat(2_000) });
    }
    expect(facts.notices).toHaveLength(20);
    expect(facts.notices[0]).toHaveLength(500);
    expect(carried(facts).notices).toEqual([]);
  });
});
