import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileRegex, type LinearRegex, type RegexFlags } from "./regex.ts";

describe("compileRegex", () => {
  it("finds a match anywhere, and at the start only when the pattern says so", () => {
    expect(matches("b+", "aabb")).toBe(true);
    expect(matches("^b+", "aabb")).toBe(false);
    expect(matches("^a+", "aabb")).toBe(true);
    expect(matches("a+$", "aabb")).toBe(false);
    expect(matches("", "")).toBe(true);
    expect(matches("^$", "")).toBe(true);
    expect(matches("^$", "x")).toBe(false);
  });

  it("routes as rules are usually written", () => {
    const rule = "(?is)^\\s*select\\b.*\\bfrom\\s+orders\\b";
    expect(matches(rule, "  SELECT a,\n b FROM orders WHERE 1 = 1")).toBe(true);
    expect(matches(rule, "select a from orders_old")).toBe(false);
    expect(matches(rule, "insert into t select a from orders")).toBe(false);
  });

  it("keeps the dot before a line feed unless (?s) is on", () => {
    expect(matches("a.b", "a\nb")).toBe(false);
    expect(matches("(?s)a.b", "a\nb")).toBe(true);
    expect(matches("(?s:a.)(?-s:.)b", "a\n\nb")).toBe(false);
    expect(matches("a.b", "a\rb")).toBe(true);
  });

  it("reads ^ and $ by line only under (?m), and \\A and \\z never", () => {
    expect(matches("^b$", "a\nb\nc")).toBe(false);
    expect(matches("(?m)^b$", "a\nb\nc")).toBe(true);
    expect(matches("(?m)\\Ab", "a\nb")).toBe(false);
    expect(matches("(?m)b\\z", "b\nc")).toBe(false);
    expect(matches("b$", "b\n")).toBe(false);
    expect(matches("(?m)^$", "a\n")).toBe(true);
  });

  it("sees word boundaries at both ends of the text", () => {
    expect(matches("\\bdrop\\b", "drop")).toBe(true);
    expect(matches("\\bdrop\\b", "airdrop")).toBe(false);
    expect(matches("\\bdrop\\b", "a;drop table")).toBe(true);
    expect(matches("\\Bdrop", "airdrop")).toBe(true);
    expect(matches("\\b", "")).toBe(false);
    expect(matches("\\B", "")).toBe(true);
  });

  it("folds case by flag, by group, and for the rest of a group", () => {
    expect(matches("SeLeCt", "select", { ignoreCase: true })).toBe(true);
    expect(matches("a(?i)b|c", "C")).toBe(true);
    expect(matches("(?:a(?i)b)c", "aBC")).toBe(false);
    expect(matches("(?i:a)b", "Ab")).toBe(true);
    expect(matches("(?i:a)b", "AB")).toBe(false);
    expect(matches("(?-i)a", "A", { ignoreCase: true })).toBe(false);
    expect(matches("(?i)[a-c]x", "BX")).toBe(true);
    expect(matches("(?i)[^a-c]", "B")).toBe(false);
    expect(matches("(?i)straße", "STRAßE")).toBe(true);
    expect(matches("(?i)ΣΑΣ", "σας")).toBe(true);
    expect(matches("(?i)i", "ı")).toBe(false);
  });

  it("counts with {n}, {n,} and {n,m}, and reads any other brace as itself", () => {
    expect(matches("^a{3}$", "aaa")).toBe(true);
    expect(matches("^a{3}$", "aa")).toBe(false);
    expect(matches("^a{2,}$", "aaaaa")).toBe(true);
    expect(matches("^a{2,3}$", "aaaa")).toBe(false);
    expect(matches("^(?:ab){0}c$", "c")).toBe(true);
    expect(matches("^a{,2}$", "a{,2}")).toBe(true);
    expect(matches("^{x}$", "{x}")).toBe(true);
    expect(matches("^a{2}?b$", "aab")).toBe(true);
  });

  it("reads classes with ranges, negation, escapes and names", () => {
    expect(matches("^[a-cx]+$", "abcx")).toBe(true);
    expect(matches("^[^a-c]$", "b")).toBe(false);
    expect(matches("^[]a]+$", "]a")).toBe(true);
    expect(matches("^[^]a]$", "]")).toBe(false);
    expect(matches("^[a\\-z]+$", "a-z")).toBe(true);
    expect(matches("^[a-]+$", "a-")).toBe(true);
    expect(matches("^[\\d\\s]+$", "1 2")).toBe(true);
    expect(matches("^[[:alpha:]_]+$", "ab_")).toBe(true);
    expect(matches("^[[:^digit:]]+$", "ab1")).toBe(false);
    expect(matches("^[\\W]$", "é")).toBe(true);
  });

  it("reads escapes, and matches code points beyond the first plane as one character", () => {
    expect(matches("^\\x41\\u0042\\u{43}\\x{44}$", "ABCD")).toBe(true);
    expect(matches("^.$", "\u{1F600}")).toBe(true);
    expect(matches("^\\u{1F600}$", "\u{1F600}")).toBe(true);
    expect(matches("^\\uD83D\\uDE00$", "\u{1F600}")).toBe(true);
    expect(matches("^[\u{1F600}-\u{1F64F}]$", "\u{1F601}")).toBe(true);
    expect(matches("^\\t\\r\\n\\f\\v$", "\t\r\n\f\v")).toBe(true);
    expect(matches("^\\.\\*\\[\\/$", ".*[/")).toBe(true);
    expect(matches("^.$", "\uD83D")).toBe(true);
  });

  it("refuses what can not be matched in linear time, naming the place", () => {
    expect(refusal("(a)\\1")).toMatchObject({
      at: 3,
      reason: expect.stringContaining("back-references"),
    });
    expect(refusal("(?<n>a)\\k<n>")).toMatchObject({
      at: 7,
      reason: expect.stringContaining("back-references"),
    });
    expect(refusal("ab(?=c)")).toMatchObject({
      at: 2,
      reason: expect.stringContaining("look-around"),
    });
    expect(refusal("(?<!a)b")).toMatchObject({
      at: 0,
      reason: expect.stringContaining("look-around"),
    });
    expect(refusal("a(?>b)")).toMatchObject({ at: 1, reason: expect.stringContaining("group") });
    expect(refusal("ab++")).toMatchObject({ at: 3, reason: expect.stringContaining("possessive") });
  });

  it.each([
    ["(a", 0],
    ["a)", 1],
    ["[a", 0],
    ["[]", 0],
    ["*a", 0],
    ["a**", 2],
    ["a|+", 2],
    ["a{2}{3}", 4],
    ["[z-a]", 1],
    ["[a-\\d]", 1],
    ["a\\", 1],
    ["\\xZ0", 0],
    ["\\u{110000}", 0],
    ["\\q", 0],
    ["\\pL", 0],
    ["[[:nope:]]", 1],
    ["a{3,2}", 1],
    ["a{1001}", 1],
    ["(?x)a", 0],
  ])("refuses %s at offset %i", (pattern, at) => {
    expect(refusal(pattern).at).toBe(at);
  });

  it("refuses a pattern that is too long, too deep or too large before it takes memory for it", () => {
    expect(refusal("a".repeat(8_193)).reason).toContain("longer");
    expect(refusal("(".repeat(8_000)).reason).toContain("deeper");
    expect(refusal("((a{900}){900}){900}")).toMatchObject({
      at: 9,
      reason: expect.stringContaining("expands"),
    });
    expect(refusal(`(?:${"a".repeat(4_000)}){3}`).at).toBe(4_004);
  });

  it("accepts a pattern at its limits", () => {
    expect(matches(`${"(".repeat(200)}a${")".repeat(200)}`, "a")).toBe(true);
    expect(matches("^a{1000}$", "a".repeat(1_000))).toBe(true);
  });

  it("gives the same answer when a compiled pattern is used again and again", () => {
    const regex = compiled("\\b(?:foo|bar)+\\b");
    for (const [text, expected] of [
      ["foo", true],
      ["xfoo", false],
      ["a foobar b", true],
      ["", false],
    ] as const) {
      expect(regex.test(text)).toBe(expected);
      expect(regex.test(text)).toBe(expected);
    }
  });

  it("answers like the backtracking engine on small patterns, where that one is fast enough", () => {
    const alike = fc.property(
      patternOf(),
      fc.array(textOf(), { minLength: 1, maxLength: 5 }),
      flagsOf(),
      (pattern, texts, flags) => {
        const modes = `${flags.ignoreCase ? "i" : ""}${flags.multiline ? "m" : ""}${flags.dotAll ? "s" : ""}`;
        const ours = compiled(modes === "" ? pattern : `(?${modes})${pattern}`);
        const theirs = new RegExp(pattern, modes);
        for (const text of texts)
          expect(`${text}: ${ours.test(text)}`).toBe(`${text}: ${theirs.test(text)}`);
      },
    );
    fc.assert(alike, { numRuns: 2_000 });
  });

  it("never throws, whatever the pattern and the text are", () => {
    const noise = fc.string({
      unit: fc.constantFrom(...Array.from("ab\\[](){}^$|?*+-:,.01xu<=!PidwsB\u{1F600}\uD83D")),
      maxLength: 24,
    });
    const quiet = fc.property(
      noise,
      fc.string({ unit: "binary", maxLength: 20 }),
      (pattern, text) => {
        const regex = compileRegex(pattern);
        const sound = regex.ok
          ? typeof regex.value.test(text) === "boolean"
          : regex.error.at <= pattern.length;
        expect(sound).toBe(true);
      },
    );
    fc.assert(quiet, { numRuns: 800 });
  });
});

function compiled(pattern: string, flags: RegexFlags = {}): LinearRegex {
  const regex = compileRegex(pattern, flags);
  if (!regex.ok) throw new Error(`${pattern}: ${regex.error.reason}`);
  return regex.value;
}

function matches(pattern: string, text: string, flags: RegexFlags = {}): boolean {
  return compiled(pattern, flags).test(text);
}

function refusal(pattern: string): { readonly at: number; readonly reason: string } {
  const regex = compileRegex(pattern);
  if (regex.ok) throw new Error(`${pattern} was accepted`);
  return regex.error;
}

/** Texts over the few characters the patterns speak of, short enough for the backtracking engine. */
function textOf(): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.constantFrom("a", "b", "A", "_", "1", " ", "\n", "-"),
    maxLength: 10,
  });
}

function flagsOf(): fc.Arbitrary<{ ignoreCase: boolean; multiline: boolean; dotAll: boolean }> {
  return fc.record({ ignoreCase: fc.boolean(), multiline: fc.boolean(), dotAll: fc.boolean() });
}

function patternOf(): fc.Arbitrary<string> {
  const atom = fc.constantFrom(
    "a",
    "b",
    "B",
    "1",
    ".",
    "\\w",
    "\\W",
    "\\d",
    "\\s",
    "[ab]",
    "[^a]",
    "[A-Z_]",
    "[^\\w-]",
    "\\x41",
    "-",
    "_",
  );
  const assertion = fc.constantFrom("^", "$", "\\b", "\\B");
  const quantifier = fc.constantFrom(
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "{2}",
    "{1,}",
    "{0,2}",
    "{1,3}?",
    "{0}",
  );
  return fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      atom,
      assertion,
      fc.tuple(atom, quantifier).map(([a, q]) => a + q),
      fc.array(tie("pattern"), { maxLength: 4 }).map((parts) => parts.join("")),
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
      fc.tuple(tie("pattern"), quantifier).map(([a, q]) => `(${a})${q}`),
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `${a}|${b}`),
    ),
  })).pattern;
}
