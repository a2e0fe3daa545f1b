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

  it("has all modes, and sends no user's credential in clear off this machine", () => {
    const endpoint = "http://trino.example:8080";
    const exchange = { tokenEndpoint: "https://login.example/t", clientId: "g", clientSecret: "s" };
    const passthrough = { type: "passthrough" };
    const tokenExchange = { type: "tokenExchange", ...exchange };
    for (const queryAuth of [passthrough, tokenExchange]) {
      const refused = trinoConfig.safeParse({ engine: "trino", endpoint, queryAuth });
      expect(refused.error?.issues.map(({ path }) => path)).toEqual([["queryAuth", "type"]]);
      expect(accepts({ endpoint: "http://127.0.0.1:8080", queryAuth })).toBe(true);
      expect(accepts({ endpoint: "https://trino.example:8443", queryAuth })).toBe(true);
    }
    expect(accepts({ endpoint, queryAuth: { type: "impersonate" } })).toBe(true);
    expect(accepts({ endpoint, queryAuth: { type: "serviceAccount" } })).toBe(true);
  });

  it("has nobody to run a health check as where only users log in", () => {
    const endpoint = "https://trino.example:8443";
    const given = { endpoint, healthCheckQuery: "SELECT 1", queryAuth: { type: "passthrough" } };
    const refused = trinoConfig.safeParse({ engine: "trino", ...given });
    expect(refused.error?.issues.map(({ path }) => path)).toEqual([["healthCheckQuery"]]);
    expect(accepts({ ...given, auth: { type: "bearer", token: "t" } })).toBe(true);
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
