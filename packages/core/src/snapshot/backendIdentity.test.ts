import { queryAuthModes, type QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gatewayError, type GatewayError } from "../error.ts";
import {
  type AuthContext,
  type ClientCredential,
  type BackendIdentity,
  type ForwardableKind,
} from "../query/identity.ts";
import type { TokenExchange } from "../port/tokenExchange.ts";
import { err, ok } from "../result.ts";
import { Secret } from "../secret.ts";
import { backendIdentityOf, type IdentityRule } from "./backendIdentity.ts";
import type { Session } from "../query/query.ts";

const never = new AbortController().signal;
const password: ClientCredential = {
  kind: "password",
  user: "alice",
  password: new Secret("canary-password"),
};
const bearer: ClientCredential = { kind: "bearer", token: new Secret("canary-token") };
const none: ClientCredential = { kind: "none" };
const alice: AuthContext = { user: "alice", groups: [], roles: [], method: "ldap" };

const exchanging: QueryAuth = {
  type: "tokenExchange",
  tokenEndpoint: "https://login.example/token",
  clientId: "gateway",
  clientSecret: "s",
  subjectTokenType: "t",
  clientAuth: "post",
  timeoutMs: 1_000,
};

function exchangeOf(answer: "token" | "refused" | "cancelled"): TokenExchange {
  return {
    exchange: async (subject) => {
      if (answer === "cancelled") return err(gatewayError("query.cancelled"));
      if (answer === "token") return ok(new Secret(`exchanged ${subject.reveal()}`));
      return err(gatewayError("auth.noBackendIdentity", { message: "canary-token of the body" }));
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

interface Case {
  readonly queryAuth: QueryAuth;
  readonly identity?: AuthContext;
  readonly credential: ClientCredential;
  readonly forwards?: readonly ForwardableKind[];
  readonly exchange?: TokenExchange;
}

async function decided({ queryAuth, identity = alice, credential, forwards, exchange }: Case) {
  const session = { identity, credential } as Session;
  const rule: IdentityRule = {
    queryAuth,
    forwards: forwards ?? ["password", "bearer"],
    exchange: exchange ?? exchangeOf("token"),
  };
  return await backendIdentityOf({ session, group: "finance" }, rule, never);
}

describe("backendIdentityOf", () => {
  it("hands nothing of the client to an engine that is asked as the service account", async () => {
    expect(
      await decided({ queryAuth: { type: "serviceAccount" }, credential: password }),
    ).toStrictEqual(ok({ mode: "serviceAccount" }));
  });

  it("passes on the credential the client logged in with, under the name it was shown with", async () => {
    const queryAuth: QueryAuth = { type: "passthrough" };
    const named = { ...password, user: "Alice" };
    expect(await decided({ queryAuth, credential: named })).toEqual(
      ok({ mode: "passthrough", principal: "Alice", credential: named }),
    );
    expect(await decided({ queryAuth, credential: bearer })).toEqual(
      ok({ mode: "passthrough", principal: "alice", credential: bearer }),
    );
  });

  it("asks to act as the user, whatever the login left", async () => {
    for (const credential of [none, password, bearer]) {
      expect(await decided({ queryAuth: { type: "impersonate" }, credential })).toEqual(
        ok({ mode: "impersonate", principal: "alice" }),
      );
    }
  });

  it("exchanges the client's own token", async () => {
    const identity = await decided({ queryAuth: exchanging, credential: bearer });
    expect(identity).toMatchObject(ok({ mode: "tokenExchange", principal: "alice" }));
    const token =
      identity.ok && identity.value.mode === "tokenExchange" ? identity.value.token : undefined;
    expect(token?.reveal()).toBe("exchanged canary-token");
  });

  it("says mode and group when it refuses, and nothing that somebody else said", async () => {
    const refused = await decided({
      queryAuth: exchanging,
      credential: bearer,
      exchange: exchangeOf("refused"),
    });
    expect(refused).toMatchObject({ ok: false, error: { code: "auth.noBackendIdentity" } });
    const text = JSON.stringify(refused);
    expect(text).toContain('cluster group \\"finance\\" runs queries under tokenExchange');
    expect(text).not.toContain("canary");
  });

  it("keeps what a client that left was told", async () => {
    const exchange = exchangeOf("cancelled");
    expect(await decided({ queryAuth: exchanging, credential: bearer, exchange })).toMatchObject({
      error: { code: "query.cancelled" },
    });
  });

  it("never answers the service account, or somebody else, for another mode", async () => {
    const queryAuth = fc.constantFrom(
      ...queryAuthModes.map((type): QueryAuth =>
        type === "tokenExchange" ? exchanging : { type },
      ),
    );
    const identity = fc.record({
      user: fc.constantFrom("alice", "anonymous", "", "root", "O'Brien\n"),
      groups: fc.constant([]),
      roles: fc.constant([]),
      method: fc.constantFrom("none", "anonymous", "static", "oidc", "ldap"),
    }) satisfies fc.Arbitrary<AuthContext>;
    const asked = fc.record({
      queryAuth,
      identity,
      credential: fc.constantFrom(none, password, bearer),
      forwards: fc.constantFrom<readonly ForwardableKind[]>([], ["password"], ["bearer"]),
      exchange: fc.constantFrom(exchangeOf("token"), exchangeOf("refused")),
    });
    await fc.assert(
      fc.asyncProperty(asked, async (one) => {
        const answer = await decided(one);
        return answer.ok ? isAllowed(one, answer.value) : isRefusal(one, answer.error);
      }),
      { numRuns: 2_000 },
    );
  });
});

function isAllowed({ queryAuth, identity = alice, credential }: Case, given: BackendIdentity) {
  if (given.mode !== queryAuth.type) return false;
  if (given.mode === "serviceAccount") return true;
  const names = [identity.user, ...(credential.kind === "password" ? [credential.user] : [])];
  const known = ["static", "oidc", "ldap"].includes(identity.method);
  return known && given.principal !== "" && names.includes(given.principal);
}

function isRefusal({ queryAuth }: Case, error: GatewayError) {
  const says = JSON.stringify(error);
  return (
    queryAuth.type !== "serviceAccount" &&
    error.code === "auth.noBackendIdentity" &&
    !says.includes("canary")
  );
}
