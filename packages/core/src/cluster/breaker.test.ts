import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorCodes } from "@gateway/contract/error.ts";
import {
  attemptOutcome,
  breakerAfter,
  breakerClosed,
  type BreakerEvent,
  type BreakerState,
} from "./breaker.ts";

describe("breakerAfter", () => {
  it("opens after so many failures in a row", () => {
    expect(after("failed", "failed")).toEqual({ kind: "closed", failures: 2 });
    expect(after("failed", "failed", "failed")).toEqual({ kind: "open" });
  });

  it("begins to count anew after a success", () => {
    expect(after("failed", "failed", "succeeded", "failed")).toEqual({
      kind: "closed",
      failures: 1,
    });
  });

  it("hears nothing but time while open", () => {
    const open = ["failed", "failed", "failed"] as const;
    expect(after(...open, "succeeded", "failed")).toEqual({ kind: "open" });
    expect(after(...open, "elapsed")).toEqual({ kind: "halfOpen" });
  });

  it("closes with the first success of a trial and opens with its first failure", () => {
    const trial = ["failed", "failed", "failed", "elapsed"] as const;
    expect(after(...trial, "succeeded")).toEqual(breakerClosed);
    expect(after(...trial, "failed")).toEqual({ kind: "open" });
    expect(after(...trial, "elapsed")).toEqual({ kind: "halfOpen" });
  });

  it("is never open without the failures that open it", () => {
    const events = fc.array(fc.constantFrom<BreakerEvent>("succeeded", "failed", "elapsed"));
    const justified = fc.property(events, fc.integer({ min: 1, max: 5 }), (all, failuresMax) => {
      let state: BreakerState = breakerClosed;
      let inRow = 0;
      for (const event of all) {
        const before = state;
        state = breakerAfter(before, event, failuresMax);
        if (event === "failed") inRow += 1;
        if (event === "succeeded") inRow = 0;
        const opened = before.kind === "closed" && state.kind === "open";
        expect(opened).toBe(before.kind === "closed" && inRow >= failuresMax);
        expect(state.kind === "closed" ? state.failures : inRow).toBe(inRow);
        if (state.kind !== "closed") inRow = 0;
      }
    });
    fc.assert(justified);
  });
});

describe("attemptOutcome", () => {
  it("counts only a connection that fails or breaks against a cluster", () => {
    const failed = errorCodes.filter((code) => attemptOutcome(code) === "failed");
    expect(failed).toEqual(["cluster.connectFailed", "engine.broken"]);
  });

  it("takes an answer about the client's SQL as a sign of life, and no sign from a cancellation", () => {
    expect(attemptOutcome(undefined)).toBe("succeeded");
    expect(attemptOutcome("query.syntax")).toBe("succeeded");
    expect(attemptOutcome("query.cancelled")).toBe("neutral");
    expect(attemptOutcome("engine.failed")).toBe("neutral");
  });
});

/** The state of a breaker for three failures after these events. */
function after(...events: readonly BreakerEvent[]): BreakerState {
  return events.reduce((state, event) => breakerAfter(state, event, 3), breakerClosed);
}
