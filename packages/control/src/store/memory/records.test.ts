import { describe, expect, it } from "vitest";
import { answered, firstPage, incomingOf, recordOf, startMs } from "../rig/samples.ts";
import { incomingRecord } from "../written.ts";
import { memoryRecords } from "./records.ts";

describe("memoryRecords", () => {
  it("gives back what was written before it came", async () => {
    const records = memoryRecords();
    const full = recordOf("q1", {
      createdAt: startMs + 0.5,
      worker: "w1",
      clusterGroup: "g",
      cluster: "c",
      errorCode: "e",
      sql: 'a "🦆"',
      tags: { __proto: "x" },
    });
    await answered(records.ingest([incomingRecord(full), incomingRecord(recordOf("q2"))], startMs));
    expect(await answered(records.get("q1"))).toEqual(full);
    expect(await answered(records.get("q2"))).toEqual(recordOf("q2"));
    const { items } = await answered(records.list({ worker: "w1" }, firstPage));
    expect(items).toEqual([full]);
    const again = await answered(records.ingest([incomingRecord(full)], startMs));
    expect(again).toEqual({ accepted: 0, duplicates: 1, conflicts: [] });
  });

  it("gives back texts of any length, whole ones too, and knows which came before", async () => {
    const records = memoryRecords();
    const sizes = [1, 100_000, 90_000, 80_000, 1, 900_000, 3];
    const all = ["a", "\u00fc", "\u{1f986}"].flatMap((character) =>
      sizes.map((size, at) => recordOf(`${character}${at}`, { sql: character.repeat(size) })),
    );
    for (const record of all) records.keepNow?.(record);
    for (const record of all) {
      expect(await answered(records.get(record.proxyQueryId))).toEqual(record);
    }
    const again = await answered(records.ingest(all.slice(1).map(incomingRecord), startMs));
    expect(again).toMatchObject({ accepted: 0, duplicates: all.length - 1, conflicts: [] });
    const other = incomingRecord(recordOf("a0", { sql: "b" }));
    const conflict = await answered(records.ingest([other], startMs));
    expect(conflict).toEqual({ accepted: 0, duplicates: 0, conflicts: ["a0"] });
  });

  it("keeps no more than a hundredth over its limit, and the newest", async () => {
    const records = memoryRecords(200);
    const counts: number[] = [];
    for (let n = 0; n < 210; n += 1) {
      const record = recordOf(`q${n}`, { createdAt: startMs + n });
      await answered(records.ingest([incomingOf(record)], startMs));
      const { items } = await answered(records.list({}, { ...firstPage, limit: 1_000 }));
      expect(items[0]).toEqual(record);
      counts.push(items.length);
    }
    expect(counts.slice(199)).toEqual([200, 201, 202, 200, 201, 202, 200, 201, 202, 200, 201]);
    expect(await answered(records.get("q0"))).toBeUndefined();
  });
});
