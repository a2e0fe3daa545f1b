import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  headText,
  revisionOfHead,
  snapshotBodySchema,
  snapshotHeadSchema,
  snapshotSchema,
  snapshotSchemaVersion,
  snapshotSchemaVersions,
  type SnapshotHead,
} from "./snapshot.ts";

describe("snapshotSchemaVersions", () => {
  it("holds the version that this build writes", () => {
    expect(snapshotSchemaVersions).toContain(snapshotSchemaVersion);
  });
});

describe("snapshotBodySchema", () => {
  it("leaves documents as they were written, without filling anything in", () => {
    const body = bodyOf();
    expect(snapshotBodySchema.parse(body)).toEqual(body);
  });

  it("refuses a part it does not know", () => {
    expect(snapshotBodySchema.safeParse({ ...bodyOf(), gateway: {} }).success).toBe(false);
    const settings = { ...bodyOf().settings, oidc: {} };
    expect(snapshotBodySchema.safeParse({ ...bodyOf(), settings }).success).toBe(false);
  });

  it("refuses a body that lacks a part", () => {
    const { history: _history, ...rest } = bodyOf();
    expect(snapshotBodySchema.safeParse(rest).success).toBe(false);
  });
});

describe("snapshotSchema", () => {
  it("is the body with its head", () => {
    const snapshot = { ...bodyOf(), head: headOf() };
    expect(snapshotSchema.parse(snapshot)).toEqual(snapshot);
    expect(snapshotSchema.safeParse(bodyOf()).success).toBe(false);
  });
});

describe("snapshotHeadSchema", () => {
  it.each([
    { sequence: 0 },
    { confirmedAt: -1 },
    { revision: "sha256:0" },
    { mac: "G".repeat(64) },
    { more: 1 },
  ])("refuses a head with %j", (change) => {
    expect(snapshotHeadSchema.safeParse({ ...headOf(), ...change }).success).toBe(false);
  });
});

describe("headText", () => {
  it("is another text for every other head", () => {
    const apart = fc.property(heads, heads, (a, b) => {
      const same = (Object.keys(a) as (keyof typeof a)[]).every((key) => a[key] === b[key]);
      expect(headText(a) === headText(b)).toBe(same);
    });
    fc.assert(apart);
  });

  it("has its fields in a fixed order, one per line", () => {
    expect(headText(headOf())).toBe(`1\nsha256:${"a".repeat(64)}\n17\n3\n1700`);
  });
});

describe("revisionOfHead", () => {
  it("answers the position and the hash", () => {
    const hash = `sha256:${"a".repeat(64)}`;
    expect(revisionOfHead(headOf())).toEqual({ epoch: 17, sequence: 3, hash });
  });
});

const heads = fc.record({
  schemaVersion: fc.nat(12),
  revision: fc.constantFrom("a", "b").map((digit) => `sha256:${digit.repeat(64)}`),
  epoch: fc.nat(120),
  sequence: fc.nat(120),
  confirmedAt: fc.nat(120),
});

function headOf(): SnapshotHead {
  return {
    schemaVersion: 1,
    revision: `sha256:${"a".repeat(64)}`,
    epoch: 17,
    sequence: 3,
    confirmedAt: 1_700,
    mac: "0".repeat(64),
  };
}

function bodyOf() {
  return {
    clusters: { duck: { engine: "duckDb", unknown: { to: ["the", "contract"] } } },
    clusterGroups: {},
    routers: [{ type: "header" }],
    scripts: [],
    settings: { auth: { provider: "none" } },
    translation: {},
    history: {},
  };
}
