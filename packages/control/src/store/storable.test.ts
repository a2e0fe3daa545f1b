import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { storableJson, storableRecord, storableText, wholeMs } from "./storable.ts";

describe("storableJson", () => {
  it("leaves alone what a database can hold, and makes the rest so", () => {
    // Every kind of odd text: halves of pairs, control characters, escapes that only look like one.
    const part = fc.constantFrom(
      "a",
      "\u0000",
      "\ud800",
      "\udfff",
      "\\",
      "\\u0000",
      "\\ud800",
      "🦆",
    );
    const text = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(""));
    const value = fc.dictionary(text, fc.array(text, { maxLength: 4 }), { maxKeys: 4 });
    const holds = fc.property(value, (written) => {
      const json = storableJson(written);
      expect(json).toBe(JSON.stringify(odd(written) ? JSON.parse(json) : written));
      expect(odd(JSON.parse(json) as typeof written)).toBe(false);
    });
    fc.assert(holds);
  });
});

describe("storableRecord", () => {
  it("answers the record itself unless a text, a key or a text deep inside it is odd", () => {
    const plain = recordOf({ tags: { a: "🦆 \\u0000" }, policyActions: ["b"] });
    expect(storableRecord(plain)).toBe(plain);
    const strange = recordOf({ tags: { "a\u0000": "b\ud800" }, policyActions: ["\u0000"] });
    const kept = recordOf({ tags: { "a\uFFFD": "b\uFFFD" }, policyActions: ["\uFFFD"] });
    expect(storableRecord(strange)).toEqual(kept);
    expect(storableRecord(recordOf({ sql: "\udfff" }))).toEqual(recordOf({ sql: "\uFFFD" }));
  });
});

describe("storableText", () => {
  it("puts U+FFFD in the place of what no text can hold", () => {
    expect(storableText("a\u0000b\ud800c🦆")).toBe("a\uFFFDb\uFFFDc🦆");
  });
});

describe("wholeMs", () => {
  it("answers a whole number that a bigint holds, for any bound", () => {
    const bounds = [1.2, -1.2, 5, Infinity, -Infinity, 1e300, Number.NaN];
    const { MAX_SAFE_INTEGER: max, MIN_SAFE_INTEGER: min } = Number;
    expect(bounds.map(wholeMs)).toEqual([2, -1, 5, max, min, max, max]);
  });
});

function recordOf(fields: Partial<QueryRecord>): QueryRecord {
  return {
    proxyQueryId: "q",
    createdAt: 1,
    finishedAt: 2,
    frontend: "postgresWire",
    user: "ann",
    clientAddress: "192.0.2.7",
    tags: {},
    sourceDialect: "postgres",
    status: "finished",
    rowsReturned: 0,
    bytesReturned: 0,
    queueMs: 0,
    executionMs: 0,
    routingTrace: [{ step: "fallback", outcome: "group a" }],
    policyActions: [],
    engineStats: { rows: 1 },
    revision: "1.1.sha256:0",
    ...fields,
  };
}

function odd(value: Readonly<Record<string, readonly string[]>>): boolean {
  const texts = Object.entries(value).flatMap(([key, list]) => [key, ...list]);
  return texts.some((text) => text.includes("\u0000") || !text.isWellFormed());
}
