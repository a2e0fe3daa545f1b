/** Query history: the first record per id wins, nothing is lost, pages hold while records arrive. */
import type { QueryRecord } from "@gateway/contract/record.ts";
import { expect } from "vitest";
import type { RecordFilter, Store } from "../store.ts";
import type { Check } from "../store.suite.ts";
import { allPages, answered, firstPage, incomingOf, recordOf, startMs } from "../rig/samples.ts";

export function recordSuite(check: Check): void {
  check("gives a record back exactly as it came", async ({ records }) => {
    const full = recordOf("q1", {
      backendQueryId: "b",
      startedAt: startMs + 1.5,
      worker: "w1",
      clusterGroup: "g",
      cluster: "c",
      engine: "duckDb",
      errorCode: "engine.failed",
      errorMessage: "no such table\n'x'",
      status: "failed",
      tags: { "a b": "🦆", toString: "x" },
    });
    const bare = recordOf("q2");
    await answered(records.ingest([incomingOf(full), incomingOf(bare)], startMs));
    expect(await answered(records.get("q1"))).toEqual(full);
    expect(await answered(records.get("q2"))).toEqual(bare);
    expect(await answered(records.get("q3"))).toBeUndefined();
    expect(await answered(records.get("q\u0000"))).toBeUndefined();
  });

  check(
    "keeps a record whose text no database can hold, with U+FFFD there",
    async ({ records }) => {
      const odd = recordOf("odd", { sql: "a\u0000b\ud800c\\u0000", tags: { "\u0000k": "\udc00" } });
      const batch = [incomingOf(odd), incomingOf(recordOf("fine"))];
      expect((await answered(records.ingest(batch, startMs))).accepted).toBe(2);
      const kept = { ...odd, sql: "a\uFFFDb\uFFFDc\\u0000", tags: { "\uFFFDk": "\uFFFD" } };
      expect(await answered(records.get("odd"))).toEqual(kept);
    },
  );

  check("gives records back as they came that have most in common", async ({ records }) => {
    const same = { sql: "SELECT 1", clusterGroup: "g", startedAt: startMs + 0.25 };
    const several = ["q1", "q2", "q3"].map((id, index) =>
      recordOf(id, { ...same, queueMs: index, tags: index === 1 ? { a: "b" } : {} }),
    );
    await answered(
      records.ingest(
        several.slice(0, 1).map((record) => incomingOf(record)),
        startMs,
      ),
    );
    await answered(
      records.ingest(
        several.slice(1).map((record) => incomingOf(record)),
        startMs,
      ),
    );
    const page = await answered(records.list({}, firstPage));
    expect(page.items.toSorted((a, b) => a.queueMs - b.queueMs)).toEqual(several);
  });

  check("tells of many ids which have a record", async ({ records }) => {
    const batch = ["q1", "q 2"].map((id) => incomingOf(recordOf(id)));
    await answered(records.ingest(batch, startMs));
    const known = await answered(records.known(["q0", "q1", "q 2", "q'3"]));
    expect([...known].toSorted()).toEqual(["q 2", "q1"]);
    expect(await answered(records.known([]))).toEqual(new Set());
  });

  check("counts by steps of time, and tells durations of the newest", async ({ records }) => {
    const timeOf = (step: number, more: number) => startMs + step * 1_000 + more;
    const waits = [0, 10, 20, 30, 40];
    const batch = [
      ...waits.map((queueMs, index) =>
        recordOf(`a${index}`, { createdAt: timeOf(0, index), queueMs, executionMs: 100 }),
      ),
      recordOf("b1", { createdAt: timeOf(2, 0.5), status: "failed", errorCode: "engine.failed" }),
      recordOf("b2", { createdAt: timeOf(2, 999.9), status: "failed", errorCode: "query.syntax" }),
      recordOf("b3", { createdAt: timeOf(2, 3), status: "failed", errorCode: "query.syntax" }),
      recordOf("b4", {
        createdAt: timeOf(2, 4),
        status: "cancelled",
        errorCode: "query.cancelled",
      }),
      recordOf("b5", { createdAt: timeOf(2, 5), status: "denied", errorCode: "policy.denied" }),
      recordOf("early", { createdAt: startMs - 1 }),
      recordOf("late", { createdAt: timeOf(3, 0) }),
    ];
    await answered(
      records.ingest(
        batch.map((record) => incomingOf(record)),
        startMs,
      ),
    );
    const range = {
      from: startMs,
      stepMs: 1_000,
      steps: 3,
      errorsFrom: startMs,
      sampleMax: 100,
    };
    const { points, errors } = await answered(records.series(range));
    expect(points.map((point) => [point.at, point.total, point.sample])).toEqual([
      [startMs, 5, 5],
      [startMs + 1_000, 0, 0],
      [startMs + 2_000, 5, 5],
    ]);
    expect(points[0]).toMatchObject({ failed: 0, ranMs: 500, waitedMs: 100 });
    expect(points[0]?.queue?.p50).toBeCloseTo(20);
    expect(points[0]?.latency?.p95).toBeCloseTo(138);
    expect(points[1]).toMatchObject({ latency: undefined, queue: undefined, ranMs: 0 });
    expect(points[2]).toMatchObject({ failed: 3, cancelled: 1, denied: 1 });
    expect(errors).toEqual([
      { code: "query.syntax", count: 2 },
      { code: "engine.failed", count: 1 },
      { code: "policy.denied", count: 1 },
      { code: "query.cancelled", count: 1 },
    ]);
    const last = { ...range, from: startMs + 2_000, steps: 1 };
    expect((await answered(records.series(last))).errors).toEqual(errors);
    const later = { ...range, errorsFrom: startMs + 2_005 };
    expect((await answered(records.series(later))).errors).toEqual([
      { code: "policy.denied", count: 1 },
      { code: "query.syntax", count: 1 },
    ]);
    const sampled = await answered(records.series({ ...range, sampleMax: 2 }));
    expect(sampled.points[0]).toMatchObject({ total: 5, sample: 2, waitedMs: 70 });
  });

  check("takes an empty batch", async ({ records }) => {
    const nothing = { accepted: 0, duplicates: 0, conflicts: [] };
    expect(await answered(records.ingest([], startMs))).toEqual(nothing);
  });

  check("counts a repeat as a duplicate and keeps one record", async ({ records }) => {
    const batch = [incomingOf(recordOf("q1")), incomingOf(recordOf("q2"))];
    const first = await answered(records.ingest(batch, startMs));
    expect(first).toEqual({ accepted: 2, duplicates: 0, conflicts: [] });
    const again = await answered(records.ingest([...batch, incomingOf(recordOf("q3"))], startMs));
    expect(again).toEqual({ accepted: 1, duplicates: 2, conflicts: [] });
    expect((await answered(records.list({}, firstPage))).items).toHaveLength(3);
    expect((await answered(records.conflicts(firstPage))).items).toEqual([]);
  });

  check("keeps a different second record apart, and the first as it was", async ({ records }) => {
    const first = recordOf("q1", { worker: "w1" });
    const second = recordOf("q1", { worker: "w2", rowsReturned: 2 });
    const third = recordOf("q1", { rowsReturned: 3 });
    await answered(records.ingest([incomingOf(first, "sha256:1")], startMs));
    const conflict = { accepted: 0, duplicates: 0, conflicts: ["q1"] };
    const send = (record: QueryRecord, hash: string, atMs: number) =>
      answered(records.ingest([incomingOf(record, hash)], atMs));

    expect(await send(second, "sha256:2", startMs + 1)).toEqual(conflict);
    // The sender's answer was lost: the same again is no further conflict.
    expect(await send(second, "sha256:2", startMs + 2)).toEqual(conflict);
    const row = { proxyQueryId: "q1", firstAt: startMs + 1 };
    expect((await answered(records.conflicts(firstPage))).items).toEqual([
      { ...row, record: second, worker: "w2", count: 1, lastAt: startMs + 2 },
    ]);

    expect(await send(third, "sha256:3", startMs + 3)).toEqual(conflict);
    expect((await answered(records.conflicts(firstPage))).items).toEqual([
      { ...row, record: third, worker: undefined, count: 2, lastAt: startMs + 3 },
    ]);
    expect(await answered(records.get("q1"))).toEqual(first);
    expect(await send(first, "sha256:1", startMs)).toEqual({
      ...conflict,
      duplicates: 1,
      conflicts: [],
    });
  });

  check("judges a batch that repeats an id in the order it was sent", async ({ records }) => {
    const batch = [
      incomingOf(recordOf("q1"), "sha256:1"),
      incomingOf(recordOf("q1"), "sha256:1"),
      incomingOf(recordOf("q1", { rowsReturned: 2 }), "sha256:2"),
      incomingOf(recordOf("q1", { rowsReturned: 3 }), "sha256:3"),
    ];
    const answer = await answered(records.ingest(batch, startMs));
    expect(answer).toEqual({ accepted: 1, duplicates: 1, conflicts: ["q1"] });
    const rows = (await answered(records.conflicts(firstPage))).items;
    expect(rows.map(({ count, record }) => [count, record.rowsReturned])).toEqual([[2, 3]]);
    expect((await answered(records.get("q1")))?.rowsReturned).toBe(1);
  });

  check("takes each record once when senders race with the same ones", async ({ records }) => {
    const ids = Array.from({ length: 40 }, (_, index) => `q${index}`);
    const batches = Array.from({ length: 6 }, (_, turn) => [
      ...ids.slice(turn).map((id) => incomingOf(recordOf(id))),
      ...ids.slice(0, turn).map((id) => incomingOf(recordOf(id))),
    ]);
    const answers = await Promise.all(
      batches.map((batch) => answered(records.ingest(batch, startMs))),
    );
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(40);
    expect(answers.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(200);
    expect(answers.flatMap(({ conflicts }) => conflicts)).toEqual([]);
  });

  check("lists newest first, in pages that arriving records do not shift", async ({ records }) => {
    const batch = Array.from({ length: 25 }, (_, index) =>
      // Five records of each moment, so that pages end between equal times.
      incomingOf(recordOf(`q${String(index).padStart(2, "0")}`, at(Math.floor(index / 5)))),
    );
    await answered(records.ingest(batch.toReversed(), startMs));
    let arrived = 0;
    const seen = await allPages(
      (page) => records.list({}, page),
      4,
      () => {
        arrived += 1;
        return answered(records.ingest([incomingOf(recordOf(`new${arrived}`, at(99)))], startMs));
      },
    );
    const expected = batch.map(({ record }) => record.proxyQueryId).toReversed();
    expect(seen.map(({ proxyQueryId }) => proxyQueryId)).toEqual(expected);
  });

  check("finds by each field of the filter, and by all of them together", async ({ records }) => {
    const plain = recordOf("plain", at(10));
    const fields = {
      user: "bob",
      status: "failed",
      clusterGroup: "g",
      cluster: "c",
      worker: "w",
      frontend: "mysql",
      errorCode: "e",
    } as const;
    const rich = recordOf("rich", { ...fields, ...at(20) });
    await answered(records.ingest([incomingOf(plain), incomingOf(rich)], startMs));
    const found = async (filter: RecordFilter): Promise<readonly string[]> =>
      (await answered(records.list(filter, firstPage))).items.map((one) => one.proxyQueryId);

    for (const [field, value] of Object.entries(fields)) {
      expect(await found({ [field]: value })).toEqual(["rich"]);
    }
    expect(await found({ ...fields, from: startMs + 20, to: startMs + 21 })).toEqual(["rich"]);
    expect(await found({ ...fields, user: "ann" })).toEqual([]);
    expect(await found({ from: startMs + 10, to: startMs + 20 })).toEqual(["plain"]);
    expect(await found({ from: startMs + 11 })).toEqual(["rich"]);
    expect(await found({ to: startMs + 10 })).toEqual([]);
    expect(await found({ user: "'; drop table query_records; --" })).toEqual([]);
  });

  check("forgets what is older, in chunks, oldest first", async ({ records }) => {
    await ingestMany(records, 10);
    const limits = { before: startMs + 5, keep: 1_000 };
    expect(await answered(records.retain({ ...limits, chunk: 3 }))).toBe(3);
    expect(await idsOf(records)).toEqual(["q9", "q8", "q7", "q6", "q5", "q4", "q3"]);
    expect(await answered(records.retain({ ...limits, chunk: 100 }))).toBe(2);
    expect(await answered(records.retain({ ...limits, chunk: 100 }))).toBe(0);
    expect(await idsOf(records)).toEqual(["q9", "q8", "q7", "q6", "q5"]);
  });

  check("forgets what is beyond the newest, in chunks, with its conflicts", async ({ records }) => {
    await ingestMany(records, 10);
    const different = ["q0", "q9"].map((id) => incomingOf(recordOf(id), "sha256:other"));
    await answered(records.ingest(different, startMs));
    const limits = { before: 0, keep: 4 };
    expect(await answered(records.retain({ ...limits, chunk: 5 }))).toBe(5);
    expect(await answered(records.retain({ ...limits, chunk: 5 }))).toBe(1);
    expect(await answered(records.retain({ ...limits, chunk: 5 }))).toBe(0);
    expect(await idsOf(records)).toEqual(["q9", "q8", "q7", "q6"]);
    const conflicts = (await answered(records.conflicts(firstPage))).items;
    expect(conflicts.map(({ proxyQueryId }) => proxyQueryId)).toEqual(["q9"]);
    expect(await answered(records.retain({ before: 0, keep: 0, chunk: 100 }))).toBe(4);
    expect(await idsOf(records)).toEqual([]);
  });

  check("lists conflicts in pages", async ({ records }) => {
    await ingestMany(records, 5);
    for (const index of [0, 1, 2, 3, 4]) {
      const other = incomingOf(recordOf(`q${index}`), "sha256:other");
      await answered(records.ingest([other], startMs + Math.floor(index / 2)));
    }
    const rows = await allPages((page) => records.conflicts(page), 2);
    expect(rows.map(({ proxyQueryId }) => proxyQueryId)).toEqual(["q4", "q3", "q2", "q1", "q0"]);
  });
}

function at(afterMs: number): { readonly createdAt: number } {
  return { createdAt: startMs + afterMs };
}

async function ingestMany(records: Store["records"], count: number): Promise<void> {
  const batch = Array.from({ length: count }, (_, index) =>
    incomingOf(recordOf(`q${index}`, at(index))),
  );
  await answered(records.ingest(batch, startMs));
}

async function idsOf(records: Store["records"]): Promise<readonly string[]> {
  const { items } = await answered(records.list({}, firstPage));
  return items.map(({ proxyQueryId }) => proxyQueryId);
}
