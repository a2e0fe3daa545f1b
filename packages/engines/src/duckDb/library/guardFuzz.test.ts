/** Random texts of quotes, comments and brackets around a refused call: whatever the engine would run, the guard must have seen. */
import type { Backend } from "@gateway/core/port/backend.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOf, hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";

let backend: Backend;
beforeAll(async () => {
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 1 });
  backend = valueOf(await open("fuzzed", config, hostOf()));
});
afterAll(() => backend[Symbol.asyncDispose]());

/** Pieces on which two readers could disagree about where a string or comment ends. */
const piece = fc.constantFrom(
  "'",
  "''",
  '"',
  '""',
  "\\",
  "\\'",
  "e'",
  "E'\\'",
  "x'",
  "n'",
  "$$",
  "$a$",
  "$1$",
  "$é$",
  "$",
  "--",
  "--\r",
  "/*",
  "*/",
  "/*/*",
  "/*!",
  "#",
  "//",
  "`",
  "‘",
  "’",
  "“",
  ";",
  "\n",
  "\r",
  "\t",
  "\v",
  "\f",
  "\u00a0",
  "\u2003",
  "\u200b",
  "\ufeff",
  "\u0085",
  "(",
  ")",
  ",",
  " as ",
  "1",
  "a",
  " select ",
  " from ",
  " || ",
  "::text",
  ".",
  "0b1e'",
  "\u0001",
  "?",
  "é",
  "\u{1f600}",
);

const call = "query('select 424242 as hole')";

describe("guardStatement on texts that two readers could read differently", () => {
  it("never lets a refused function run", async () => {
    let answered = 0;
    const noise = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(""));
    const check = fc.asyncProperty(noise, noise, noise, async (before, between, after) => {
      const sql = `select ${before} 1 as x${between} from ${call}${after}`;
      const found = await ran(backend, sql);
      if (codeOf(found) === undefined) answered += 1;
      expect(found.columns.map(({ name }) => name)).not.toContain("hole");
      expect(found.rows.flat()).not.toContain(424242n);
    });
    await fc.assert(check, { numRuns: 3_000 });
    // Texts in which the call is only quoted are answered, so the check has looked at something.
    expect(answered).toBeGreaterThan(0);
  }, 60_000);

  it("would see the call run if nothing held it back", async () => {
    const sql = "select x.* from (select 424242 as hole) x";
    expect((await ran(backend, sql)).rows).toEqual([[424242n]]);
  });
});
