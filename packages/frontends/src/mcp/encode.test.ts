import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OpenBatch, RowsPage, tableText, visible } from "./encode.ts";

describe("RowsPage", () => {
  it("takes every row once and in order, whatever the pages", () => {
    const column = [columnOf("n", { kind: "integer", bits: 64, signed: true })];
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 20 }), (count, rows) => {
        const all = Array.from({ length: count }, (_, row) => [BigInt(row)]);
        const batch = new OpenBatch(batchOf(column, all));
        const seen: unknown[] = [];
        while (batch.hasMore) {
          const page = new RowsPage({ rows, bytes: 1 << 20 });
          batch.moveTo(page);
          expect(page.rows.length).toBeLessThanOrEqual(rows);
          seen.push(...page.rows.map(([cell]) => cell));
        }
        expect(seen).toEqual(all.map((_, row) => row));
      }),
    );
  });

  it("holds no more than its bytes and one row, however long the values are", () => {
    const kinds: readonly (readonly [DataType, Value])[] = [
      [{ kind: "text" }, "é".repeat(1 << 16)],
      [{ kind: "json" }, JSON.stringify("x".repeat(1 << 16))],
      [{ kind: "binary" }, new Uint8Array(1 << 16)],
      [{ kind: "list", item: { kind: "text" } }, ["x".repeat(1 << 16)]],
    ];
    for (const [type, value] of kinds) {
      const columns = [columnOf("a", type), columnOf("b", type)];
      const batch = new OpenBatch(
        batchOf(
          columns,
          Array.from({ length: 40 }, () => [value, value]),
        ),
      );
      const page = new RowsPage({ rows: 100, bytes: 4_096 });
      batch.moveTo(page);
      expect(page.fullBy).toBe("bytes");
      expect(page.hasCutValues).toBe(true);
      expect(JSON.stringify(page.rows).length).toBeLessThan(3 * 4_096);
    }
  });

  it("keeps a whole number that a double can not hold as its digits", () => {
    const columns = [columnOf("n", { kind: "integer", bits: 64, signed: true })];
    const batch = new OpenBatch(batchOf(columns, [[2n ** 53n], [2n ** 53n - 1n], [-(2n ** 63n)]]));
    const page = new RowsPage({ rows: 9, bytes: 9_999 });
    batch.moveTo(page);
    expect(page.rows).toEqual([
      ["9007199254740992"],
      [9_007_199_254_740_991],
      ["-9223372036854775808"],
    ]);
  });
});

/** What could break a line or a cell, or hide in it, beside what could not. */
const nasty = ["a", "é", "😀", "|", "\\", "\n", "\r", "\u2028", "\u0000", "\u202e", "\u{e0041}"];

describe("visible", () => {
  it("leaves no control, no invisible character and no bar that was not escaped", () => {
    const text = fc.string({ unit: fc.constantFrom(...nasty), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 4 }), (rows) => {
        const lines = tableText(["a", "b"], rows).split("\n");
        expect(lines).toHaveLength(rows.length + 1);
        for (const line of lines) {
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          expect(line.replaceAll(/\\./g, "").split("|")).toHaveLength(2);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("lets every readable text be", () => {
    for (const text of ["plain", "né 😀 漢字 عربى", "a,b;c:'\"`"]) expect(visible(text)).toBe(text);
  });
});
