import { describe, expect, it } from "vitest";
import { virtualHost } from "../rig/virtual.ts";
import type { AttemptOutcome } from "./breaker.ts";
import { circuitBreaker } from "./breakers.ts";

describe("circuitBreaker", () => {
  it("lets everything through while closed and nothing while open", () => {
    const { breaker, attempt } = breakerOf();
    expect(breaker.runningMax()).toBe(Number.POSITIVE_INFINITY);
    attempt("failed", "failed");
    expect([breaker.state, breaker.runningMax()]).toEqual(["open", 0]);
  });

  it("lets one query try after the open time and says so at every change", async () => {
    const { breaker, attempt, host, changes } = breakerOf();
    attempt("failed", "failed");
    await host.advance(29_999);
    expect(breaker.runningMax()).toBe(0);
    await host.advance(1);
    expect(breaker.runningMax()).toBe(1);
    attempt("succeeded");
    expect(breaker.runningMax()).toBe(Number.POSITIVE_INFINITY);
    expect(changes).toEqual(["open", "halfOpen", "closed"]);
    expect(host.log.lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
      "warn breaker.open",
      "info breaker.halfOpen",
      "info breaker.closed",
    ]);
  });

  it("opens again for the whole time when the trial fails", async () => {
    const { breaker, attempt, host } = breakerOf();
    attempt("failed", "failed");
    await host.advance(30_000);
    attempt("failed");
    await host.advance(29_999);
    expect(breaker.state).toBe("open");
    await host.advance(1);
    expect(breaker.state).toBe("halfOpen");
  });

  it("allows the trial beside queries that still run from before, and follows as they end", async () => {
    const { breaker, attempt, host, changes } = breakerOf();
    const [endFirst, endSecond] = [breaker.begin(), breaker.begin()];
    attempt("failed", "failed");
    await host.advance(30_000);
    expect(breaker.runningMax()).toBe(3);
    endFirst("neutral");
    expect(breaker.runningMax()).toBe(2);
    expect(changes).toEqual(["open", "halfOpen", "halfOpen"]);
    endSecond("neutral");
    expect(breaker.runningMax()).toBe(1);
  });

  it("tries on when the trial says nothing", async () => {
    const { breaker, attempt, host } = breakerOf();
    attempt("failed", "failed");
    await host.advance(30_000);
    attempt("neutral");
    expect([breaker.state, breaker.runningMax()]).toEqual(["halfOpen", 1]);
  });

  it("counts each attempt once, however often its end is told", () => {
    const { breaker } = breakerOf();
    const end = breaker.begin();
    end("failed");
    end("failed");
    end("failed");
    expect(breaker.state).toBe("closed");
  });

  it("leaves no timer and tells no change once it is disposed", async () => {
    const { breaker, attempt, host, changes } = breakerOf();
    const end = breaker.begin();
    attempt("failed", "failed");
    breaker[Symbol.dispose]();
    expect(host.timerCount).toBe(0);
    end("succeeded");
    expect(changes).toEqual(["open"]);

    const closed = breakerOf();
    closed.breaker[Symbol.dispose]();
    closed.attempt("failed", "failed");
    expect([closed.changes, closed.host.timerCount]).toEqual([[], 0]);
  });
});

/** Opens after two failures, for 30 s. */
function breakerOf() {
  const host = virtualHost(1);
  const changes: string[] = [];
  const config = { failures: 2, openSecs: 30 };
  const labels = { group: "g", cluster: "c" };
  const breaker = circuitBreaker(config, labels, host, () => changes.push(breaker.state));
  const attempt = (...outcomes: readonly AttemptOutcome[]) => {
    for (const outcome of outcomes) breaker.begin()(outcome);
  };
  return { host, breaker, attempt, changes };
}
