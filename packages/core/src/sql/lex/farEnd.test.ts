import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { openSql, openSqlInSteps, upperWord, type SqlCursor } from "./cursor.ts";
import { nextToken } from "./lex.ts";

const dialects: readonly Dialect[] = [
  "duckdb",
  "postgres",
  "mysql",
  "trino",
  "clickhouse",
  "generic",
];

describe("a walk in steps", () => {
  it("meets the tokens that a walk in one go meets, whatever its tokens are", () => {
    fc.assert(
      fc.property(textOfLongTokens(), fc.constantFrom(...dialects), (sql, dialect) => {
        const whole = tokensOf(atOnce(sql, dialect));
        expect(tokensOf(openSqlInSteps(sql, dialect)).tokens).toEqual(whole.tokens);
        // What was found in steps is known to the next walk.
        expect(tokensOf(openSql(sql, dialect)).tokens).toEqual(whole.tokens);
      }),
      { numRuns: 60 },
    );
  });

  const units = 1024 * 1024;
  const unitsPerPart = 16 * 1024;

  it.each<readonly [Dialect, string, string, string]>([
    ["postgres", "", "a", ""],
    ["postgres", "", "\u00e4", ""],
    ["postgres", "", "1", ""],
    ["postgres", "0x", "f", ""],
    ["postgres", "1.", "1_1", ""],
    ["postgres", "1e", "1", ""],
    ["postgres", "$", "1", ""],
    ["postgres", "$t$", "$s", "$t$"],
    ["postgres", "$", "t", "$ $"],
    ["postgres", "'", "x''", "'"],
    ["postgres", "e'", "\\'", "'"],
    ["postgres", '"', 'x""', '"'],
    ["postgres", "", "~", ""],
    ["postgres", "", " ", ""],
    ["postgres", "-- ", "c", ""],
    ["postgres", "/*", "c", "*/"],
    ["postgres", "/*", "*", "/"],
    ["mysql", "", "1", ""],
    ["mysql", "1", "a", ""],
    ["mysql", "'", "\\'", "'"],
    ["mysql", "`", "x``", "`"],
    ["mysql", "/*!99999", "c", "*/"],
    ["mysql", "/*", "*", "/"],
    ["mysql", "@", ".a", ""],
    ["mysql", "", "<", ""],
    ["duckdb", "?", "1", ""],
    ["duckdb", "\u00a0", " ", ""],
  ])("looks at a part of a long token of %s at a time: %s%s…%s", (dialect, head, unit, tail) => {
    const sql = head + unit.repeat(units / unit.length) + tail;
    const { pauses } = tokensOf(openSqlInSteps(sql, dialect));
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(units / unitsPerPart) - 1);
    // Known by then.
    expect(tokensOf(openSqlInSteps(sql, dialect)).pauses).toBe(0);
  });

  it("has no parts in a text of many tokens, each of which is short", () => {
    for (const unit of ["a ", "'a''b',", "1+", "/**/", "(", ",", '"a".']) {
      expect(tokensOf(openSqlInSteps(unit.repeat(40_000), "postgres")).pauses).toBe(0);
    }
  });
});

describe("upperWord", () => {
  it("is the beginning alone of a word that is longer than any that is known", () => {
    const wordOf = (sql: string): string => {
      const cursor = openSql(sql, "postgres");
      nextToken(cursor);
      return upperWord(cursor);
    };
    expect(wordOf("a".repeat(256))).toBe("A".repeat(256));
    expect(wordOf("a".repeat(257))).toBe(`${"A".repeat(256)}\u2026`);
  });
});

/** A cursor that scans each token of the text in one go. */
function atOnce(sql: string, dialect: Dialect): SqlCursor {
  return { ...openSql("", dialect), sql };
}

function tokensOf(cursor: SqlCursor): { tokens: readonly unknown[]; pauses: number } {
  const tokens: unknown[] = [];
  let pauses = 0;
  while (nextToken(cursor)) {
    if (cursor.far?.isPaused === true) {
      pauses += 1;
      continue;
    }
    const { kind, start, end, doubt, inVersionComment, escapeContinues } = cursor;
    tokens.push([kind, start, end, doubt, inVersionComment, escapeContinues].join());
  }
  return { tokens, pauses };
}

function textOfLongTokens(): fc.Arbitrary<string> {
  const sign = fc.constantFrom(...signs);
  const unit = fc.constantFrom(...repeated);
  const near = fc.integer({ min: -2, max: 2 });
  const length = fc
    .tuple(fc.constantFrom(64, 256, 16_384, 32_768, 66_000), near)
    .map(([one, other]) => one + other);
  const long = fc
    .tuple(unit, length)
    .map(([one, count]) => one.repeat(Math.ceil(count / one.length)));
  return fc
    .array(fc.oneof(sign, long, long), { minLength: 2, maxLength: 9 })
    .map((pieces) => `${pieces.join("")}\n${"a".repeat(66_000)}`);
}

const blanks = ["\n", " ", "\u00a0", "# "];
const signs = [
  ...`' " \` $$ $t$ /* */ /*! /*!99999 -- e' \\ a 1 0x 1. e @ ? $1 ~ < \u2018 \u2019`.split(" "),
  ...blanks,
];
const repeated = [
  ...`a 1 f_ _ \u00e4 '' x'' \\' "" \`\` $s * /* ~ < .a \\ 1_1`.split(" "),
  " ",
  "\u3000 ",
];
