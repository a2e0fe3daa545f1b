import type { EngineWork } from "@gateway/core/query/event.ts";
import type { StatementStats } from "@gateway/wire/trino/results.ts";
import { describe, expect, it } from "vitest";
import { noProgress, type Progress } from "../machine.ts";
import { columnsText, tailText } from "./page.ts";
import { numbers, stats } from "../rig/trino.ts";

const work: EngineWork = {
  splitsQueued: 3,
  splitsRunning: 2,
  splitsDone: 5,
  nodes: 4,
  cpuMs: 1234.6,
  rowsRead: 1_000_000,
  bytesRead: 8_000_000,
  peakBytes: 77,
};

describe("the stats of an answer", () => {
  it("move with the engine's work, and its share of splits is the progress", () => {
    expect(statsOf({ state: "RUNNING", queuedMs: 7, stats: { ...stats, work } })).toMatchObject({
      state: "RUNNING",
      queued: false,
      scheduled: true,
      progressPercentage: 50,
      runningPercentage: 20,
      nodes: 4,
      totalSplits: 10,
      queuedSplits: 3,
      runningSplits: 2,
      completedSplits: 5,
      cpuTimeMillis: 1235,
      processedRows: 1_000_000,
      processedBytes: 8_000_000,
      peakMemoryBytes: 77,
    });
  });

  it("take the engine's own word for the progress where it gives one", () => {
    const told = statsOf({
      state: "RUNNING",
      queuedMs: 7,
      stats: { ...stats, work: { ...work, percent: 12.34 } },
    });
    expect(told.progressPercentage).toBe(12.3);
  });

  it("leave nothing running when the query is finished, whatever was heard last", () => {
    const ended = { state: "FINISHED", queuedMs: 7, stats: { ...stats, work } } as const;
    expect(statsOf(ended, true)).toMatchObject({
      state: "FINISHED",
      progressPercentage: 100,
      queuedSplits: 0,
      runningSplits: 0,
      completedSplits: 10,
    });
    // An answer before the last one hides the end.
    expect(statsOf(ended).state).toBe("RUNNING");
  });

  it("claim one split that waits or runs, and no progress, where the engine says nothing", () => {
    const waiting = statsOf({ state: "QUEUED", queuedMs: undefined });
    expect(waiting).toMatchObject({
      state: "QUEUED",
      queued: true,
      scheduled: false,
      nodes: 0,
      queuedSplits: 1,
    });
    expect(waiting.progressPercentage).toBeUndefined();
    const running = statsOf({ state: "RUNNING", queuedMs: 3, stats });
    expect(running).toMatchObject({ runningSplits: 1, queuedSplits: 0, queuedTimeMillis: 1 });
    expect(running.progressPercentage).toBeUndefined();
  });

  it("claim nothing of an engine that has no split yet", () => {
    const none = { ...work, splitsQueued: 0, splitsRunning: 0, splitsDone: 0 };
    const early = statsOf({ state: "RUNNING", queuedMs: 1, stats: { ...stats, work: none } });
    expect([early.totalSplits, early.progressPercentage]).toEqual([0, undefined]);
  });
});

describe("columnsText", () => {
  it("passes the engine's own description on untouched", () => {
    const bytes = new TextEncoder().encode('[{"name":"ä","type":"HyperLogLog"}]');
    const native = { format: "trinoData", bytes } as const;
    expect(columnsText({ kind: "columns", columns: numbers, native })).toBe(
      '"columns":[{"name":"ä","type":"HyperLogLog"}],',
    );
  });
});

function statsOf(known: Partial<Progress>, last = false): StatementStats {
  const facts = { progress: { ...noProgress, ...known }, elapsedMs: 10, rows: 0, sql: undefined };
  return (JSON.parse(`{${tailText(facts, last)}`) as { readonly stats: StatementStats }).stats;
}
