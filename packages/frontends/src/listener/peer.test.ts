import { createHash, X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { certificateNames, serverEndPoint } from "./peer.ts";
import { certificateOf } from "./rig/certificate.ts";

describe("certificateNames", () => {
  it("takes the common name or the alternative names, as it is told", () => {
    const socket = peerOf(certificateOf("ann").cert);
    expect(certificateNames(socket, "cn")).toEqual(["ann"]);
    expect(certificateNames(socket, "san")).toEqual(["localhost"]);
    expect(certificateNames(socket, "none")).toEqual([]);
  });

  it("takes nothing of a certificate that was not verified", () => {
    const socket = peerOf(certificateOf("ann").cert, false);
    expect(certificateNames(socket, "cn")).toEqual([]);
  });

  it.each([
    ["a line end", "ann\nCN=root"],
    ["a NUL", "ann\0root"],
    ["a backslash", "ann\\root"],
  ])("takes no name with %s, which could be read as another", (_what, name) => {
    expect(certificateNames(peerOf(certificateOf(name).cert), "cn")).toEqual([]);
  });
});

describe("serverEndPoint", () => {
  it("is our certificate under the hash of its signature", () => {
    const { cert } = certificateOf("localhost");
    const { raw } = new X509Certificate(cert);
    const expected = createHash("sha256").update(raw).digest();
    expect(serverEndPoint(peerOf(cert))).toEqual(expected);
  });
});

/** A TLS connection whose both ends show this certificate. */
function peerOf(cert: string, authorized = true): TLSSocket {
  const certificate = new X509Certificate(cert);
  const ends = {
    authorized,
    getPeerX509Certificate: () => certificate,
    getX509Certificate: () => certificate,
  };
  return ends as unknown as TLSSocket;
}
