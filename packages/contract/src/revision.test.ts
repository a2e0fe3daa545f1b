import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareRevisions,
  etagOf,
  parseRevision,
  revisionText,
  sameRevision,
  type Revision,
} from "./revision.ts";

describe("compareRevisions", () => {
  it("puts the epoch before the sequence", () => {
    expect(compareRevisions(revisionOf(2, 1), revisionOf(1, 9))).toBeGreaterThan(0);
    expect(compareRevisions(revisionOf(1, 2), revisionOf(1, 10))).toBeLessThan(0);
    expect(compareRevisions(revisionOf(1, 2), revisionOf(1, 2))).toBe(0);
  });

  it("is an order: antisymmetric and transitive", () => {
    const order = fc.property(revisions, revisions, revisions, (a, b, c) => {
      expect(Math.sign(compareRevisions(a, b))).toBe(0 - Math.sign(compareRevisions(b, a)));
      const ordered = compareRevisions(a, b) <= 0 && compareRevisions(b, c) <= 0;
      expect(ordered && compareRevisions(a, c) > 0).toBe(false);
    });
    fc.assert(order);
  });
});

describe("sameRevision", () => {
  it("tells a fork from the same revision", () => {
    expect(sameRevision(revisionOf(1, 2, "a"), revisionOf(1, 2, "a"))).toBe(true);
    expect(sameRevision(revisionOf(1, 2, "a"), revisionOf(1, 2, "b"))).toBe(false);
    expect(sameRevision(revisionOf(1, 2, "a"), revisionOf(1, 3, "a"))).toBe(false);
  });
});

describe("parseRevision", () => {
  it("reads what revisionText and etagOf wrote", () => {
    const roundTrip = fc.property(revisions, (revision) => {
      expect(parseRevision(revisionText(revision))).toEqual(revision);
      expect(parseRevision(etagOf(revision))).toEqual(revision);
    });
    fc.assert(roundTrip);
  });

  it("writes a strong ETag", () => {
    expect(etagOf(revisionOf(17, 3))).toMatch(/^"17\.3\.sha256:0{64}"$/);
  });

  it.each([
    "",
    "1.2",
    `1.2.sha256:${"0".repeat(63)}`,
    `1.2.sha256:${"A".repeat(64)}`,
    `-1.2.sha256:${"0".repeat(64)}`,
    `1.2.sha256:${"0".repeat(64)} `,
    `W/"1.2.sha256:${"0".repeat(64)}"`,
    `9999999999999999.2.sha256:${"0".repeat(64)}`,
  ])("does not take %j for a revision", (text) => {
    expect(parseRevision(text)).toBeUndefined();
  });
});

const revisions: fc.Arbitrary<Revision> = fc.record({
  epoch: fc.oneof(fc.nat(3), fc.nat({ max: 999_999_999_999_999 })),
  sequence: fc.oneof(fc.nat(3), fc.nat({ max: 999_999_999_999_999 })),
  hash: fc.constantFrom("a", "b").map(hashOf),
});

function revisionOf(epoch: number, sequence: number, digit = "0"): Revision {
  return { epoch, sequence, hash: hashOf(digit) };
}

function hashOf(digit: string): string {
  return `sha256:${digit.repeat(64)}`;
}
