import { canonicalJson } from "@gateway/contract/canonical.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordOf, startMs } from "../rig/samples.ts";
import { RecordTable } from "./recordTable.ts";

/** Some records are alike but for their figures, others in what a form has, and some have texts of their own. */
const changes: fc.Arbitrary<Partial<QueryRecord>> = fc.record(
  {
    startedAt: fc.constantFrom(startMs, startMs + 0.25),
    user: fc.constantFrom("ada", "bob \u{1f986}"),
    sql: fc.constantFrom("select 1", "select '\u00fc'", "select 2"),
    sqlHash: fc.constantFrom("a", "b"),
    tags: fc.constantFrom({}, { team: "x" }, { team: "\u00fc" }),
    errorMessage: fc.constantFrom("no such table"),
    status: fc.constantFrom("finished" as const, "failed" as const),
    rowsReturned: fc.nat(),
    executionMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  },
  { requiredKeys: [] },
);
const ids = fc.oneof(
  fc.nat({ max: 200 }).map((n) => `20260101_000000_${String(n).padStart(5, "0")}_k3v9x2m8`),
  fc.constantFrom("\u00fc", "x".repeat(41), "x".repeat(40), "", "\u007f"),
);
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constant("put" as const), ids, changes) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("remove" as const), ids, fc.constant({})) },
  ),
  { maxLength: 400, size: "max" },
);

describe("RecordTable", () => {
  it("gives back each record as it came, and only those that are there", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const table = new RecordTable();
        const model = new Map<string, QueryRecord>();
        for (const [kind, id, change] of all) {
          const slot = table.find(id);
          expect(slot !== undefined).toBe(model.has(id));
          if (slot !== undefined && kind === "remove") {
            table.remove(slot);
            model.delete(id);
          } else if (slot === undefined && kind === "put") {
            const record = recordOf(id, change);
            model.set(id, record);
            table.put(record);
          }
        }
        for (const [id, record] of model) {
          const slot = table.find(id) ?? -1;
          expect(table.text(slot)).toBe(canonicalJson(record));
          expect(table.id(slot)).toBe(id);
          expect(table.at(slot)).toBe(Math.floor(record.createdAt));
          const { executionMs, queueMs, user, status } = record;
          expect(table.durations(slot)).toEqual({ ranMs: executionMs, waitedMs: queueMs });
          expect(table.face(slot)).toMatchObject({ user, status });
        }
      }),
      { numRuns: 60 },
    );
  });

  it("orders ids as their texts are ordered", () => {
    const table = new RecordTable();
    const texts = ["a", "ab", "b", "B", "", "\u00fc", "x".repeat(50), "x".repeat(40)];
    const slots = texts.map((id) => ({ id, slot: table.put(recordOf(id)) }));
    for (const { id, slot } of slots) {
      for (const other of texts) {
        const expected = id === other ? 0 : id < other ? -1 : 1;
        expect(Math.sign(table.compareId(slot, other))).toBe(expected);
      }
    }
  });

  it("finds each of many thousands while others come and go", () => {
    const table = new RecordTable();
    const slots: number[] = [];
    const idOf = (n: number): string => `q${n}`;
    for (let n = 0; n < 20_000; n += 1) {
      slots.push(table.put(recordOf(idOf(n))));
      if (n >= 9_000) table.remove(slots[n - 9_000] ?? -1);
    }
    const there = Array.from({ length: 20_000 }, (_, n) => table.find(idOf(n)) !== undefined);
    expect(there.indexOf(true)).toBe(11_000);
    expect(there.slice(11_000)).not.toContain(false);
    expect(Math.max(...slots)).toBeLessThanOrEqual(9_000);
  });

  it("refuses what no JSON has, and keeps nothing of it", () => {
    const table = new RecordTable();
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => table.put(recordOf("q", { queueMs: odd }))).toThrow(TypeError);
    }
    expect(() => table.put(recordOf("q", { sql: "\ud800" }))).toThrow(TypeError);
    expect(table.find("q")).toBeUndefined();
    expect(table.put(recordOf("q"))).toBe(0);
  });
});
