import type { EgressLookup } from "@gateway/core/port/egress.ts";
import { describe, expect, it } from "vitest";
import { egressBy, egressOf, isNetwork, noEgressLimits } from "./egress.ts";

describe("egressOf", () => {
  it("refuses link-local and metadata addresses when nothing is said", () => {
    const egress = egressOf(noEgressLimits);
    const refused = ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254"];
    expect(refused.filter((address) => !egress.refuses(address))).toEqual([]);
    const open = ["127.0.0.1", "10.1.2.3", "8.8.8.8", "2001:db8::1"];
    expect(open.filter((address) => egress.refuses(address))).toEqual([]);
  });

  it("refuses what is denied, and everything else than what is allowed", () => {
    expect(egressOf({ allow: [], deny: ["10.0.0.0/8"] }).refuses("10.1.2.3")).toBe(true);
    const one = egressOf({ allow: ["10.0.0.0/8", "169.254.1.1"], deny: ["10.9.0.0/16"] });
    expect(one.refuses("10.1.2.3")).toBe(false);
    expect(one.refuses("169.254.1.1")).toBe(false);
    expect(one.refuses("10.9.2.3")).toBe(true);
    expect(one.refuses("192.168.0.1")).toBe(true);
  });

  it("refuses what is no address", () => {
    expect(egressOf(noEgressLimits).refuses("engine.internal")).toBe(true);
  });
});

describe("the look-up of an egress", () => {
  it("leaves refused addresses out, or refuses the whole name for whoever looks it up again", () => {
    const { lookup } = egressBy((address) => address.startsWith("10."), twoAddresses);
    const found: unknown[] = [];
    const take = (error: Error | null, addresses: unknown): void => {
      found.push(error === null ? addresses : "refused");
    };
    lookup?.("engine.internal", { all: true }, take);
    lookup?.("engine.internal", { all: true, whole: true }, take);
    expect(found).toEqual([[{ address: "192.0.2.1", family: 4 }], "refused"]);
  });
});

describe("isNetwork", () => {
  it("knows addresses and networks from other text", () => {
    expect(["10.0.0.1", "10.0.0.0/8", "fe80::/10"].every(isNetwork)).toBe(true);
    expect(["10.0.0.0/33", "example.org", "10.0.0.0/8/8", "10.0.0.0/x", ""].some(isNetwork)).toBe(
      false,
    );
  });
});

const twoAddresses: EgressLookup = (_host, _options, callback) =>
  callback(null, [
    { address: "10.1.2.3", family: 4 },
    { address: "192.0.2.1", family: 4 },
  ]);
