import { gatewayError } from "@gateway/core/error.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ask,
  firstTurn,
  given,
  isOver,
  lingerMs,
  nextToken,
  noProgress,
  observe,
  pageTargetBytes,
  type Turn,
} from "./machine.ts";
import { batchOfNumbers, done, numbers, stats } from "./rig/trino.ts";

describe("ask", () => {
  const last: Turn = { given: 3, over: true };
  const middle: Turn = { given: 3, over: false };
  const table: readonly (readonly [string, Turn, number, ReturnType<typeof ask>])[] = [
    ["the first answer", firstTurn, 0, "next"],
    ["an answer that is not due yet", firstTurn, 1, "gone"],
    ["the last one given, again", middle, 3, "repeat"],
    ["the next one", middle, 4, "next"],
    ["one before the last given", middle, 2, "gone"],
    ["one beyond the next", middle, 5, "gone"],
    ["the last of all, again", last, 3, "repeat"],
    ["one behind the last of all", last, 4, "gone"],
  ];
  it.each(table)("answers %s", (_case, turn, token, answer) => {
    expect(ask(turn, token)).toBe(answer);
  });

  it("hands out every number once and in order, whatever is asked", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6)), (tokens) => {
        let turn = firstTurn;
        const handed: number[] = [];
        for (const token of tokens) {
          if (ask(turn, token) !== "next") continue;
          expect(token).toBe(nextToken(turn));
          handed.push(token);
          turn = given(turn, false);
        }
        expect(handed).toEqual(handed.map((_, index) => index));
      }),
    );
  });
});

describe("observe", () => {
  it("leaves the queue with the first sign that the engine runs, and counts the wait to there", () => {
    const queued = observe(noProgress, { kind: "queued", position: 2 }, 10);
    expect([queued.state, queued.queuedMs]).toEqual(["QUEUED", undefined]);
    const running = observe(queued, { kind: "progress", state: "running", stats }, 25);
    expect([running.state, running.queuedMs]).toEqual(["RUNNING", 25]);
    const later = observe(running, { kind: "columns", columns: numbers }, 40);
    expect([later.queuedMs, later.columns]).toEqual([25, numbers]);
  });

  it("stays in the queue while the progress says so", () => {
    const queued = observe(noProgress, { kind: "progress", state: "queued", stats }, 10);
    expect([queued.state, queued.stats]).toEqual(["QUEUED", stats]);
  });

  it("ends with what the last event says", () => {
    const finished = observe(observe(noProgress, batchOfNumbers([1]), 1), done, 2);
    expect([finished.state, isOver(finished)]).toEqual(["FINISHED", true]);
    const error = gatewayError("query.data");
    const failed = observe(noProgress, { kind: "failed", error }, 2);
    expect([failed.state, failed.error, isOver(failed)]).toEqual(["FAILED", error, true]);
  });

  it("keeps changes and notices until an answer took them, and a bounded number of notices", () => {
    const change = { kind: "setting", name: "a", value: "1" } as const;
    const notice = { kind: "notice", code: "c", text: "t" } as const;
    let progress = observe(noProgress, { kind: "session", change }, 0);
    for (let count = 0; count < 150; count += 1) progress = observe(progress, notice, 0);
    expect(progress.changes).toEqual([change]);
    expect(progress.notices).toHaveLength(100);
  });
});

describe("lingerMs", () => {
  it("grows with the wait for the rows, between the least and a fortieth of a second", () => {
    expect([0, 8, 20, 50, 60_000].map((ms) => lingerMs(ms, 5))).toEqual([5, 5, 10, 25, 25]);
  });
});

describe("pageTargetBytes", () => {
  it("begins small and grows to one mebibyte", () => {
    expect([0, 1, 2, 3, 4, 5, 50].map((pages) => pageTargetBytes(pages) / 1024)).toEqual([
      64, 128, 256, 512, 1024, 1024, 1024,
    ]);
  });
});
