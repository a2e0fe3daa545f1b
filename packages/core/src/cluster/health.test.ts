import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import { virtualHost } from "../rig/virtual.ts";
import { err, ok } from "../result.ts";
import {
  healthAfter,
  healthLimits,
  watchBackend,
  type HealthState,
  type ProbeResult,
} from "./health.ts";

type Probe = (signal: AbortSignal) => Promise<ProbeResult>;

describe("healthAfter", () => {
  it("lets the first answer decide", () => {
    const start: HealthState = { kind: "starting", streak: 0 };
    expect(healthAfter(start, "healthy", healthLimits)).toEqual({ kind: "up", streak: 0 });
    expect(healthAfter(start, "unhealthy", healthLimits)).toEqual({ kind: "down", streak: 0 });
  });

  it("changes its mind only after enough answers in a row", () => {
    const answers = fc.array(fc.constantFrom<ProbeResult>("healthy", "unhealthy"), {
      minLength: 1,
    });
    const limits = { failuresDown: 3, successesUp: 2 };
    const steady = fc.property(answers, (all) => {
      let state: HealthState = { kind: "starting", streak: 0 };
      for (const [index, answer] of all.entries()) {
        const before = state.kind;
        state = healthAfter(state, answer, limits);
        if (before === state.kind || before === "starting") continue;
        const needed = state.kind === "down" ? limits.failuresDown : limits.successesUp;
        expect(new Set(all.slice(index + 1 - needed, index + 1))).toEqual(new Set([answer]));
      }
    });
    fc.assert(steady);
  });
});

describe("watchBackend", () => {
  it("counts a backend as usable until its first probe answered", async () => {
    const { watch, host, changes } = watchOf(() => Promise.resolve("unhealthy"));
    expect([watch.state, watch.usable()]).toEqual(["starting", true]);
    await host.settle();
    expect([watch.state, watch.usable()]).toEqual(["down", false]);
    expect(changes).toEqual([false]);
  });

  it("ejects after failures in a row and takes back after successes in a row", async () => {
    const answers: ProbeResult[] = [
      "healthy",
      "unhealthy",
      "healthy",
      "unhealthy",
      "unhealthy",
      "healthy",
      "healthy",
    ];
    const seen: boolean[] = [];
    const { watch, host, probes } = watchOf(async () => answers.shift() ?? "healthy");
    for (let turn = 1; turn <= 7; turn += 1) {
      await host.runUntil(() => probes.length === turn);
      seen.push(watch.usable());
    }
    expect(seen).toEqual([true, true, true, true, false, false, true]);
    expect(
      host.log.lines.map(({ level, event, fields }) => [level, event, fields["cluster"]]),
    ).toEqual([
      ["warn", "cluster.ejected", "c"],
      ["info", "cluster.recovered", "c"],
    ]);
  });

  it("takes back within two seconds of the first answer, before those who wait for it give up", async () => {
    let answer: ProbeResult = "unhealthy";
    const { watch, host, probes } = watchOf(async () => answer);
    await host.runUntil(() => probes.length === 3);
    expect(watch.usable()).toBe(false);
    answer = "healthy";
    await host.runUntil(() => probes.length === 4);
    expect(watch.usable()).toBe(false);
    await host.advance(2_000);
    expect([probes.length, watch.usable()]).toEqual([5, true]);
  });

  it("tells of a change once, after it holds", async () => {
    const answers: ProbeResult[] = [
      "healthy",
      "unhealthy",
      "unhealthy",
      "unhealthy",
      "healthy",
      "healthy",
    ];
    const { host, probes, changes } = watchOf(async () => answers.shift() ?? "healthy");
    await host.runUntil(() => probes.length === 8);
    expect(changes).toEqual([false, true]);
  });

  it("probes every few seconds, apart by chance within the jitter", async () => {
    const { host, probes } = watchOf(async () => "healthy");
    await host.runUntil(() => probes.length === 50);
    const pauses = probes.slice(1).map((at, index) => at - (probes[index] ?? Number.NaN));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(4_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(6_000);
    expect(new Set(pauses).size).toBeGreaterThan(40);
  });

  it("counts a probe that takes too long as failed and tells the engine to stop", async () => {
    const aborted: number[] = [];
    const { watch, host } = watchOf(
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted.push(host.clock.nowMs());
            resolve("healthy");
          });
        }),
    );
    await host.advance(healthLimits.timeoutMs - 1);
    expect(watch.usable()).toBe(true);
    await host.advance(1);
    expect([watch.usable(), aborted]).toEqual([false, [healthLimits.timeoutMs]]);
  });

  it("never has two probes in an engine that does not return from one", async () => {
    let inside = 0;
    let release: (answer: ProbeResult) => void = () => {};
    const { watch, host, probes } = watchOf(() => {
      inside += 1;
      expect(inside).toBe(1);
      return new Promise((resolve) => {
        release = (answer) => {
          inside -= 1;
          resolve(answer);
        };
      });
    });
    await host.advance(60_000);
    expect([probes.length, watch.usable()]).toEqual([1, false]);
    release("healthy");
    await host.runUntil(() => probes.length === 2);
    release("healthy");
    await host.runUntil(() => probes.length === 3);
    release("healthy");
    await host.settle();
    expect(watch.usable()).toBe(true);
  });

  it("takes a probe that throws as failed and reports the bug", async () => {
    const { watch, host } = watchOf(() => Promise.reject(new Error("a bug in an adapter")));
    await host.settle();
    expect([watch.usable(), host.log.bugs.length]).toEqual([false, 1]);
  });

  it("probes at once when a query could not reach the backend, and not more than once a second", async () => {
    const { watch, host, probes } = watchOf(async () => "healthy");
    await host.advance(500);
    watch.suspect();
    expect(probes).toEqual([0]);
    await host.advance(1_000);
    watch.suspect();
    watch.suspect();
    await host.settle();
    expect(probes).toEqual([0, 1_500]);
    expect(host.timerCount).toBe(1);
  });

  it("does not take a suspicion for an answer while a probe is under way", async () => {
    let answer: (answer: ProbeResult) => void = () => {};
    const { watch, host } = watchOf(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await host.advance(1_500);
    watch.suspect();
    await host.settle();
    expect(watch.state).toBe("starting");
    answer("healthy");
    await host.settle();
    expect(watch.state).toBe("up");
  });

  it("leaves no timer and no probe behind when it is disposed", async () => {
    let aborted = false;
    const { watch, host, changes } = watchOf(
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve("unhealthy");
          });
        }),
    );
    watch[Symbol.dispose]();
    await host.advance(60_000);
    expect([aborted, host.timerCount, changes]).toEqual([true, 0, []]);
    watch.suspect();
    expect(host.timerCount).toBe(0);
  });
});

function watchOf(probe: Probe) {
  const host = virtualHost(1);
  const probes: number[] = [];
  const changes: boolean[] = [];
  const backend = backendOf((signal) => {
    probes.push(host.clock.nowMs());
    return probe(signal);
  });
  const watch = watchBackend(backend, host, () => changes.push(watch.usable()));
  return { host, watch, probes, changes };
}

function backendOf(probe: Probe): Backend {
  const unsupported = err(gatewayError("query.unsupported"));
  return {
    cluster: "c",
    engine: "duckDb",
    catalogs: [],
    probe,
    async *execute() {
      yield { kind: "failed", error: unsupported.error };
    },
    describe: async () => unsupported,
    begin: async () => unsupported,
    running: async () => ok({ tags: [], complete: true, delayMs: 0 }),
    end: async () => ok(undefined),
    runsIn: "engine",
    limitsExecution: false,
    forwards: ["password", "bearer"],
    listTables: async () => ok([]),
    [Symbol.asyncDispose]: async () => {},
  };
}
