import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { reachableAddress } from "./open.ts";

describe("reachableAddress", () => {
  it("is the first that another machine can reach, and none of the link's own", () => {
    const all = ["127.0.0.1", "169.254.172.2", "fe80::1", "2001:db8::1", "10.0.3.7", "10.0.3.8"];
    expect(reachableAddress(all.map(interfaceOf), false)).toBe("10.0.3.7");
  });

  it("is one of the sixth version only where that is listened on", () => {
    const all = ["169.254.172.2", "2001:db8::1"].map(interfaceOf);
    expect([reachableAddress(all, true), reachableAddress(all, false)]).toEqual([
      "2001:db8::1",
      undefined,
    ]);
  });
});

function interfaceOf(address: string): NetworkInterfaceInfo {
  const common = {
    address,
    mac: "02:00:00:00:00:01",
    internal: address === "127.0.0.1",
    cidr: null,
  };
  return address.includes(":")
    ? { ...common, family: "IPv6", netmask: "ffff:ffff:ffff:ffff::", scopeid: 0 }
    : { ...common, family: "IPv4", netmask: "255.255.255.0" };
}
