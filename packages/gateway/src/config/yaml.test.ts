import { describe, expect, it } from "vitest";
import { parseYaml } from "./yaml.ts";

describe("parseYaml", () => {
  it("reads an empty file as an empty map", () => {
    expect(read("")).toEqual({ ok: true, value: {} });
    expect(read("# only a comment\n")).toEqual({ ok: true, value: {} });
  });

  it("places a mistake by line and column", () => {
    expect(reasonsFor("a: 1\nb: [1, 2\nc: 3\n")).toEqual([expect.stringMatching(/^3:1: /)]);
  });

  it("lists every mistake of the text", () => {
    expect(reasonsFor('a: "x\\q"\nb: "x\\q"\n')).toEqual([
      expect.stringMatching(/^1:\d+: /),
      expect.stringMatching(/^2:\d+: /),
    ]);
  });

  it("refuses a key that is written twice, at the second one", () => {
    expect(reasonsFor("a: 1\nb: 2\na: 3\n")).toEqual(["3:1: Map keys must be unique"]);
  });

  it("refuses aliases that would grow into a large document", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 10; level += 1) {
      const item = `*a${level - 1}`;
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => item).join(", ")}]`);
    }
    expect(reasonsFor(lines.join("\n"))).toEqual(["the file uses more than 100 YAML aliases"]);
  });

  it("resolves a few aliases", () => {
    expect(read("a: &x [1]\nb: *x\n")).toEqual({ ok: true, value: { a: [1], b: [1] } });
  });

  it("refuses an alias that leads nowhere", () => {
    expect(reasonsFor("a: *gone\n")).toEqual([expect.stringMatching(/^1:4: .*gone/)]);
  });

  it("refuses a tag it would have to guess about", () => {
    expect(reasonsFor("a: !env HOME\n")).toEqual([expect.stringMatching(/^1:4: .*!env/)]);
  });

  it("refuses two documents in one file", () => {
    expect(reasonsFor("a: 1\n---\nb: 2\n")).toHaveLength(1);
  });

  it("takes the depth that a config can have", () => {
    expect(read(`a: ${"[".repeat(150)}${"]".repeat(150)}\n`).ok).toBe(true);
  });

  it.each([
    ["lists", `a: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`],
    ["lists that are not closed", "[".repeat(1_000)],
    ["lists of dashes", `${"- ".repeat(5_000)}x\n`],
    ["maps as keys", `${"? ".repeat(1_000)}x\n`],
    ["aliases", `a: &a ${nested(150, "x")}\nb: ${nested(150, "*a")}\n`],
    ["an alias inside of its anchor", "a: &a [*a, *a]\n"],
  ])("never loses itself in %s", (_what, text) => {
    expect(reasonsFor(text)).toEqual(["the file is nested more than 200 levels deep"]);
  });

  it("takes every key as text", () => {
    expect(read("1: a\ntrue: b\nnull: c\n")).toEqual({
      ok: true,
      value: { "1": "a", true: "b", null: "c" },
    });
  });

  it("refuses the one name that a map of names can not hold", () => {
    expect(reasonsFor("clusters:\n  __proto__: {}\n")).toEqual([
      "2:3: the key __proto__ is not allowed",
    ]);
  });

  it("refuses bytes that are no text", () => {
    expect(parseYaml(new Uint8Array([0x61, 0x3a, 0x20, 0xff]))).toEqual({
      ok: false,
      error: [{ path: "", reason: "the file is not UTF-8 text" }],
    });
  });
});

function nested(depth: number, inner: string): string {
  return `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;
}

function read(text: string): ReturnType<typeof parseYaml> {
  return parseYaml(new TextEncoder().encode(text));
}

function reasonsFor(text: string): readonly string[] {
  const parsed = read(text);
  if (parsed.ok) return [];
  return parsed.error.map(({ reason, at }) =>
    at === undefined ? reason : `${at.line}:${at.column}: ${reason}`,
  );
}
