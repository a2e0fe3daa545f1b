import { describe, expect, it } from "vitest";
import { pollOf } from "./poll.ts";

describe("pollOf", () => {
  it("reads Trino's durations and sizes", () => {
    expect(pollOf("maxWait=500ms&targetResultSize=4MB")).toEqual({
      holdMs: 500,
      targetBytes: 4 * 1024 * 1024,
    });
    expect(pollOf("targetResultSize=0.5MB")).toEqual({ targetBytes: 512 * 1024 });
  });

  it("keeps sizes within limits", () => {
    expect(pollOf("targetResultSize=1B").targetBytes).toBe(16 * 1024);
    expect(pollOf("targetResultSize=900GB").targetBytes).toBe(16 * 1024 * 1024);
  });

  it("takes nothing from what it can not read", () => {
    for (const query of [
      "",
      "x",
      "maxWait=",
      "maxWait=soon",
      "targetResultSize=-1MB",
      "targetResultSize=1PB",
      "%zz&&==",
    ]) {
      expect(pollOf(query)).toEqual({});
    }
  });
});
