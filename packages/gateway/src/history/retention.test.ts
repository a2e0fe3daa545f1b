import { virtualHost, virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { StoreUnavailable } from "@gateway/control/store/store.ts";
import { describe, expect, it } from "vitest";
import { startRetention, type RetainingStore } from "./retention.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const limits = { historyDays: 2, historyRecords: 7, auditDays: 3, revisions: 5 };

describe("startRetention", () => {
  it("deletes by age and count, each by its own limits, within ten minutes", async () => {
    const host = virtualHost(1);
    const { store, calls } = storeOf();
    await using _retention = startRetention(store, limits, host);
    await host.runUntil(() => calls.length === 3);
    const swept = host.clock.nowMs();
    expect(swept).toBeLessThanOrEqual(600_000);
    const now = virtualStartUnixMs + Math.floor(swept);
    expect(calls).toEqual([
      { records: { before: now - 2 * dayMs, keep: 7, chunk: 5_000 } },
      { audit: now - 3 * dayMs },
      { revisions: 5 },
    ]);
  });

  it("goes on in chunks until less than a chunk was deleted, then says how many", async () => {
    const host = virtualHost(1);
    const { store, calls } = storeOf({ records: [5_000, 5_000, 12] });
    await using _retention = startRetention(store, limits, host);
    await host.runUntil(() => calls.length === 5);
    expect(calls.filter((call) => "records" in call)).toHaveLength(3);
    expect(host.log.lines).toEqual([
      { level: "info", event: "retention.deleted", fields: { kind: "records", count: 10_012 } },
    ]);
  });

  it("sweeps again and again, also after a store that was down or broke", async () => {
    const host = virtualHost(1);
    const { store, calls } = storeOf({ records: ["down", "throw", 0] });
    await using _retention = startRetention(store, limits, host);
    await host.advance(hourMs);
    const sweeps = calls.filter((call) => "records" in call).length;
    expect(sweeps).toBeGreaterThan(3);
    expect(host.log.bugs).toHaveLength(1);
    expect(host.log.lines).toEqual([
      { level: "warn", event: "retention.failed", fields: { kind: "records", detail: "08006" } },
    ]);
  });

  it("never has two sweeps at once, however long one takes", async () => {
    const host = virtualHost(1);
    const { store, calls } = storeOf({ records: ["slow"] }, host.clock);
    await using _retention = startRetention(store, limits, host);
    await host.advance(hourMs);
    expect(calls).toHaveLength(1);
    await host.advance(dayMs);
    expect(calls.length).toBeGreaterThan(3);
  });

  it("stops with the process, after the chunk that runs", async () => {
    const host = virtualHost(1);
    const { store, calls } = storeOf({ records: Array(50).fill(5_000) });
    const retention = startRetention(store, limits, host);
    await host.runUntil(() => calls.length === 2);
    await retention[Symbol.asyncDispose]();
    await host.advance(dayMs);
    expect(calls).toHaveLength(2);
    expect(host.timerCount).toBe(0);
  });
});

type Answer = number | "down" | "throw" | "slow";

/** A store that has the answers of the script for records, and nothing to delete otherwise. */
function storeOf(
  script: { readonly records?: readonly Answer[] } = {},
  clock = virtualHost(1).clock,
) {
  const calls: object[] = [];
  let asked = 0;
  const store: RetainingStore = {
    records: {
      retain: async (wanted) => {
        calls.push({ records: wanted });
        asked += 1;
        return answered(script.records?.[asked - 1] ?? 0, clock);
      },
    },
    audit: {
      retain: async (before) => {
        calls.push({ audit: before });
        return ok(0);
      },
    },
    config: {
      retainRevisions: async (keep) => {
        calls.push({ revisions: keep });
        return ok(0);
      },
    },
  };
  return { store, calls };
}

async function answered(
  answer: Answer,
  clock: ReturnType<typeof virtualHost>["clock"],
): Promise<Result<number, StoreUnavailable>> {
  switch (answer) {
    case "down":
      return err({ code: "unavailable", detail: "08006" });
    case "throw":
      throw new Error("a bug in the store");
    case "slow":
      await new Promise<void>((resolve) => {
        clock.timer(3 * hourMs, resolve);
      });
      return ok(0);
    default:
      return ok(answer);
  }
}
