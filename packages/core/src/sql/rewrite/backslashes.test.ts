import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inOneGo } from "../reading/steps.ts";
import { toEscaping, toPlain } from "./backslashes.ts";

const escaping = (sql: string) => inOneGo(toEscaping(sql));
const plain = (sql: string) => inOneGo(toPlain(sql));

describe("a text under NO_BACKSLASH_ESCAPES", () => {
  it.each([
    ["select 'a\\'", "select 'a\\\\'"],
    ["select '\\' or 1=1 -- '", "select '\\\\' or 1=1 -- '"],
    ["select \"\\n\", N'\\t'", "select \"\\\\n\", N'\\\\t'"],
    ["select 'it''s \\%'", "select 'it''s \\\\%'"],
    ["select `a\\`, /* '\\' */ 1 -- '\\'", "select `a\\`, /* '\\' */ 1 -- '\\'"],
    ["select /*!50000 '\\' */ 1", "select /*!50000 '\\\\' */ 1"],
    ["select 'open \\", "select 'open \\\\"],
    ["select 1", "select 1"],
  ])("%s is %s with escapes, and what it was again", (own, written) => {
    expect(escaping(own)).toBe(written);
    expect(plain(written)).toBe(own);
  });

  it("has no form with escapes where a bit or hexadecimal string holds a backslash", () => {
    expect(escaping("select x'\\'")).toBeUndefined();
  });

  it("keeps its strings whatever is written around them", () => {
    const piece = fc.constantFrom(
      "'",
      '"',
      "\\",
      "`",
      "''",
      '""',
      "\\\\",
      "\\'",
      "a",
      " ",
      "x'",
      "n'",
      "--",
      " -- ",
      "\n",
      "#",
      "/*",
      "*/",
      "/*!",
      "/*!50000 ",
      ";",
      "%",
      "_",
      "0",
      "\0",
      "$",
      "@",
      "\u00e9",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const own = pieces.join("");
        const written = escaping(own);
        if (written === undefined) return;
        expect(plain(written)).toBe(own);
      }),
    );
  });
});

describe("a long text", () => {
  it.each([
    ["backslashes alone", "\\"],
    ["a backslash and two quotes", "a\\''"],
    ["LIKE's", "\\%é"],
  ])(
    "with %s is written and read a few thousand characters at a time, as a short one is",
    (_what, unit) => {
      const textOf = (times: number) => `select '${unit.repeat(times)}', N"b\\" -- c`;
      const own = textOf(100_001);
      const there = counted(toEscaping(own));
      // Each step has at most that many characters to write, and some are longer by one.
      expect(there.steps).toBeGreaterThanOrEqual(own.length / 4_097);
      expect(there.found?.length).toBeGreaterThan(own.length);
      const value = unit.split("\\").join("\\\\");
      expect(escaping(textOf(3))).toBe(`select '${value.repeat(3)}', N"b\\\\" -- c`);
      expect(there.found).toBe(`select '${value.repeat(100_001)}', N"b\\\\" -- c`);
      const back = counted(toPlain(there.found ?? ""));
      expect(back.found).toBe(own);
      expect(back.steps).toBeGreaterThanOrEqual(own.length / 4_097);
    },
  );

  it("that is open, or has other strings when it is read anew, is what a short one is", () => {
    const open = `select 'a\\${"b".repeat(100_000)}`;
    expect(escaping(open)).toBe(`select 'a\\\\${"b".repeat(100_000)}`);
    expect(escaping(`select x'${"\\".repeat(100_000)}'`)).toBeUndefined();
  });
});

describe("a text with escapes", () => {
  it.each([
    ["select 'a\\'b', \"a\\\"b\"", "select 'a''b', \"a\"\"b\""],
    ["select '\\n\\0\\Z\\q'", "select '\n\0\u001aq'"],
    ["select 'a\\%b\\_c'", "select 'a\\%b\\_c'"],
    ["select '\\\\', ''", "select '\\', ''"],
  ])("%s is %s without", (own, written) => {
    expect(plain(own)).toBe(written);
  });

  it("ends its strings where they ended", () => {
    const part = fc.constantFrom("\\'", '\\"', "\\\\", "''", "a", "\\%", "\\n", ";", "--", '"');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const written = plain(`select '${parts.join("")}' as b`);
        if (written === undefined) throw new Error("refused");
        // One string, doubled quotes in it, and nothing of it outside.
        expect(written).toMatch(/^select '(?:[^']|'')*' as b$/);
      }),
    );
  });

  it("is the text itself where it has no backslash", () => {
    const sql = "select 'a', \"b\" -- c";
    expect(plain(sql)).toBe(sql);
  });
});

function counted(work: ReturnType<typeof toPlain>) {
  for (let steps = 1; ; steps += 1) {
    const step = work.next();
    if (step.done === true) return { steps, found: step.value };
  }
}
