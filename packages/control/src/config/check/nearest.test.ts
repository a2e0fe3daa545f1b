import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

describe("nearest", () => {
  it.each([
    ["prot", "port"],
    ["tsl", "tls"],
    ["maxRowss", "maxRows"],
    ["maxrows", "maxRows"],
    ["groups", "clusterGroups"],
    ["maxQueuedQuery", "maxQueuedQueries"],
  ])("takes %s for %s", (word, meant) => {
    expect(nearest(word, ["enabled", "clusterGroups", "maxQueuedQueries", meant, "host"])).toBe(
      meant,
    );
  });

  it("prefers the closest of several", () => {
    expect(nearest("maxRow", ["maxRows", "maxRowsPerPage", "maxNow"])).toBe("maxRows");
  });

  it.each(["x", "qq", "banana", ""])("does not guess what %j stands for", (word) => {
    expect(nearest(word, ["port", "tls", "host"])).toBeUndefined();
  });

  it("answers a known word with itself", () => {
    const itself = fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 64 }), { minLength: 1 }),
      (known) => {
        const [word = ""] = known;
        expect(nearest(word, known)?.toLowerCase()).toBe(word.toLowerCase());
      },
    );
    fc.assert(itself);
  });

  it("spends no time on a word that is too long to be a slip", () => {
    expect(nearest("x".repeat(1_000_000), ["x".repeat(64)])).toBeUndefined();
  });
});
