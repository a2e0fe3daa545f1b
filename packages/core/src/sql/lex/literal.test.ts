import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { openSql } from "./cursor.ts";
import { nextToken } from "./lex.ts";
import { decodeIdentifier, decodeString, longIdentifiers, longStrings } from "./literal.ts";

const units = `a \u00e4 '' "" \`\` \\' \\\\ \\n \\x41 \\101 \\7 \\u0041 \\U00000041 \\%`.split(" ");
const dialects: readonly Dialect[] = ["postgres", "mysql", "clickhouse"];

describe("longStrings", () => {
  it("finds in parts what is found in one go, wherever the parts end", () => {
    const unit = fc.constantFrom(...units);
    const run = fc
      .tuple(unit, fc.constantFrom(1, 2, 1_000, 4_095, 4_096, 5_000))
      .map(([one, count]) => one.repeat(count));
    fc.assert(
      fc.property(
        fc.array(run, { maxLength: 5 }),
        fc.constantFrom("'", "e'", "n'", '"', "`", "x'"),
        fc.constantFrom(...dialects),
        (runs, open, dialect) => {
          const token = open + runs.join("") + open.slice(-1);
          const cursor = openSql(token, dialect);
          fc.pre(
            nextToken(cursor) && cursor.kind !== "unterminated" && cursor.end === token.length,
          );
          expect(longStrings(dialect)(token)).toBe(decodeString(token, dialect));
          const name = longIdentifiers(dialect)(token);
          expect(name).toBe(decodeIdentifier(token, dialect));
        },
      ),
    );
  });

  it("decodes a few thousand characters at a time", () => {
    for (const unit of ["a", "''", "\\n"]) {
      const steps = longStrings("mysql").ahead(`'${unit.repeat(100_000)}'`);
      let count = 0;
      while (steps.next().done !== true) count += 1;
      expect(count).toBeGreaterThanOrEqual(24);
    }
  });
});
