import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { TokenHead } from "../token.ts";
import { keyFor, readKeys } from "./jwks.ts";
import { ProviderKeys } from "./keys.ts";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const publicEc = ec.publicKey.export({ format: "jwk" });
const publicRsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({
  format: "jwk",
});
const weakRsa = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({
  format: "jwk",
});
const head: TokenHead = { algorithm: "ES256", keyId: "k" };

describe("readKeys", () => {
  it("takes keys that say they are for signatures, or say nothing, and no others", () => {
    const countOf = (more: object) => readKeys({ keys: [{ ...publicEc, ...more }] })?.length;
    for (const more of [{}, { use: "sig" }, { key_ops: ["verify"] }, { kid: "k" }]) {
      expect(countOf(more)).toBe(1);
    }
    for (const more of [
      { use: "enc" },
      { use: null },
      { key_ops: ["encrypt"] },
      { kid: 7 },
      { alg: "RS256" },
      ec.privateKey.export({ format: "jwk" }),
    ]) {
      expect(countOf(more)).toBe(0);
    }
  });

  it("binds each key to the algorithms of its family, and to PSS only where it says so", () => {
    const algorithmsOf = (jwk: object) => readKeys({ keys: [jwk] })?.[0]?.algorithms;
    expect(algorithmsOf(publicEc)).toEqual(["ES256"]);
    expect(algorithmsOf(publicRsa)).toEqual(["RS256", "RS384", "RS512"]);
    expect(algorithmsOf({ ...publicRsa, alg: "PS256" })).toEqual(["PS256"]);
    expect(algorithmsOf({ ...publicRsa, alg: "ES256" })).toBeUndefined();
  });
});

describe("what is no set of keys", () => {
  it.each([undefined, null, [], "x", {}, { keys: {} }])("is read as none: %j", (json) => {
    expect(readKeys(json)).toBeUndefined();
  });

  it.each([7, null, "x", [], {}, { kty: "EC", crv: "P-999" }, { kty: "RSA" }, weakRsa])(
    "leaves out what is no usable key: %j",
    (jwk) => {
      expect(readKeys({ keys: [jwk, publicEc] })).toHaveLength(1);
    },
  );

  it("is none beyond two hundred", () => {
    const keys = Array.from({ length: 201 }, () => publicEc);
    expect(readKeys({ keys })).toHaveLength(200);
  });
});

describe("keyFor", () => {
  const keys = readKeys({
    keys: [{ ...publicEc, kid: "a" }, { ...publicEc, kid: "b" }, publicRsa],
  });

  it.each<readonly [TokenHead, string | undefined, boolean]>([
    [{ algorithm: "ES256", keyId: "b" }, "b", true],
    [{ algorithm: "ES256", keyId: "c" }, undefined, false],
    [{ algorithm: "ES256", keyId: undefined }, undefined, false],
    [{ algorithm: "RS256", keyId: undefined }, undefined, true],
    [{ algorithm: "RS256", keyId: "a" }, undefined, false],
  ])("of the head %j is the one that can be meant: %s", (asked, keyId, isThere) => {
    const found = keyFor(keys ?? [], asked);
    expect([found !== undefined, found?.keyId]).toEqual([isThere, keyId]);
  });
});

describe("ProviderKeys", () => {
  it.each([
    ["https://id.example", "https://keys.example/jwks"],
    ["http://id.example", "http://id.example:81/jwks"],
    ["http://id.example", "https://keys.example/jwks"],
  ])("for the issuer %s fetches keys from %s", async (issuer, jwksUri) => {
    const { keys, asked } = opened({ issuer, jwksUri });
    expect(await keys.find(head)).toHaveProperty("keyId", "k");
    expect(asked).toEqual([`${issuer}/.well-known/openid-configuration`, jwksUri]);
  });

  it.each([
    ["http://id.example", "http://keys.example/jwks"],
    ["https://id.example", "http://id.example/jwks"],
    ["http://id.example", "ftp://id.example/jwks"],
    ["https://id.example", "/jwks"],
  ])("for the issuer %s fetches none from %s", async (issuer, jwksUri) => {
    const { keys, asked, host } = opened({ issuer, jwksUri });
    expect(await keys.find(head)).toBe("unavailable");
    expect(asked).toHaveLength(1);
    expect(host.log.lines).toMatchObject([
      {
        event: "auth.keysUnavailable",
        fields: { reason: "discovery names no usable jwks_uri" },
      },
    ]);
  });

  it("fetches known keys again when they are old, and not before", async () => {
    const { keys, asked, host } = opened({ issuer: "https://id.example" });
    await keys.find(head);
    await host.advance(600_000);
    await keys.find(head);
    keys.freshen();
    await host.settle();
    expect(asked).toHaveLength(2);
    await host.advance(1);
    await keys.find(head);
    await host.settle();
    expect(asked).toHaveLength(4);
  });

  it("asks about unknown keys once in 30 seconds, and once a second while it has none at all", async () => {
    const provider = { issuer: "https://id.example", answers: false };
    const { keys, asked, host } = opened(provider);
    const unknown = { ...head, keyId: "other" };
    const askedAfter = async (ms: number) => {
      await host.advance(ms);
      const before = asked.length;
      await keys.find(unknown);
      return asked.length > before;
    };
    expect(await keys.find(unknown)).toBe("unavailable");
    expect(await askedAfter(999)).toBe(false);
    expect(await askedAfter(1)).toBe(true);
    provider.answers = true;
    expect(await askedAfter(1_000)).toBe(true);
    expect(await keys.find(unknown)).toBe("unknown");
    expect(await askedAfter(29_999)).toBe(false);
    expect(await askedAfter(1)).toBe(true);
  });
});

interface Provider {
  readonly issuer: string;
  readonly jwksUri?: string;
  answers?: boolean;
}

function opened(provider: Provider) {
  const { issuer, jwksUri = `${issuer}/jwks` } = provider;
  const host = virtualHost(1);
  const asked: string[] = [];
  const http: ConstructorParameters<typeof ProviderKeys>[0]["http"] = {
    ask: async ({ url }) => {
      asked.push(url);
      if (provider.answers === false) return err("unreachable");
      const json = url.endsWith("/openid-configuration")
        ? { issuer, jwks_uri: jwksUri }
        : { keys: [{ ...publicEc, kid: "k" }] };
      return ok({ status: 200, json });
    },
  };
  const config = { issuer, jwksUri: undefined };
  return {
    keys: new ProviderKeys({ config, http, clock: host.clock, log: host.log }),
    asked,
    host,
  };
}
