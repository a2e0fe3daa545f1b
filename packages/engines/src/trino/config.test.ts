import { describe, expect, it } from "vitest";
import { trinoConfig } from "./config.ts";

const accepts = (more: object): boolean =>
  trinoConfig.safeParse({ engine: "trino", ...more }).success;

describe("trinoConfig", () => {
  it("takes an address without a path, a user or a query", () => {
    expect(accepts({ endpoint: "https://trino.example:8443" })).toBe(true);
    expect(accepts({ endpoint: "http://127.0.0.1:8080/" })).toBe(true);
    for (const endpoint of [
      "trino.example:8443",
      "https://trino.example/path",
      "https://user@trino.example",
      "https://trino.example/?x=1",
      "ftp://trino.example",
    ]) {
      expect(accepts({ endpoint })).toBe(false);
    }
  });

  it("sends no credential in clear off this machine", () => {
    const auth = { type: "basic", username: "a", password: "b" };
    expect(accepts({ endpoint: "http://trino.example:8080", auth })).toBe(false);
    expect(accepts({ endpoint: "http://127.0.0.1:8080", auth })).toBe(true);
    expect(accepts({ endpoint: "https://trino.example:8443", auth })).toBe(true);
  });

  it("has no key pairs, no schema without a catalog, no TLS without https", () => {
    const endpoint = "http://127.0.0.1:8080";
    expect(
      accepts({ endpoint, auth: { type: "keyPair", username: "a", privateKeyPem: "b" } }),
    ).toBe(false);
    expect(accepts({ endpoint, schema: "tiny" })).toBe(false);
    expect(accepts({ endpoint, tls: {} })).toBe(false);
  });
});
