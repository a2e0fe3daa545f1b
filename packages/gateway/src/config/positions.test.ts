import { textOf } from "@gateway/control/config/check/report.ts";
import { describe, expect, it } from "vitest";
import { positionsIn } from "./positions.ts";

const text = `# a comment
base: &base
  engine: duckDb
clusters:
  main: *base
  "odd name.x": { engine: trino }
routers:
  - type: header
  - { type: 5,
      rules: [] }
`;

describe("positionsIn", () => {
  const positionOf = positionsIn(text);

  it.each([
    [["clusters"], [4, 1]],
    [
      ["clusters", "main"],
      [5, 3],
    ],
    [
      ["clusters", "main", "engine"],
      [3, 3],
    ],
    [
      ["clusters", "odd name.x", "engine"],
      [6, 19],
    ],
    [
      ["routers", 0, "type"],
      [8, 5],
    ],
    [
      ["routers", 1],
      [9, 5],
    ],
    [
      ["routers", 1, "rules"],
      [10, 7],
    ],
  ] as const)("finds the key of %j", (path, [line, column]) => {
    expect(positionOf(textOf([...path]))).toEqual({ line, column });
  });

  it("answers the last part that is written, and nothing for what begins with none", () => {
    expect(positionOf("clusters.main.uri")).toEqual({ line: 5, column: 3 });
    expect(positionOf("routers[7]")).toEqual({ line: 7, column: 1 });
    expect(positionOf("auth.provider")).toBeUndefined();
    expect(positionOf("")).toBeUndefined();
    expect(positionsIn("")("clusters")).toBeUndefined();
  });
});
