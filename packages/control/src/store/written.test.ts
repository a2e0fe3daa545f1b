import { createHash } from "node:crypto";
import { canonicalJson } from "@gateway/contract/canonical.ts";
import { queryRecordSchema, type QueryRecord } from "@gateway/contract/record.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordOf, startMs } from "./rig/samples.ts";
import { incomingRecord, restOf, writtenRecord } from "./written.ts";

const text = fc.string({ unit: "grapheme" });
const somes: fc.Arbitrary<Partial<QueryRecord>> = fc.record(
  {
    backendQueryId: text,
    startedAt: fc.nat().map((afterMs) => startMs + afterMs / 4),
    worker: text,
    user: text,
    clusterGroup: text,
    cluster: text,
    tags: fc.dictionary(text, text),
    sql: text,
    digestHash: text,
    status: fc.constantFrom("finished", "failed", "cancelled", "denied"),
    errorCode: text,
    errorMessage: text,
    routingTrace: fc.array(fc.record({ step: text, outcome: text }), { maxLength: 3 }),
    engineStats: fc.dictionary(text, fc.double({ noNaN: true, noDefaultInfinity: true })),
  },
  { requiredKeys: [] },
);
/** As they come in: a member named `__proto__` is none that the schema lets through. */
const records = somes.map((more) => queryRecordSchema.parse(recordOf("q1", more)));

describe("writtenRecord", () => {
  it("writes the whole in canonical form", () => {
    const canonical = fc.property(records, (record) => {
      expect(writtenRecord(record).whole).toBe(canonicalJson(record));
    });
    fc.assert(canonical);
  });

  it("leaves nothing but the fields of columns out of the rest", () => {
    const divided = fc.property(records, (record) => {
      const { proxyQueryId, user, status, clusterGroup, cluster, frontend, errorCode, worker } =
        record;
      const columns = { proxyQueryId, user, status, clusterGroup, cluster, frontend };
      const rest = JSON.parse(`{${restOf(incomingRecord(record))}}`) as object;
      const both = queryRecordSchema.parse({ ...rest, ...columns, errorCode, worker });
      expect(canonicalJson(both)).toBe(canonicalJson(record));
      const shared = Object.keys({ ...columns, errorCode, worker }).filter((key) => key in rest);
      expect(shared).toEqual([]);
    });
    fc.assert(divided);
  });
});

describe("incomingRecord", () => {
  it("hashes the canonical form, as every release does", () => {
    const record = recordOf("q1", { worker: "w1" });
    const digest = createHash("sha256").update(canonicalJson(record)).digest("hex");
    expect(incomingRecord(record).contentHash).toBe(`sha256:${digest}`);
  });
});

describe("restOf", () => {
  it("takes what was written, and writes a record of which nothing was, mended", () => {
    const record = recordOf("q1", { sql: "a" });
    const parts = { rest: "b", shared: "c", figures: "a" };
    expect(restOf({ record, contentHash: "", parts })).toBe("a,b,c");
    expect(restOf({ record, contentHash: "" })).toBe(restOf(incomingRecord(record)));
    const odd = recordOf("q1", { sql: "\u0000\ud800" });
    const mended = JSON.parse(`{${restOf({ record: odd, contentHash: "" })}}`) as QueryRecord;
    expect(mended.sql).toBe("\uFFFD\uFFFD");
  });
});
