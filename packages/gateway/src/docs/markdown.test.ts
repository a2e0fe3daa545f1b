import { describe, expect, it } from "vitest";
import { code, linkTo, page, table } from "./markdown.ts";

describe("table", () => {
  it("keeps its columns whatever a cell holds", () => {
    expect(table(["a", "b"], [["x | y", "one\n  two"]])).toEqual([
      "| a | b |",
      "| --- | --- |",
      String.raw`| x \| y | one two |`,
    ]);
  });
});

describe("code", () => {
  it("shows backticks as they stand", () => {
    expect(code("a")).toBe("`a`");
    expect(code("`a` or ``b``")).toBe("``` `a` or ``b`` ```");
  });
});

describe("linkTo", () => {
  it("leads to the heading as renderers name it", () => {
    expect(linkTo("clusters.<name> (engine: duckDb)")).toBe(
      "[`clusters.<name> (engine: duckDb)`](#clustersname-engine-duckdb)",
    );
  });
});

describe("page", () => {
  it("puts one empty line between blocks and leaves empty ones out", () => {
    expect(page([["# A"], [], ["b", "c"]])).toBe("# A\n\nb\nc\n");
  });
});
