import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStatementPath, statementPathOf } from "./path.ts";

describe("parseStatementPath", () => {
  it("reads back every path that statementPathOf writes", () => {
    const path = fc.record({
      phase: fc.constantFrom("queued" as const, "executing" as const, "partialCancel" as const),
      instance: fc.stringMatching(/^\w{1,40}$/),
      sealed: fc.stringMatching(/^[\w-]{1,200}$/),
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
      "/v1/statement/executing/a",
      "/v1/statement/executing/a/",
      "/v1/statement/executing/a/b/1",
      "/v1/statement/running/a/b",
      "/v1/statement/executing/a/b.c",
      "/v1/statement/executing/a/%62",
      "/v1/statement/executing/../b",
      "/v1/statement/executing//b",
      `/v1/statement/executing/a/${"b".repeat(513)}`,
      `/v1/statement/executing/${"a".repeat(201)}/b`,
    ]) {
      expect(parseStatementPath(other)).toBeUndefined();
    }
  });
});
