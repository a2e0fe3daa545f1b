/** The store in memory meets the contract of the port, and is bounded. */
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { describe, expect, it } from "vitest";
import { memoryStore } from "./memory.ts";
import { memoryRecords } from "./memory/records.ts";
import { storeSuite } from "./store.suite.ts";
import { answered, firstPage, incomingOf, recordOf, startMs } from "./rig/samples.ts";

storeSuite("memory", () => {
  const store = memoryStore(systemClock);
  return Promise.resolve({ store, close: async () => store[Symbol.asyncDispose]() });
});

describe("memoryRecords", () => {
  it("keeps the newest records only, and no conflict of a forgotten one", async () => {
    const records = memoryRecords(3);
    const ids = ["q1", "q2", "q3"];
    const batch = ids.map((id, at) => incomingOf(recordOf(id, { createdAt: startMs + at })));
    await answered(records.ingest(batch, startMs));
    await answered(records.ingest([incomingOf(recordOf("q1"), "sha256:other")], startMs));
    const newest = [5, 4].map((at) => incomingOf(recordOf(`q${at}`, { createdAt: startMs + at })));
    await answered(records.ingest(newest, startMs));
    const { items } = await answered(records.list({}, firstPage));
    expect(items.map(({ proxyQueryId }) => proxyQueryId)).toEqual(["q5", "q4", "q3"]);
    expect((await answered(records.conflicts(firstPage))).items).toEqual([]);
  });
});
