import { describe, expect, it } from "vitest";
import { typesPage } from "./typesPage.ts";

describe("typesPage", () => {
  it("has a name in each protocol for each type", () => {
    expect(rows.length).toBeGreaterThan(30);
    const bare = rows.filter(([, , ...protocols]) => protocols.some((cell) => cell.length < 3));
    expect(bare).toEqual([]);
  });

  it("has one row for each type", () => {
    const names = rows.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
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
