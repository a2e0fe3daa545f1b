/** The exchange at a real provider of identities. */
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OidcServer } from "../../../../test/fake/oidcServer.ts";
import { tokenExchange } from "./exchange.ts";

const never = new AbortController().signal;
const identity = { user: "alice", groups: [], roles: [], method: "oidc" } as const;

describe("tokenExchange at oidc-provider", () => {
  let provider: OidcServer;
  beforeAll(async () => {
    provider = await OidcServer.start();
  });
  afterAll(() => provider[Symbol.asyncDispose]());

  function testedOf(clientSecret = provider.exchange.clientSecret) {
    const config = {
      ...provider.exchange,
      type: "tokenExchange",
      clientSecret,
      targetAudience: "trino",
      subjectTokenType: "urn:ietf:params:oauth:token-type:access_token",
      clientAuth: "post",
      timeoutMs: 5_000,
    } as const;
    const exchange = tokenExchange("lake", config, virtualHost(1));
    return {
      ask: (subject: string) => exchange.exchange(new Secret(subject), identity, never),
      [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
    };
  }

  it("makes a token of the same user for the engine's audience", async () => {
    await using tested = testedOf();
    const token = await tested.ask(await provider.tokenFor("alice"));
    const claims = token.ok ? decodeJwt(token.value.reveal()) : undefined;
    expect(claims).toMatchObject({ sub: "alice", aud: "trino", iss: provider.issuer });
  });

  it("is refused for a token with a wrong signature, and for a wrong secret of its own", async () => {
    await using tested = testedOf();
    await using stranger = testedOf("wrong-secret");
    const token = await provider.tokenFor("alice");
    const refused = { ok: false, error: { code: "auth.noBackendIdentity" } };
    expect(await tested.ask(`${token.slice(0, -8)}AAAAAAAA`)).toMatchObject(refused);
    expect(await stranger.ask(token)).toMatchObject(refused);
  });

  it("is refused while the provider is down, and goes on when it is back", async () => {
    await using tested = testedOf();
    const token = await provider.tokenFor("alice");
    await provider.stop();
    expect(await tested.ask(token)).toMatchObject({ error: { code: "auth.noBackendIdentity" } });
    await provider.restart();
    expect(await tested.ask(token)).toMatchObject({ ok: true });
  });
});
