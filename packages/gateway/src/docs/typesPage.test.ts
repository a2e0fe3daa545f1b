import { describe, expect, it } from "vitest";
import { typesPage } from "./typesPage.ts";

describe("typesPage", () => {
  it("has a name in each protocol for each type", () => {
    expect(rows.length).toBeGreaterThan(30);
    const bare = rows.filter((cells) => cells.slice(-3).some((cell) => cell.length < 3));
    expect(bare).toEqual([]);
  });

  it("has one row for each type", () => {
    const names = rows.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it("tells where types of the other engines go", () => {
    const becomes = (column: number, name: string) =>
      rows.find((cells) => cells[column]?.includes(`\`${name}\``))?.[0];
    expect(becomes(2, "DateTime")).toBe("`timestamp(0) zoned`");
    expect(becomes(2, "FixedString(4)")).toBe("`binary`");
    expect(becomes(3, "LARGEINT")).toBe("`text`");
    expect(becomes(3, "BIGINT UNSIGNED")).toBe("`uint64`");
    expect(becomes(4, "timestamp(12)")).toBe("`text`");
    expect(becomes(4, "row(a bigint)")).toBe('`struct("a" int64)`');
  });

  it("tells where each of DuckDB's types goes", () => {
    const becomes = (name: string) => rows.find(([, from]) => from?.includes(`\`${name}\``))?.[0];
    expect(becomes("UHUGEINT")).toBe("`uint128`");
    expect(becomes("TIME_NS")).toBe("`time(9)`");
    expect(becomes("BIGINT[3]")).toBe("`list(int64)`");
    expect(becomes("ENUM('a', 'b')")).toBe("`text`");
  });
});

const rows = typesPage()
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.slice(2, -2).split(" | "));
