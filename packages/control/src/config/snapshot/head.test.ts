import { createHmac, hkdfSync } from "node:crypto";
import { snapshotHeadSchema, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { headKeyOf, headOf, headPrefix, verifyHead } from "./head.ts";

const key = headKeyOf(new Secret("a".repeat(32)));
const other = headKeyOf(new Secret("b".repeat(32)));

describe("headOf", () => {
  it("is a head of the contract", () => {
    expect(snapshotHeadSchema.parse(head())).toEqual(head());
  });

  it("authenticates as the contract says: HKDF from the fleet secret, HMAC over the other fields", () => {
    const derived = hkdfSync("sha256", "a".repeat(32), "", "gateway snapshot head v1", 32);
    const text = ["1", `sha256:${"0".repeat(64)}`, "17", "3", "1700"].join("\n");
    const mac = createHmac("sha256", Buffer.from(derived)).update(text).digest("hex");
    expect(head().mac).toBe(mac);
  });
});

describe("verifyHead", () => {
  it("accepts what was made under the same secret, and under no other", () => {
    expect(verifyHead(head(), key)).toBe(true);
    expect(verifyHead(head(), other)).toBe(false);
  });

  it.each<Partial<SnapshotHead>>([
    { schemaVersion: 2 },
    { epoch: 18 },
    { sequence: 4 },
    { confirmedAt: 1_701 },
    { revision: `sha256:${"1".repeat(64)}` },
    { mac: "0".repeat(64) },
    { mac: "" },
  ])("refuses a head that was changed to %j", (change) => {
    expect(verifyHead({ ...head(), ...change }, key)).toBe(false);
  });
});

describe("headPrefix", () => {
  it("is completed by a body without its first brace", () => {
    expect(JSON.parse(`${headPrefix(head())}${'{"a":1}'.slice(1)}`)).toEqual({
      head: head(),
      a: 1,
    });
  });
});

function head(): SnapshotHead {
  const revision = { epoch: 17, sequence: 3, hash: `sha256:${"0".repeat(64)}` };
  return headOf({ revision, schemaVersion: 1 }, 1_700, key);
}
