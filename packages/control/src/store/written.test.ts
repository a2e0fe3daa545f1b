import { createHash } from "node:crypto";
import { canonicalJson } from "@gateway/contract/canonical.ts";
import { queryRecordSchema, type QueryRecord } from "@gateway/contract/record.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordOf, startMs } from "./rig/samples.ts";
import { incomingRecord, restOf, writtenRecord } from "./written.ts";

/** Nothing of it stands in the way of being remembered for the next record. */
const full = recordOf("q1", {
  startedAt: startMs + 1,
  worker: "w1",
  clusterGroup: "main",
  cluster: "local",
  engine: "duckDb",
  catalog: "c",
  schema: "s",
  sql: "select 1",
  translatedSql: "select 2",
  sqlHash: "h",
  digestHash: "d",
  targetDialect: "duckdb",
  backendIdentityMode: "impersonate",
  enginePrincipal: "p",
  tags: {},
  engineStats: {},
});

/** Another value for each member. */
const others: Required<QueryRecord> = {
  proxyQueryId: "q2",
  backendQueryId: "b",
  createdAt: startMs + 9.5,
  startedAt: startMs + 9.5,
  finishedAt: startMs + 9.5,
  worker: "other",
  frontend: "other",
  user: 'a "quoted" \u{1f986}',
  clientAddress: "other",
  clusterGroup: "other",
  cluster: "other",
  engine: "other",
  catalog: "other",
  schema: "other",
  tags: { b: "1", a: "2" },
  sql: "other",
  translatedSql: "other",
  sourceDialect: "other",
  targetDialect: "other",
  sqlHash: "other",
  digestHash: "other",
  status: "failed",
  errorCode: "other",
  errorMessage: "other",
  rowsReturned: 99,
  bytesReturned: 99,
  queueMs: 1e-7,
  executionMs: 0.1,
  backendIdentityMode: "other",
  enginePrincipal: "other",
  routingTrace: [{ step: "fallback", outcome: "other" }],
  policyActions: ["other"],
  engineStats: { b: 1, a: 2 },
  revision: "other",
};

/** Those that the schema asks for stay. */
function without(key: keyof QueryRecord): QueryRecord {
  const { [key]: _gone, ...left } = full;
  const parsed = queryRecordSchema.safeParse(left);
  return parsed.success ? parsed.data : full;
}

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

  it("writes each record as if no other had come before, whichever member is another", () => {
    expect(Object.keys(others).toSorted()).toEqual(queryRecordSchema.keyof().options.toSorted());
    for (const key of queryRecordSchema.keyof().options) {
      for (const record of [full, { ...full, [key]: others[key] }, without(key), full]) {
        expect(writtenRecord(record).whole).toBe(canonicalJson(record));
        const parts = JSON.parse(`{${restOf(incomingRecord(record))}}`) as object;
        expect(canonicalJson({ ...record, ...parts })).toBe(canonicalJson(record));
      }
    }
  });

  it("is not misled by a list that grows after it was written", () => {
    const routingTrace = [{ step: "fallback", outcome: "main" }];
    const policyActions = ["rows"];
    const record = { ...full, routingTrace, policyActions };
    writtenRecord(record);
    routingTrace.push({ step: "attempt", outcome: "late" });
    expect(writtenRecord(record).whole).toBe(canonicalJson(record));
    policyActions.push("late");
    expect(writtenRecord(record).whole).toBe(canonicalJson(record));
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
    const parts = { rest: "b", shared: "c" };
    expect(restOf({ record, contentHash: "", parts })).toMatch(/^"createdAt":\d+,.*,b,c$/);
    expect(restOf({ record, contentHash: "" })).toBe(restOf(incomingRecord(record)));
    const odd = recordOf("q1", { sql: "\u0000\ud800" });
    const mended = JSON.parse(`{${restOf({ record: odd, contentHash: "" })}}`) as QueryRecord;
    expect(mended.sql).toBe("\uFFFD\uFFFD");
  });
});
