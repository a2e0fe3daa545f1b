import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeOidc } from "../../../../test/fake/oidc.ts";
import { signOnSchema } from "./config.ts";
import { oidcSignOn } from "./oidcSignOn.ts";

type Claims = Readonly<Record<string, unknown>>;

let signer: FakeOidc;
let issuer: string;
/** What the provider answers, put over what is right. */
let discovery: Claims;
let token: { claims: Claims; status: number; body?: string };
/** The forms that were redeemed, each with its credential. */
let redeemed: { readonly form: URLSearchParams; readonly authorization: string | undefined }[];

const server = createServer((request, response) => {
  void (async () => {
    const form = new URLSearchParams(await text(request));
    if (request.url === "/keys") {
      return response.end(JSON.stringify({ keys: signer.pairs.map(({ jwk }) => jwk) }));
    }
    if (request.url === "/token") {
      redeemed.push({ form, authorization: request.headers.authorization });
      const claims = { iss: issuer, nonce: form.get("code"), groups: ["ops"], ...token.claims };
      const idToken = await signer.token({ claims });
      return response
        .writeHead(token.status)
        .end(token.body ?? JSON.stringify({ id_token: idToken }));
    }
    return response.end(JSON.stringify({ ...documentOf(issuer), ...discovery }));
  })();
});

beforeAll(async () => {
  signer = await FakeOidc.start();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await signer[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  discovery = {};
  token = { claims: {}, status: 200 };
  redeemed = [];
});

describe("oidcSignOn", () => {
  it("sends a browser away with state, nonce and challenge, and takes what it brings back, once it is proved", async () => {
    const { outcome, to, kept } = await signedOn();
    expect(outcome).toEqual({
      ok: true,
      value: { name: "alice", role: "operator", subject: JSON.stringify([issuer, "alice"]) },
    });
    const [state, nonce, verifier] = kept;
    expect(Object.fromEntries(to.searchParams)).toEqual({
      response_type: "code",
      client_id: "gateway",
      redirect_uri: "https://gateway.example/back",
      scope: "openid profile",
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    expect(new Set([state, nonce, verifier]).size).toBe(3);
    expect(Object.fromEntries(redeemed[0]?.form ?? [])).toMatchObject({
      grant_type: "authorization_code",
      code_verifier: verifier,
      redirect_uri: "https://gateway.example/back",
      client_id: "gateway",
    });
    expect(redeemed[0]?.authorization).toBeUndefined();
  });

  it("shows its secret in the header and its name nowhere else (RFC 6749 §2.3.1)", async () => {
    await signedOn({ secret: "a:b c" });
    const credential = Buffer.from("gateway:a%3Ab+c").toString("base64");
    expect(redeemed[0]?.authorization).toBe(`Basic ${credential}`);
    expect(redeemed[0]?.form.has("client_id")).toBe(false);
  });

  it.each<readonly [string, Claims, string]>([
    ["of another issuer", { iss: "http://127.0.0.1:1" }, "refused"],
    ["for another party", { aud: "other" }, "refused"],
    ["of another sign-on", { nonce: "other" }, "refused"],
    ["without a nonce", { nonce: undefined }, "refused"],
    ["whose nonce is empty", { nonce: "" }, "refused"],
    ["that is over", { exp: 1 }, "refused"],
    ["that does not end", { exp: undefined }, "refused"],
    ["without a subject", { sub: undefined }, "refused"],
    ["for several, given to none of them", { aud: ["gateway", "other"] }, "refused"],
    ["for several, given to another", { aud: ["gateway", "other"], azp: "other" }, "refused"],
    ["given to another", { azp: "other" }, "refused"],
    ["whose groups are no groups", { groups: 7 }, "refused"],
    ["of somebody in no group that may", { groups: ["guests"] }, "noRole"],
  ])("lets nobody in by a token %s", async (_, claims, refusal) => {
    token = { claims, status: 200 };
    expect((await signedOn()).outcome).toEqual({ ok: false, error: refusal });
  });

  it("takes a token for several parties that was given to us, and the strongest role of its groups", async () => {
    const groups = ["guests", "ops", "root"];
    token = { claims: { aud: ["gateway", "other"], azp: "gateway", groups }, status: 200 };
    expect((await signedOn()).outcome).toMatchObject({ ok: true, value: { role: "admin" } });
  });

  it("takes an address for a name unless the provider says that nobody looked at it", async () => {
    const more = { usernameClaim: "email" };
    token = { claims: { email: "a@b.example", email_verified: false }, status: 200 };
    expect((await signedOn({ more })).outcome).toEqual({ ok: false, error: "refused" });
    token = { claims: { email: "a@b.example", email_verified: true }, status: 200 };
    expect((await signedOn({ more })).outcome).toMatchObject({ value: { name: "a@b.example" } });
  });

  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ["of another browser", { state: "other" }, "expired"],
    ["without a state", { state: "" }, "expired"],
    ["of another provider (RFC 9207)", { iss: "https://other.example" }, "refused"],
    ["of somebody who would not", { error: "access_denied" }, "cancelled"],
    ["of a provider that would not", { error: "server_error" }, "refused"],
    ["with a code of any length", { code: "x".repeat(4_097) }, "refused"],
  ])("redeems nothing for an answer %s", async (_, answer, refusal) => {
    expect((await signedOn({ answer })).outcome).toEqual({ ok: false, error: refusal });
    expect(redeemed).toEqual([]);
  });

  it("redeems a code of the longest that may be", async () => {
    await signedOn({ answer: { code: "x".repeat(4_096) } });
    expect(redeemed.map(({ form }) => form.get("code")?.length)).toEqual([4_096]);
  });

  it("redeems nothing for an answer without a code, nor one that comes too late or without what was kept", async () => {
    await using tested = testedOf();
    const { kept, state } = await begun(tested);
    const answer = new URLSearchParams({ state, code: "x" });
    expect(await finish(tested, kept, new URLSearchParams({ state }))).toBe("refused");
    for (const broken of ["", "{}", "[]", '["a","b","c","d"]']) {
      expect(await finish(tested, broken, answer)).toBe("expired");
    }
    await tested.host.advance(10 * 60_000 + 1);
    expect(await finish(tested, kept, answer)).toBe("expired");
    expect(redeemed).toEqual([]);
  });

  it.each<readonly [string, number, string | undefined, string]>([
    ["that fails", 503, undefined, "unavailable"],
    ["that refuses the code", 400, undefined, "refused"],
    ["that gives no ID token", 200, "{}", "refused"],
    ["that gives what is no token", 200, '{"id_token":"x.y"}', "refused"],
  ])("lets nobody in by a provider %s", async (_, status, body, refusal) => {
    token = { claims: {}, status, ...(body === undefined ? {} : { body }) };
    expect((await signedOn()).outcome).toEqual({ ok: false, error: refusal });
  });

  it.each<readonly [string, Claims]>([
    ["names another issuer", { issuer: "http://127.0.0.1:1" }],
    ["has no place for the code", { token_endpoint: undefined }],
    ["sends the code in clear to another machine", { token_endpoint: "http://10.0.0.1/token" }],
    ["has its keys in clear on another machine", { jwks_uri: "http://10.0.0.1/keys" }],
  ])("begins nothing with a provider whose document %s", async (_, document) => {
    discovery = document;
    await using tested = testedOf();
    expect(await tested.signOn.begin()).toEqual({ ok: false, error: "unavailable" });
    expect(tested.host.log.lines.map(({ event }) => event)).toEqual(["signOn.unavailable"]);
  });

  it("lets nobody in by a token whose key is not to be had, or that names nobody by a text", async () => {
    discovery = { jwks_uri: `${issuer}/nothing` };
    expect((await signedOn()).outcome).toEqual({ ok: false, error: "unavailable" });
    discovery = {};
    token = { claims: { name: 7 }, status: 200 };
    const byName = { more: { usernameClaim: "name" } };
    expect((await signedOn(byName)).outcome).toEqual({ ok: false, error: "refused" });
    token = { claims: { aud: ["gateway"] }, status: 200 };
    expect((await signedOn()).outcome).toMatchObject({ ok: true });
  });

  it("neither begins nor ends anything while no document of the provider is to be had", async () => {
    await using tested = testedOf();
    const { kept, state } = await begun(tested);
    const answer = new URLSearchParams({ state, code: "x" });
    // Another process of the control plane, whose first question it is.
    discovery = { issuer: "http://127.0.0.1:1" };
    await using other = testedOf();
    expect(await finish(other, kept, answer)).toBe("unavailable");
    expect(redeemed).toEqual([]);
    await using unreachable = testedOf({ more: { issuer: "http://127.0.0.1:1" } });
    expect(await unreachable.signOn.begin()).toEqual({ ok: false, error: "unavailable" });
  });

  it("asks for the document every ten minutes, and goes on with the one it has while there is none", async () => {
    await using tested = testedOf();
    const at = async () => new URL((await begun(tested)).url).pathname;
    expect(await at()).toBe("/authorize");
    discovery = { authorization_endpoint: `${issuer}/moved` };
    await tested.host.advance(10 * 60_000 - 1);
    expect(await at()).toBe("/authorize");
    await tested.host.advance(1);
    expect(await at()).toBe("/moved");
    discovery = { issuer: "http://127.0.0.1:1" };
    await tested.host.advance(10 * 60_000);
    expect(await at()).toBe("/moved");
  });
});

function documentOf(at: string): Claims {
  return {
    issuer: at,
    authorization_endpoint: `${at}/authorize`,
    token_endpoint: `${at}/token`,
    jwks_uri: `${at}/keys`,
  };
}

interface Setting {
  readonly more?: object;
  readonly secret?: string;
}

function testedOf({ more = {}, secret }: Setting = {}) {
  const host = virtualHost(1);
  signer.nowSecs = () => Math.floor(host.clock.unixMs() / 1_000);
  const config = signOnSchema.parse({
    issuer,
    clientId: "gateway",
    publicUrl: "https://gateway.example/",
    roles: { admin: ["root"], operator: ["ops"] },
    ...more,
  });
  const clientSecret = secret === undefined ? undefined : new Secret(secret);
  const signOn = oidcSignOn({ config, clientSecret, callbackPath: "/back" }, host);
  return { host, signOn, [Symbol.asyncDispose]: () => signOn[Symbol.asyncDispose]() };
}

type Tested = ReturnType<typeof testedOf>;

async function begun({ signOn }: Tested) {
  const begin = await signOn.begin();
  if (!begin.ok) throw new Error(begin.error);
  const [state, nonce, verifier] = JSON.parse(begin.value.kept) as readonly string[];
  return { ...begin.value, state: state ?? "", nonce: nonce ?? "", verifier: verifier ?? "" };
}

async function finish({ signOn }: Tested, kept: string, answer: URLSearchParams) {
  const outcome = await signOn.finish(kept, answer);
  return outcome.ok ? "let in" : outcome.error;
}

/** A whole sign-on. The code is the nonce, which the provider puts into its token. */
async function signedOn({
  answer = {},
  ...setting
}: Setting & { readonly answer?: Readonly<Record<string, string>> } = {}) {
  await using tested = testedOf(setting);
  const { url, kept, state, nonce, verifier } = await begun(tested);
  const back = new URLSearchParams({ state, code: nonce, ...answer });
  const outcome = await tested.signOn.finish(kept, back);
  return { outcome, to: new URL(url), kept: [state, nonce, verifier] as const };
}
