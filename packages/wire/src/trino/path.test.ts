import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStatementPath, statementPathOf } from "./path.ts";

describe("parseStatementPath", () => {
  it("reads back every path that statementPathOf writes", () => {
    const word = fc.stringMatching(/^\w{1,40}$/);
    const path = fc.record({
      phase: fc.constantFrom("queued" as const, "executing" as const),
      id: word,
      slug: word,
      token: fc.nat(),
    });
    fc.assert(
      fc.property(path, (wanted) => {
        expect(parseStatementPath(statementPathOf(wanted))).toEqual(wanted);
      }),
    );
  });

  it("refuses everything else", () => {
    for (const other of [
      "/v1/statement",
      "/v1/statement/",
      "/v1/statement/executing/a/b",
      "/v1/statement/executing/a/b/1/2",
      "/v1/statement/executing/a/b/1/",
      "/v1/statement/running/a/b/1",
      "/v1/statement/executing/a/b/-1",
      "/v1/statement/executing/a/b/1.5",
      "/v1/statement/executing/a/b/9999999999999999",
      "/v1/statement/executing/../b/1",
      "/v1/statement/executing//b/1",
      `/v1/statement/executing/${"a".repeat(129)}/b/1`,
    ]) {
      expect(parseStatementPath(other)).toBeUndefined();
    }
  });
});
