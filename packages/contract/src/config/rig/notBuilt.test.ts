import { describe, expect, it } from "vitest";
import { z } from "zod";
import { builtWords, notBuilt, notBuiltVariant } from "./notBuilt.ts";

const sample = z.strictObject({
  later: notBuilt("the part").optional(),
  kind: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("here") }),
      notBuiltVariant("type", "script", "scripts"),
    ])
    .optional(),
  word: builtWords(["on", "off"], { auto: "guessing" }).optional(),
});

describe("notBuilt", () => {
  it("refuses whatever is written, and nothing where nothing is", () => {
    expect(issuesOf({})).toEqual([]);
    for (const later of ["x", {}, null, false]) {
      expect(issuesOf({ later })).toEqual(["later: not built yet: the part"]);
    }
  });

  it("is marked in the JSON Schema, so that it is not offered as a known key", () => {
    const { properties } = z.toJSONSchema(sample, { io: "input" });
    expect(properties?.["later"]).toMatchObject({ "x-not-built": true });
  });
});

describe("notBuiltVariant", () => {
  it("points at the discriminator, whatever else the object holds", () => {
    expect(issuesOf({ kind: { type: "script", source: "x", more: 1 } })).toEqual([
      "kind.type: not built yet: scripts",
    ]);
    expect(issuesOf({ kind: { type: "here" } })).toEqual([]);
  });
});

describe("builtWords", () => {
  it("takes what is built, names the part of what is not, and refuses the rest", () => {
    expect(issuesOf({ word: "on" })).toEqual([]);
    expect(issuesOf({ word: "auto" })).toEqual(["word: not built yet: guessing"]);
    expect(issuesOf({ word: "never" })).toHaveLength(1);
    expect(issuesOf({ word: "never" })).not.toEqual(["word: not built yet: guessing"]);
  });
});

function issuesOf(input: unknown): readonly string[] {
  const issues = sample.safeParse(input).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}
