import { describe, expect, it } from "vitest";
import { peerAddress, urlFault } from "./addresses.ts";

describe("urlFault", () => {
  it("takes https, and http only where it was allowed", () => {
    expect(urlFault("https://control.example:9000/base", false)).toBeUndefined();
    expect(urlFault("http://127.0.0.1:9000", true)).toBeUndefined();
    expect(urlFault("http://127.0.0.1:9000", false)).toMatch("must be https");
  });

  it.each(["", "control:9000", "ftp://control", "https://ann:pw@control", "https://control/?a=1"])(
    "refuses %j",
    (url) => {
      expect(urlFault(url, true)).toBeDefined();
    },
  );
});

describe("peerAddress", () => {
  it("reads names and addresses with a port, and nothing else", () => {
    expect(peerAddress("peers.svc:9000")).toEqual({ name: "peers.svc", port: 9000 });
    expect(peerAddress("[fd00::1]:80")).toEqual({ name: "fd00::1", port: 80 });
    for (const text of ["peers", "peers:", "peers:0", "peers:70000", "fd00::1:80", "http://a:1"]) {
      expect(peerAddress(text)).toBeUndefined();
    }
  });
});
