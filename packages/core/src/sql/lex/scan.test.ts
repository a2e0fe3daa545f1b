import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lexRules } from "../dialect.ts";
import { quotedEnd } from "./scanClosed.ts";

describe("quotedEnd", () => {
  it("finds the end of a long string with escapes where a look at each character finds it", () => {
    const plain = fc.integer({ min: 1, max: 5_000 }).map((length) => "x".repeat(length));
    const signs = fc.constantFrom("'", "''", "\\'", "\\\\", '"', "\\", "\u5b57");
    const quotes = fc.integer({ min: 1, max: 9_000 }).map((count) => "'".repeat(count));
    const texts = fc.array(fc.oneof(plain, signs, quotes), { maxLength: 12 });
    fc.assert(
      fc.property(texts, fc.constantFrom("'", '"'), (pieces, quote) => {
        const sql = `${quote}${pieces.join("")}`;
        expect(quotedEnd(textOf(sql), 1, quote.charCodeAt(0), true)).toBe(slowEnd(sql, quote));
      }),
    );
  });

  it("finds the end of a string of quotes, whatever their number, with escapes and without", () => {
    for (const count of [0, 1, 62, 63, 64, 65, 66, 4_159, 4_160, 4_161, 4_162, 20_000, 20_001]) {
      for (const tail of ["", "x", "x'"]) {
        const sql = `'${"'".repeat(count)}${tail}`;
        const end = slowEnd(sql, "'");
        expect(quotedEnd(textOf(sql), 1, 0x27, true)).toBe(end);
        expect(quotedEnd(textOf(sql), 1, 0x27, false)).toBe(end);
      }
    }
  });

  it("searches a long string instead of walking it", () => {
    let looks = 0;
    const sql = {
      length: 10_000_000,
      charCodeAt: () => ((looks += 1), 0x78),
      slice: () => ({ indexOf: () => -1 }),
    };
    expect(quotedEnd(textOf(sql as unknown as string), 0, 0x27, true)).toBe(-1);
    expect(looks).toBeLessThan(1_000);
  });
});

const textOf = (sql: string) => ({ sql, rules: lexRules.generic, far: undefined });

/** By the rule: a backslash takes the next character along, and a doubled quote does not close. */
function slowEnd(sql: string, quote: string): number {
  const found = new RegExp(
    `^${quote}(?:[^${quote}\\\\]|\\\\[^]|${quote}${quote})*${quote}(?!${quote})`,
  ).exec(sql);
  return found === null ? -1 : found[0].length;
}
