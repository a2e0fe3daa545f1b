import { textOf } from "@gateway/control/config/check/report.ts";
import { describe, expect, it } from "vitest";
import { placesIn } from "./places.ts";

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

describe("placesIn", () => {
  const placeOf = placesIn(text);

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
    expect(placeOf(textOf([...path]))).toEqual({ line, column });
  });

  it("answers the last part that is written, and nothing for what begins with none", () => {
    expect(placeOf("clusters.main.uri")).toEqual({ line: 5, column: 3 });
    expect(placeOf("routers[7]")).toEqual({ line: 7, column: 1 });
    expect(placeOf("auth.provider")).toBeUndefined();
    expect(placeOf("")).toBeUndefined();
    expect(placesIn("")("clusters")).toBeUndefined();
  });
});
