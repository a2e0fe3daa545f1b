import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../keys.ts";
import { issueText } from "./reason.ts";
import { lineOf, problemsOf, textOf } from "./report.ts";

describe("problemsOf", () => {
  it("names an unknown key at the root with the nearest known one", () => {
    expect(linesFor({ listner: {} })).toContain("listner: unknown key; did you mean listener?");
  });

  it("lists the known keys where none is near", () => {
    expect(linesFor({ listener: { banana: 1 } })).toEqual([
      "listener.banana: unknown key; known here: port, host, level, timeout",
    ]);
  });

  it("finds the nearest key inside records, lists and unions", () => {
    const input = {
      clusters: { a: { engine: "file", pth: "x" } },
      rules: [{ regx: "a" }, { regex: "a", targt: "b" }],
      secret: { secretRf: "env:A" },
    };
    expect(linesFor(input)).toEqual([
      "clusters.a.path: is missing; must be text",
      "clusters.a.pth: unknown key; did you mean path?",
      "rules[0].regex: is missing; must be text",
      "rules[0].regx: unknown key; did you mean regex?",
      "rules[1].targt: unknown key; did you mean target?",
      "secret.secretRef: is missing; must be text",
      "secret.secretRf: unknown key; did you mean secretRef?",
    ]);
  });

  it("says which kinds there are where none or a wrong one is chosen", () => {
    const input = { clusters: { a: {}, b: { engine: "sever" } } };
    expect(linesFor(input)).toEqual([
      "clusters.a.engine: is missing; must be one of file, server",
      "clusters.b.engine: must be one of file, server; did you mean server?",
    ]);
  });

  it("says what a value must be, in words of YAML", () => {
    const input = {
      listener: { port: 70_000, host: "", level: "wran", timeout: 1.5 },
      rules: {},
      secret: 5,
      clusters: null,
      url: "nowhere",
    };
    expect(linesFor(input)).toEqual([
      "listener.port: must be at most 65535",
      "listener.host: must not be empty",
      "listener.level: must be one of debug, warn; did you mean warn?",
      "listener.timeout: must be a whole number",
      "clusters: is empty; must be a map of keys",
      "rules: must be a list, not a map of keys",
      "secret: must be text or a map of keys, not a number",
      "url: must be a URL with its scheme",
    ]);
  });

  it("names a record's bad name", () => {
    expect(linesFor({ clusters: { "a b": { engine: "file", path: "" } } })).toEqual([
      'clusters."a b": the name must be letters',
    ]);
  });

  it("says the same only once", () => {
    const lines = linesFor({ listener: [], rules: [], clusters: [] });
    expect(new Set(lines).size).toBe(lines.length);
  });

  it("never repeats a value, which may be a secret in the wrong place", () => {
    const value = "hunter2-hunter2";
    const input = {
      listener: { port: value, host: [value], level: value, timeout: value },
      clusters: { a: { engine: value }, b: value },
      rules: value,
      secret: [value],
      url: value,
    };
    expect(linesFor(input).join("\n")).not.toContain(value);
    expect(linesFor(input).length).toBeGreaterThan(7);
  });
});

describe("textOf", () => {
  it("quotes names that would be read as a path", () => {
    expect(textOf(["clusters", "a.b", "members", 3, "x y"])).toBe(
      'clusters."a.b".members[3]."x y"',
    );
  });

  it("keeps a name with a line break on one line", () => {
    expect(textOf(["a\nb"])).toBe(String.raw`"a\nb"`);
  });
});

describe("lineOf", () => {
  it("leaves the path out where the file as a whole is meant", () => {
    expect(lineOf({ path: "", reason: "no such file" })).toBe("no such file");
    expect(lineOf({ path: "a.b", reason: "unknown key" })).toBe("a.b: unknown key");
  });
});

const root = z.strictObject({
  listener: z
    .strictObject({
      port: z.int().max(65_535).optional(),
      host: z.string().min(1).optional(),
      level: z.enum(["debug", "warn"]).optional(),
      timeout: z.int().optional(),
    })
    .optional(),
  clusters: z
    .record(
      z.string().regex(/^[a-z]+$/, "must be letters"),
      z.discriminatedUnion("engine", [
        z.strictObject({ engine: z.literal("file"), path: z.string() }),
        z.strictObject({ engine: z.literal("server"), url: z.string() }),
      ]),
    )
    .optional(),
  rules: z.array(z.strictObject({ regex: z.string(), target: z.string().optional() })).optional(),
  secret: z.union([z.string().min(1), z.strictObject({ secretRef: z.string() })]).optional(),
  url: z.url().optional(),
});

const schema = z.toJSONSchema(root, { io: "input" }) as JsonSchema;

function linesFor(input: unknown): readonly string[] {
  const parsed = root.safeParse(input, { error: issueText });
  return problemsOf(parsed.error?.issues ?? [], schema, input).map(lineOf);
}
