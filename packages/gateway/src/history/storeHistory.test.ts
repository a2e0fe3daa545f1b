import { createHash } from "node:crypto";
import { canonicalJson } from "@gateway/contract/canonical.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { IncomingRecord, Ingested, StoreUnavailable } from "@gateway/control/store/store.ts";
import { memoryRecords } from "@gateway/control/store/memory/records.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import type { Redaction } from "@gateway/core/record/redact.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { storeHistory } from "./storeHistory.ts";

describe("storeHistory", () => {
  it("sends nothing on the query's way, and one batch 200 ms after the first record", async () => {
    const { history, host, batches, append, sent } = historyOf([]);
    append(3);
    expect(host.log.lines).toEqual([]);
    await host.advance(199);
    expect(batches).toEqual([]);
    await host.advance(1);
    expect(batches.map((batch) => batch.length)).toEqual([3]);
    expect(sent()).toBe(3);
    await history.flush(new AbortController().signal);
    expect(host.timerCount).toBe(0);
  });

  it("makes records ready some milliseconds later, together, and sooner when there are some", async () => {
    const { host, append } = historyOf([]);
    append(3);
    await host.advance(4);
    append(4);
    expect(host.log.lines).toEqual([]);
    await host.advance(1);
    expect(host.log.lines).toHaveLength(7);
    append(8);
    await host.settle();
    expect(host.log.lines).toHaveLength(15);
  });

  it("keeps a short record at once where the store is here, and a long or masked one in its turn", async () => {
    const kept: string[] = [];
    let redaction: Redaction = "full";
    const { host, history, batches, append, sent, dropped } = historyOf([], {
      redaction: () => redaction,
      keepNow: ({ proxyQueryId }) => {
        if (proxyQueryId === "odd") throw new Error("a bug in the store");
        kept.push(proxyQueryId);
      },
    });
    append(1);
    expect(kept).toEqual(["q1"]);
    expect(host.log.lines.map(({ event }) => event)).toEqual(["query.ended"]);
    history.append(recordOf({ proxyQueryId: "long", sql: "x".repeat(4_000) }));
    // Behind one that waits the others wait as well.
    append(1);
    expect(kept).toEqual(["q1"]);
    await host.advance(5);
    expect(kept).toEqual(["q1", "long", "q2"]);
    redaction = "maskLiterals";
    append(1);
    expect(kept).toHaveLength(3);
    await host.advance(5);
    redaction = "full";
    history.append(recordOf({ proxyQueryId: "odd" }));
    expect(kept.slice(3)).toEqual(["q3"]);
    expect([sent(), dropped(), batches.length]).toEqual([4, 1, 0]);
    await history.flush(new AbortController().signal);
    expect(host.timerCount).toBe(0);
  });

  it("keeps batches as small as it is told", async () => {
    const { host, batches, append, sent } = historyOf([], { batchRecordsMax: 3 });
    append(7);
    await host.advance(400);
    expect(batches.map((batch) => batch.length)).toEqual([3, 3, 1]);
    expect(sent()).toBe(7);
  });

  it("sends at once when a batch is full, never more than 200 in one", async () => {
    const { host, batches, append } = historyOf([]);
    append(450);
    await turns(host);
    expect(batches.map((batch) => batch.length)).toEqual([200, 200]);
    await host.advance(200);
    expect(batches.map((batch) => batch.length)).toEqual([200, 200, 50]);
    expect(idsOf(batches)).toEqual(idsUpTo(450));
  });

  it("keeps a batch of long statements small", async () => {
    const { history, host, batches } = historyOf([]);
    for (let n = 1; n <= 10; n += 1) {
      history.append(recordOf({ proxyQueryId: `q${n}`, sql: "x".repeat(900_000) }));
    }
    await history.flush(new AbortController().signal);
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(4);
    expect(idsOf(batches)).toEqual(idsUpTo(10));
    expect(host.metrics.value("gateway_history_queued", {})).toBe(0);
  });

  it("redacts by the policy of the moment before anything waits to be sent", async () => {
    let redaction: Redaction = "full";
    const { history, host, batches } = historyOf([], { redaction: () => redaction });
    const sql = "select 'hunter2'";
    history.append(recordOf({ proxyQueryId: "a", sql }));
    await host.advance(200);
    redaction = "maskLiterals";
    history.append(recordOf({ proxyQueryId: "b", sql }));
    await host.advance(200);
    redaction = "metadata";
    history.append(recordOf({ proxyQueryId: "c", sql }));
    await host.advance(200);
    expect(batches.flat().map(({ record }) => record.sql)).toEqual([sql, "select ?", undefined]);
  });

  it("hashes what it sends, so that a repeat can be told from a conflict", async () => {
    const { host, batches, append } = historyOf([]);
    append(1);
    await host.advance(200);
    const [sent] = batches.flat();
    const text = canonicalJson(sent?.record ?? null);
    expect(sent?.contentHash).toBe(`sha256:${createHash("sha256").update(text).digest("hex")}`);
  });

  it("logs a line with the query's id and digest, never its text", async () => {
    const { history, host } = historyOf([]);
    history.append(recordOf({ proxyQueryId: "q", sql: "select * from t where pin = 'hunter2'" }));
    await host.advance(5);
    expect(host.log.lines).toMatchObject([
      { level: "info", event: "query.ended", fields: { queryId: "q", status: "finished" } },
    ]);
    expect(JSON.stringify(host.log.lines)).not.toMatch(/hunter2|from t/);
  });

  it("tries an unavailable store again with growing pauses until the records are kept", async () => {
    const { host, batches, append, sent, dropped } = historyOf(Array(6).fill("down"));
    append(2);
    await host.runUntil(() => sent() === 2);
    expect(batches).toHaveLength(7);
    expect(new Set(batches.map((batch) => idsOf([batch]).join()))).toEqual(new Set(["q1,q2"]));
    expect(dropped()).toBe(0);
    const events = host.log.lines.map(({ event }) => event);
    expect(events.filter((event) => event === "history.unavailable")).toHaveLength(1);
    expect(events).toContain("history.recovered");
  });

  it("asks again when the store does not answer, or breaks", async () => {
    const { host, batches, append, sent, dropped } = historyOf(["hang", "throw", "hang"]);
    append(2);
    await host.runUntil(() => sent() === 2);
    expect(batches).toHaveLength(4);
    expect(dropped()).toBe(0);
    expect(host.log.bugs).toHaveLength(1);
  });

  it("keeps each record once in a store whose answer got lost", async () => {
    const host = virtualHost(1);
    const records = memoryRecords();
    let asked = 0;
    const history = storeHistory({
      host,
      texts: false,
      redaction: () => "full",
      keep: async (batch, nowMs) => {
        const answer = await records.ingest(batch, nowMs);
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : answer;
      },
    });
    for (const id of idsUpTo(3)) history.append(recordOf({ proxyQueryId: id, sql: "select 'a'" }));
    const sent = () => host.metrics.value("gateway_history_sent_total", {});
    await host.runUntil(() => sent() > 0);
    const listed = await records.list({}, { limit: 10, cursor: undefined });
    expect(sent()).toBe(3);
    expect(listed.ok && listed.value.items.map(({ proxyQueryId }) => proxyQueryId)).toEqual(
      idsUpTo(3).toReversed(),
    );
    const conflicts = await records.conflicts({ limit: 10, cursor: undefined });
    expect(conflicts.ok && conflicts.value.items).toEqual([]);
  });

  it("counts what the store took only in part", async () => {
    const { host, append, sent, dropped, queued } = historyOf(["half"]);
    append(8);
    await host.advance(200);
    expect([sent(), dropped(), queued()]).toEqual([4, 4, 0]);
  });

  it("names the queries whose other record was kept first", async () => {
    const { host, append, sent } = historyOf(["conflict"]);
    append(1);
    await host.advance(200);
    expect(sent()).toBe(1);
    expect(host.log.lines).toContainEqual({
      level: "warn",
      event: "history.conflict",
      fields: { queryId: "q1" },
    });
  });

  it("does not let one record that the store can not hold keep the others out", async () => {
    const { host, append, sent, dropped, queued } = historyOf([], { poison: "q3" });
    append(5);
    await host.advance(200);
    expect([sent(), dropped(), queued()]).toEqual([4, 1, 0]);
  });

  it("drops the oldest and counts them when too many wait", async () => {
    const { host, batches, append, sent, dropped, queued } = historyOf(["down", "down"]);
    append(50_010);
    expect([queued(), dropped()]).toEqual([50_000, 10]);
    await host.runUntil(() => queued() === 0);
    expect(sent()).toBe(50_000);
    expect(idsOf(batches)).not.toContain("q10");
    expect(idsOf(batches)).toContain("q11");
  });

  it("drops the oldest when what waits is too long", () => {
    const { history, host } = historyOf([]);
    const sql = "x".repeat(1_000_000);
    for (let n = 0; n < 100; n += 1) history.append(recordOf({ sql }));
    expect(host.metrics.value("gateway_history_queued", {})).toBe(63);
    expect(host.metrics.value("gateway_history_dropped_total", {})).toBe(37);
  });
});

describe("flush", () => {
  it("sends what waits at once, also what was appended just now", async () => {
    const { history, host, append, sent } = historyOf([]);
    append(450);
    await history.flush(new AbortController().signal);
    expect(sent()).toBe(450);
    expect(host.clock.nowMs()).toBe(0);
  });

  it("does not wait out a long pause between two tries", async () => {
    const { history, host, batches, append, sent } = historyOf(Array(8).fill("down"));
    append(1);
    await host.runUntil(() => batches.length === 8);
    const flushed = history.flush(new AbortController().signal);
    await host.settle();
    expect(sent()).toBe(1);
    await flushed;
  });

  it("counts everything that is not kept at the deadline, and everything after it", async () => {
    const { history, host, append, sent, dropped, queued } = historyOf(["hang"]);
    append(300);
    await turns(host);
    const deadline = new AbortController();
    const flushed = history.flush(deadline.signal);
    await host.settle();
    deadline.abort();
    await flushed;
    await host.settle();
    expect([sent(), dropped(), queued()]).toEqual([0, 300, 0]);
    append(1);
    expect(dropped()).toBe(301);
    expect(host.timerCount).toBe(0);
  });

  it("loses no record without counting it, whatever the store does", async () => {
    const answers = fc.array(fc.constantFrom("down", "hang", "throw", "half", "ok"), {
      maxLength: 12,
    });
    const bursts = fc.array(fc.integer({ min: 1, max: 260 }), { minLength: 1, maxLength: 6 });
    const holds = fc.asyncProperty(answers, bursts, fc.nat(5_000), async (script, sizes, pause) => {
      const { history, host, append, sent, dropped, queued } = historyOf(script);
      let appended = 0;
      for (const size of sizes) {
        append(size);
        appended += size;
        await host.advance(pause);
        expect(sent() + dropped() + queued()).toBe(appended);
      }
      const deadline = new AbortController();
      const flushed = history.flush(deadline.signal);
      await host.advance(pause);
      deadline.abort();
      await flushed;
      await host.settle();
      expect([sent() + dropped(), queued()]).toEqual([appended, 0]);
    });
    await fc.assert(holds, { numRuns: 60 });
  });
});

/** Lets everything be made ready that was appended; time stands still. */
async function turns(host: ReturnType<typeof virtualHost>): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await host.settle();
}

type Answer = "ok" | "down" | "hang" | "throw" | "half" | "conflict";

/** A history over a store that answers by the script, then always takes everything. */
function historyOf(
  script: readonly Answer[],
  more: {
    readonly redaction?: () => Redaction;
    readonly poison?: string;
    readonly batchRecordsMax?: number;
    readonly keepNow?: (record: QueryRecord) => void;
  } = {},
) {
  const host = virtualHost(1);
  const batches: (readonly IncomingRecord[])[] = [];
  const history = storeHistory({
    host,
    texts: false,
    batchRecordsMax: more.batchRecordsMax ?? 200,
    redaction: more.redaction ?? (() => "full"),
    ...(more.keepNow !== undefined && { keepNow: more.keepNow }),
    keep: async (batch) => {
      batches.push(batch);
      if (batch.some(({ record }) => record.proxyQueryId === more.poison)) {
        return err({ code: "unavailable", detail: "22P05" });
      }
      return answered(script[batches.length - 1] ?? "ok", batch);
    },
  });
  let count = 0;
  return {
    history,
    host,
    batches,
    append: (records: number) => {
      for (let n = 0; n < records; n += 1) {
        count += 1;
        history.append(recordOf({ proxyQueryId: `q${count}` }));
      }
    },
    sent: () => host.metrics.value("gateway_history_sent_total", {}),
    dropped: () => host.metrics.value("gateway_history_dropped_total", {}),
    queued: () => host.metrics.value("gateway_history_queued", {}),
  };
}

async function answered(
  answer: Answer,
  batch: readonly IncomingRecord[],
): Promise<Result<Ingested, StoreUnavailable>> {
  switch (answer) {
    case "ok":
      return ok({ accepted: batch.length, duplicates: 0, conflicts: [] });
    case "half":
      return ok({ accepted: Math.floor(batch.length / 2), duplicates: 0, conflicts: [] });
    case "conflict":
      return ok({
        accepted: 0,
        duplicates: 0,
        conflicts: batch.map(({ record }) => record.proxyQueryId),
      });
    case "down":
      return err({ code: "unavailable", detail: "ECONNREFUSED" });
    case "hang":
      return new Promise(() => {});
    case "throw":
      throw new Error("a bug in the store");
  }
}

function idsOf(batches: readonly (readonly IncomingRecord[])[]): readonly string[] {
  return batches.flat().map(({ record }) => record.proxyQueryId);
}

function idsUpTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `q${n + 1}`);
}
