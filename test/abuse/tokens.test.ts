/** Attack 5: tokens that some library somewhere accepted. None is, and no address that a token names is asked. */
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { virtualHost, virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { oidcSchema } from "@gateway/access/client/oidc/config.ts";
import { oidcAuthenticator } from "@gateway/access/client/oidc/oidc.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeOidc } from "../fake/oidc.ts";

type Claims = Readonly<Record<string, unknown>>;

const now = virtualStartUnixMs / 1_000;
let provider: FakeOidc;
let trap: Server;
const trapped: string[] = [];

beforeAll(async () => {
  provider = await FakeOidc.start();
  provider.nowSecs = () => now;
  await provider.addKey("ES256");
  await provider.addKey("PS256");
  // A key for a message code among the published ones, as a careless provider may have it.
  provider.extraKeys.push({ kty: "oct", k: b64("secret"), kid: "shared", alg: "HS256" });
  trap = createServer((request, response) => {
    trapped.push(request.url ?? "");
    response.end(JSON.stringify({ keys: [foreign.jwk] }));
  });
  await new Promise<void>((resolve) => {
    trap.listen(0, "127.0.0.1", resolve);
  });
});
afterAll(async () => {
  trap.close();
  await provider[Symbol.asyncDispose]();
});

describe("a hostile token", () => {
  it("is refused in every form, and leads nowhere", async () => {
    await using tested = testedOf();
    expect(await tested.show(await provider.token({ key: 0 }))).toBe("let in");
    const asked = provider.asked.length;
    const corpus = await corpusOf();
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    const accepted: string[] = [];
    for (const [what, token] of corpus) {
      if ((await tested.show(token)) !== "auth.refused") accepted.push(what);
    }
    expect(accepted).toEqual([]);
    expect(trapped).toEqual([]);
    // Unknown keys may make the provider be asked again, at its own place.
    const places = new Set(provider.asked.slice(asked));
    places.delete("/realm/keys");
    places.delete("/realm/.well-known/openid-configuration");
    expect([...places]).toEqual([]);
  });

  it("is refused in every lenient spelling of a right one, also right after it", async () => {
    await using tested = testedOf();
    const token = await provider.token({ key: 0 });
    expect(await tested.show(token)).toBe("let in");
    const variants = spellingsOf(token);
    expect(variants.length).toBeGreaterThanOrEqual(15);
    const accepted: string[] = [];
    for (const variant of variants) {
      if ((await tested.show(variant)) !== "auth.refused") accepted.push(variant);
    }
    expect(accepted).toEqual([]);
  });
});

/** A key pair that the provider never had. */
const foreign = foreignPair();

function foreignPair() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "foreign", alg: "RS256" };
  return { privateKey, jwk };
}

async function corpusOf(): Promise<readonly (readonly [string, string])[]> {
  const place = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const [rsa] = provider.pairs;
  if (rsa === undefined) throw new Error("no key");
  const pem = createPublicKey({ key: rsa.jwk as never, format: "jwk" })
    .export({ type: "spki", format: "pem" })
    .toString();
  const { keyId: kid } = rsa;
  const own = rsa.privateKey;
  const right = await provider.token({ key: 0 });
  const [head = "", body = "", signature = ""] = right.split(".");
  const corpus: (readonly [string, string])[] = [];
  const add = (what: string, token: string): void => void corpus.push([what, token]);

  for (const alg of ["none", "None", "NONE", "nOnE", "", "null"]) {
    add(`alg ${alg} unsigned`, unsigned({ alg, kid }));
    add(`alg ${alg} signed`, `${b64({ alg, kid })}.${body}.${signature}`);
  }
  const texts: readonly (readonly [string, string])[] = [
    ["pem", pem],
    ["pem without its end", pem.trimEnd()],
    ["jwk", JSON.stringify(rsa.jwk)],
    ["modulus", String(rsa.jwk.n)],
    ["empty", ""],
    ["secret", "secret"],
  ];
  for (const [what, secret] of texts) {
    for (const alg of ["HS256", "HS384", "HS512"]) {
      add(`${alg} by ${what}`, coded({ alg, kid: what === "secret" ? "shared" : kid }, secret));
    }
  }
  const pointing: readonly Claims[] = [
    { jku: `${place}/jku` },
    { x5u: `${place}/x5u` },
    { jwk: foreign.jwk },
    { x5c: [b64("certificate")] },
    { kid: `${place}/key` },
    { kid: "../../../../dev/null" },
    { kid: "/dev/null" },
    { kid: "' union select 'key" },
    { kid: "foreign\0" },
    { kid: "" },
    { kid: "x".repeat(10_000) },
    { kid: 7 },
    { kid: null },
    { kid: ["a"] },
    { kid: { $ne: "" } },
  ];
  for (const header of pointing) {
    const name = JSON.stringify(header).slice(0, 40);
    add(`foreign key, ${name}`, signed({ alg: "RS256", kid, ...header }));
  }
  const rightly: readonly Claims[] = [
    { crit: ["exp"] },
    { crit: [] },
    { crit: "x" },
    { b64: false, crit: ["b64"] },
    { b64: true },
    { zip: "DEF" },
    { enc: "A256GCM" },
    { typ: "logout+jwt" },
    { typ: "dpop+jwt" },
    { typ: "ID" },
    { typ: 7 },
    { typ: ["at+jwt"] },
  ];
  for (const header of rightly) {
    const name = JSON.stringify(header);
    add(`right key, ${name}`, signed({ alg: "RS256", kid, ...header }, own));
  }
  for (const alg of ["RS384", "PS256", "ES256", "EdDSA", "RS1", "RSA-OAEP", "dir"]) {
    add(`right signature as ${alg}`, `${b64({ alg, kid })}.${body}.${signature}`);
  }
  const claims: readonly Claims[] = [
    { iss: undefined },
    { iss: `${provider.issuer}/` },
    { iss: provider.issuer.toUpperCase() },
    { iss: [provider.issuer] },
    { iss: place },
    { aud: "Gateway" },
    { aud: "gateway " },
    { aud: "gateway,other" },
    { aud: ["gateway other"] },
    { aud: { 0: "gateway" } },
    { aud: [] },
    { exp: undefined },
    { exp: null },
    { exp: now - 3_600 },
    { exp: `${now + 60}` },
    { exp: -1 },
    { nbf: now + 3_600 },
    { nbf: "0" },
    { iat: now + 3_600 },
    { nonce: "n" },
    { nonce: null },
    { at_hash: "h" },
    { c_hash: "h" },
    { typ: "ID" },
    { typ: "Refresh" },
    { typ: "Offline" },
    { events: {} },
    { cnf: { jkt: "k" } },
    { sub: ["alice"] },
    { sub: { toString: "alice" } },
    { sub: "alice\n" },
    { sub: "" },
    { sub: "anonymous" },
  ];
  for (const one of claims) {
    add(`claims ${JSON.stringify(one)}`, await provider.token({ key: 0, claims: one }));
  }
  const shapes: readonly (readonly [string, string])[] = [
    ["no signature", `${head}.${body}.`],
    ["two parts", `${head}.${body}`],
    ["four parts", `${right}.${signature}`],
    ["five parts", `${head}.a.b.c.d`],
    ["empty", ""],
    ["dots", ".."],
    ["another body", `${head}.${b64(provider.claims({ sub: "root" }))}.${signature}`],
    ["another head", `${b64({ alg: "RS256", kid, x: 1 })}.${body}.${signature}`],
    ["JSON serialisation", JSON.stringify({ payload: body, protected: head, signature })],
    ["zero signature", `${head}.${body}.${"A".repeat(342)}`],
    ["long", `${head}.${"A".repeat(40_000)}.${signature}`],
    ["ten megabytes", `${head}.${"A".repeat(10_000_000)}.${signature}`],
    ["list as a head", `${b64([])}.${body}.${signature}`],
    ["text as a body", `${head}.${b64('"x"')}.${signature}`],
    ["psychic signature", `${b64({ alg: "ES256", kid: "key-2" })}.${body}.${"A".repeat(86)}`],
  ];
  return [...corpus, ...shapes];
}

function spellingsOf(token: string): readonly string[] {
  const [head = "", body = "", signature = ""] = token.split(".");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  /** The same bytes with other bits behind the last of them. */
  const loose = (part: string): readonly string[] => {
    const rest = part.length % 4;
    if (rest === 0) return [];
    const last = alphabet.indexOf(part.slice(-1));
    const unused = rest === 2 ? 16 : 4;
    return Array.from(
      { length: unused - 1 },
      (_, n) => part.slice(0, -1) + (alphabet[last + n + 1] ?? ""),
    );
  };
  return [
    ...loose(signature).map((one) => `${head}.${body}.${one}`),
    ...loose(body).map((one) => `${head}.${one}.${signature}`),
    ...["=", "==", "\n", " ", "\0", "%3D", "é"].map((end) => token + end),
    ` ${token}`,
    `${head}=.${body}.${signature}`,
    `${head}.${body}=.${signature}`,
    `${head}.${body.slice(0, 8)}\n${body.slice(8)}.${signature}`,
    `${head}.${body}.${signature.replaceAll("-", "+").replaceAll("_", "/")}=`,
    `Bearer ${token}`,
    `${token},${token}`,
  ];
}

function unsigned(header: Claims): string {
  return `${b64(header)}.${b64(provider.claims())}.`;
}

function coded(header: Claims, secret: string): string {
  const text = `${b64(header)}.${b64(provider.claims())}`;
  const hash = String(header["alg"]).replace("HS", "sha");
  return `${text}.${createHmac(hash, secret).update(text).digest("base64url")}`;
}

function signed(header: Claims, key: KeyObject = foreign.privateKey): string {
  const text = `${b64(header)}.${b64(provider.claims())}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

function b64(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString(
    "base64url",
  );
}

function testedOf() {
  const oidc = oidcSchema.parse({ issuer: provider.issuer, audience: "gateway" });
  const authenticator = oidcAuthenticator({ required: true, oidc }, virtualHost(1));
  let client = 0;
  return {
    show: async (text: string): Promise<string> => {
      const token = new Secret(text);
      // Each from an address of its own, so that guessing is not slowed down.
      const at = { frontend: "trinoHttp", address: `198.51.100.${(client += 1)}` };
      const answers = await Promise.all([
        authenticator.authenticate({ kind: "bearer", token, claimedUser: undefined }, at),
        authenticator.authenticate({ kind: "password", user: "alice", password: token }, at),
      ]);
      const codes = new Set(answers.map((one) => (one.ok ? "let in" : one.error.code)));
      return [...codes].join(" and ");
    },
    [Symbol.asyncDispose]: () => authenticator[Symbol.asyncDispose](),
  };
}
