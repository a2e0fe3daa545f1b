import { describe, expect, it } from "vitest";
import { forwardedClient, hostAllowed, originAllowed, targetOf, trustedRanges } from "./host.ts";

const config = { externalUrl: "https://sql.example.com:8443/", allowedHosts: ["Gate.internal"] };
const trusted = trustedRanges(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);

describe("targetOf", () => {
  it.each([
    ["/a/b?c=1", "/a/b", "?c=1"],
    ["//evil.example/a", "//evil.example/a", ""],
    ["//[1, 2]/a", "//[1,%202]/a", ""],
    ["//", "//", ""],
    ["http://sql.example.com/a?b", "/a", "?b"],
  ])("%j asks for %j", (target, path, search) => {
    const { pathname, search: found } = targetOf(target) ?? {};
    expect([pathname, found]).toEqual([path, search]);
  });

  it.each(["*", "", "a", "http://[1,2]/"])("%j asks for nothing", (target) => {
    expect(targetOf(target)).toBeUndefined();
  });
});

describe("hostAllowed", () => {
  it.each([
    "localhost:18080",
    "LOCALHOST",
    "127.0.0.1:8080",
    "10.1.2.3",
    "[::1]:8080",
    "sql.example.com",
    "sql.example.com:8443",
    "sql.example.com.",
    "gate.internal:1",
  ])("takes %j", (host) => {
    expect(hostAllowed(host, config)).toBe(true);
  });

  it.each([
    undefined,
    "",
    "evil.example",
    "localhost.evil.example",
    "sql.example.com.evil.example",
    "user@localhost",
    "localhost:port",
    "[localhost]",
    "a b",
    "localhost,evil.example",
  ])("refuses %j", (host) => {
    expect(hostAllowed(host, config)).toBe(false);
  });
});

describe("originAllowed", () => {
  it("takes a request that no page sent, and one of the listener's own pages", () => {
    expect(originAllowed(undefined, "127.0.0.1:1", config)).toBe(true);
    expect(originAllowed("http://127.0.0.1:1", "127.0.0.1:1", config)).toBe(true);
    expect(originAllowed("http://localhost:18080", "localhost:18080", config)).toBe(true);
    expect(originAllowed("https://sql.example.com:8443", "10.0.0.1", config)).toBe(true);
  });

  it.each([
    "http://evil.example",
    "null",
    "file://",
    "http://127.0.0.1:2",
    "http://localhost",
    "x",
  ])("refuses the page %j", (origin) => {
    expect(originAllowed(origin, "127.0.0.1:1", config)).toBe(false);
  });

  it("refuses a page whose name was bent to this machine", () => {
    expect(originAllowed("http://evil.example:1", "evil.example:1", config)).toBe(false);
  });
});

describe("trustedRanges", () => {
  it.each(["10.255.0.1", "192.0.2.7", "::ffff:10.0.0.1", "2001:db8:1::1"])(
    "holds %s",
    (address) => {
      expect(trusted.has(address)).toBe(true);
    },
  );

  it.each(["11.0.0.1", "192.0.2.8", "2001:db9::1", "", "10.0.0.0/8"])(
    "does not hold %j",
    (address) => {
      expect(trusted.has(address)).toBe(false);
    },
  );

  it.each(["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "ten", "", "10.0.0.0/"])(
    "trusts nobody by the entry %j",
    (entry) => {
      expect(trustedRanges([entry]).has("10.0.0.0")).toBe(false);
    },
  );

  it("holds everything by a range of no bits, when someone wrote one", () => {
    expect(trustedRanges(["0.0.0.0/0"]).has("8.8.8.8")).toBe(true);
  });
});

describe("forwardedClient", () => {
  const peer = { address: "10.0.0.1", secure: false };

  it("believes nothing that a peer says who is not trusted", () => {
    const stranger = { address: "8.8.8.8", secure: false };
    const headers = { "x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https" };
    expect(forwardedClient(stranger, headers, trusted)).toEqual(stranger);
  });

  it("takes the last address that no trusted proxy has, not what the client wrote before it", () => {
    const headers = { "x-forwarded-for": "6.6.6.6, 203.0.113.9, 10.2.2.2" };
    expect(forwardedClient(peer, headers, trusted).address).toBe("203.0.113.9");
  });

  it.each([
    ["203.0.113.9:1234", "203.0.113.9"],
    ["[2001:db9::1]:55", "2001:db9::1"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    [["6.6.6.6", "203.0.113.9"], "203.0.113.9"],
    ["unknown", "10.0.0.1"],
    ["203.0.113.9, unknown, 10.3.3.3", "10.3.3.3"],
    [undefined, "10.0.0.1"],
  ])("reads %j", (header, address) => {
    expect(forwardedClient(peer, { "x-forwarded-for": header }, trusted).address).toBe(address);
  });

  it("takes the scheme that the nearest proxy saw", () => {
    const scheme = (header: string) =>
      forwardedClient(peer, { "x-forwarded-proto": header }, trusted).secure;
    expect([scheme("https"), scheme("http"), scheme("https, http")]).toEqual([true, false, false]);
  });
});
