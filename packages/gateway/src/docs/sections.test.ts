import { describe, expect, it } from "vitest";
import { z } from "zod";
import { builtWords, notBuilt, notBuiltVariant } from "@gateway/contract/config/rig/notBuilt.ts";
import { rootJsonSchema } from "../config/load.ts";
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { fileHeading, sectionsOf, type Section } from "./sections.ts";

describe("sectionsOf", () => {
  it("tells of a key its place, name, value, unit, default and meaning", () => {
    const schema = z.strictObject({
      waitSecs: z
        .int()
        .min(0)
        .max(60)
        .default(5)
        .meta({ title: "Wait", description: "How long.", "x-unit": "seconds", examples: [9] }),
    });
    expect(rowsOf(schema)).toEqual([
      {
        key: "waitSecs",
        title: "Wait",
        value: "whole number of seconds, 0 to 60",
        default: "`5`",
        description: "How long. Example: `9`.",
      },
    ]);
  });

  it("tells what may stand at a key", () => {
    const schema = z.strictObject({
      words: z.enum(["a", "b"]),
      list: z.array(z.string()).min(1).max(3),
      map: z.record(z.string(), z.number().nullable()),
      secret: z
        .union([z.string(), z.strictObject({ secretRef: z.string() })])
        .meta({ "x-secret": true }),
      address: z.url().optional(),
      either: z.union([z.boolean(), z.string().max(9)]).optional(),
      free: z.int(),
    });
    const values = rowsOf(schema).map(({ key, value }) => [key, value]);
    expect(Object.fromEntries(values)).toEqual({
      words: "`a`, `b`",
      list: "list of text, at least 1, at most 3",
      map: "map of names to number or `null`",
      secret: "secret text",
      address: "URL",
      either: "`true` or `false` or text, at most 9 characters",
      free: "whole number",
    });
  });

  it("tells which keys must be written", () => {
    const schema = z.strictObject({
      a: z.string(),
      b: z.string().optional(),
      c: z.string().default("x"),
    });
    expect(rowsOf(schema).map((row) => row.default)).toEqual(["required", "–", '`"x"`']);
  });

  it("writes a small object out in its holder's table and gives a large one its own section", () => {
    const small = z.strictObject({ a: z.string(), b: z.string() });
    const large = z.strictObject({ ...small.shape, c: z.int(), d: z.int(), e: z.int() });
    const sections = sectionsFor(
      z.strictObject({ small, large, maps: z.record(z.string(), large) }),
    );
    expect(sections.map(({ heading }) => heading)).toEqual([fileHeading, "large", "maps.<name>"]);
    expect(sections[0]?.rows.map(({ key }) => key)).toEqual([
      "small",
      "small.a",
      "small.b",
      "large",
      "maps",
    ]);
  });

  it("gives each kind of a choice a section, and lists the kinds where the choice begins", () => {
    const shape = { a: z.int(), b: z.int(), c: z.int() };
    const choice = z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("one"), ...shape }).meta({ title: "One" }),
      z.strictObject({ kind: z.literal("two"), ...shape }).meta({ title: "Two" }),
      notBuiltVariant("kind", "three", "the third kind"),
    ]);
    const sections = sectionsFor(z.strictObject({ list: z.array(choice) }));
    expect(sections.map(({ heading }) => heading)).toEqual([
      fileHeading,
      "list[]",
      "list[] (kind: one)",
      "list[] (kind: two)",
    ]);
    expect(sections[1]).toMatchObject({
      kinds: [
        { heading: "list[] (kind: one)", description: "One" },
        { heading: "list[] (kind: two)", description: "Two" },
      ],
      refused: ["`kind: three`: the third kind"],
    });
  });

  it("lists what is not built apart, with the part that is missing", () => {
    const schema = z.strictObject({
      later: notBuilt("the later part").optional(),
      role: builtWords(["a"], { b: "the part b" }).default("a"),
      roles: z.array(builtWords(["a"], { b: "the part b" })),
    });
    const [file] = sectionsFor(schema);
    expect(file?.rows.map(({ key, value }) => [key, value])).toEqual([
      ["role", "`a`"],
      ["roles", "list of `a`"],
    ]);
    expect(file?.refused).toEqual([
      "`later`: the later part",
      "`role: b`: the part b",
      "`roles[]: b`: the part b",
    ]);
  });

  it("ends on an object that holds itself", () => {
    const sections = sectionsOf(rootJsonSchema());
    expect(sections.filter(({ heading }) => heading === "RouterCondition")).toHaveLength(1);
  });

  it("names and describes every key of the real config", () => {
    const bare = sectionsOf(rootJsonSchema()).flatMap(({ heading, rows }) =>
      rows
        .filter(
          ({ title, description }) => title === "" || (title !== "Kind" && description === ""),
        )
        .map(({ key }) => `${heading}: ${key}`),
    );
    expect(bare).toEqual([]);
  });

  it("has no two sections of one heading, which links could not tell apart", () => {
    const headings = sectionsOf(rootJsonSchema()).map(({ heading }) => heading);
    expect(headings.filter((heading, index) => headings.indexOf(heading) < index)).toEqual([]);
  });
});

function sectionsFor(schema: z.ZodType): readonly Section[] {
  return sectionsOf(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);
}

function rowsOf(schema: z.ZodType): Section["rows"] {
  return sectionsFor(schema)[0]?.rows ?? [];
}
