import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { originOf } from "./origin.ts";

describe("originOf", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::FFFF:cb00:7109", "203.0.113.9"],
    ["0:0:0:0:0:ffff:203.0.113.9", "203.0.113.9"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:0DB8:0000::ffff:1:2:3", "2001:db8:0:0"],
    ["2001:db8:0:1::1", "2001:db8:0:1"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["unknown", "unknown"],
    ["", ""],
  ])("takes %s for %s", (address, origin) => {
    expect(originOf(address)).toBe(origin);
  });

  it("is one for all addresses of a customer's network, however they are written", () => {
    const holds = fc.property(fc.ipV6(), fc.nat({ max: 0xffff }), (address, group) => {
      const { hostname } = new URL(`http://[${address}]/`);
      const spelled = hostname.slice(1, -1);
      expect(originOf(spelled)).toBe(originOf(address));
      const other = `2001:db8:${group.toString(16)}:1::${group.toString(16)}`;
      expect(originOf(other)).toBe(`2001:db8:${group.toString(16)}:1`);
    });
    fc.assert(holds);
  });
});
