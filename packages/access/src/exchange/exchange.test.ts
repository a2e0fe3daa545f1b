import type { TokenExchangeConfig } from "@gateway/contract/config/queryAuth.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeTokenEndpoint } from "../../../../test/fake/tokenEndpoint.ts";
import { HttpClient } from "../connect/http.ts";
import { tokenExchange } from "./exchange.ts";

let endpoint: FakeTokenEndpoint;
beforeEach(async () => {
  endpoint = await FakeTokenEndpoint.start();
});
afterEach(() => endpoint[Symbol.asyncDispose]());

const never = new AbortController().signal;
const alice: AuthContext = { user: "alice", groups: [], roles: [], method: "oidc", realm: "r" };

function testedOf(config: Partial<TokenExchangeConfig> = {}) {
  const host = virtualHost(1);
  const exchange = tokenExchange(
    "lake",
    {
      type: "tokenExchange",
      tokenEndpoint: endpoint.url,
      clientId: "gateway",
      clientSecret: "client-secret",
      subjectTokenType: "urn:ietf:params:oauth:token-type:access_token",
      clientAuth: "post",
      timeoutMs: 5_000,
      ...config,
    },
    host,
  );
  return {
    host,
    asked: async (token: string, identity: AuthContext = alice, signal = never) => {
      const answer = await exchange.exchange(new Secret(token), identity, signal);
      return answer.ok ? answer.value.reveal() : answer.error.code;
    },
    refused: async (token: string) => {
      const answer = await exchange.exchange(new Secret(token), alice, never);
      return answer.ok ? undefined : JSON.stringify(answer.error);
    },
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

describe("tokenExchange", () => {
  it("asks in the form of RFC 8693, with the client's secret in the body", async () => {
    await using tested = testedOf({ targetAudience: "trino", scope: "query read" });
    expect(await tested.asked("t1")).toBe("for-t1-1");
    expect(endpoint.asked).toEqual([
      {
        authorization: undefined,
        form: {
          grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
          subject_token: "t1",
          subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
          audience: "trino",
          scope: "query read",
          client_id: "gateway",
          client_secret: "client-secret",
        },
      },
    ]);
  });

  it("gives the client's secret in a header when told so, encoded as RFC 6749 says", async () => {
    await using tested = testedOf({
      clientAuth: "basic",
      clientId: "gate way",
      clientSecret: "a:b/c",
    });
    await tested.asked("t1");
    const [{ authorization = "", form } = { form: {} }] = endpoint.asked;
    const shown = Buffer.from(authorization.replace("Basic ", ""), "base64").toString();
    expect(shown).toBe("gate+way:a%3Ab%2Fc");
    expect(form).not.toHaveProperty("client_secret");
  });

  it("answers from memory until shortly before the token expires", async () => {
    await using tested = testedOf();
    expect(await tested.asked("t1")).toBe("for-t1-1");
    await tested.host.advance(269_000);
    expect(await tested.asked("t1")).toBe("for-t1-1");
    await tested.host.advance(2_000);
    expect(await tested.asked("t1")).toBe("for-t1-2");
  });

  it("asks nothing for who has left", async () => {
    await using tested = testedOf();
    const left = AbortSignal.abort(gatewayError("query.cancelled"));
    expect(await tested.asked("t1", alice, left)).toBe("query.cancelled");
    expect(endpoint.asked).toEqual([]);
  });

  it("keeps nothing of which nobody says how long it is good", async () => {
    endpoint.behaviour = { kind: "issues" };
    await using tested = testedOf();
    expect(await tested.asked("t1")).toBe("for-t1-1");
    expect(await tested.asked("t1")).toBe("for-t1-2");
    expect(tested.host.timerCount).toBe(0);
  });

  it("keeps ten thousand tokens, and for one more forgets the one that nobody used for longest", async () => {
    await using tested = testedOf();
    const asked: (string | null | undefined)[] = [];
    const ask = vi.spyOn(HttpClient.prototype, "ask").mockImplementation(async ({ form }) => {
      asked.push(form?.get("subject_token"));
      return ok({ status: 200, json: issued });
    });
    try {
      for (let n = 0; n < 10_000; n += 1) await tested.asked(`t${n}`);
      await tested.asked("t0");
      expect(asked).toHaveLength(10_000);
      for (const token of ["more", "t0", "t2", "t1"]) await tested.asked(token);
      expect(asked.slice(10_000)).toEqual(["more", "t1"]);
    } finally {
      ask.mockRestore();
    }
  }, 20_000);

  it("tells users, providers and tokens apart", async () => {
    await using tested = testedOf();
    const answers = [
      await tested.asked("t1"),
      await tested.asked("t2"),
      await tested.asked("t1", { ...alice, user: "bob" }),
      await tested.asked("t1", { ...alice, realm: "other" }),
      await tested.asked("t1", { ...alice, user: "alic", realm: "er" }),
    ];
    expect(new Set(answers).size).toBe(5);
    expect(await tested.asked("t1")).toBe("for-t1-1");
  });

  it("asks once for a burst of the same", async () => {
    await using tested = testedOf();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => tested.asked("t1", alice, new AbortController().signal)),
    );
    expect(new Set(answers)).toEqual(new Set(["for-t1-1"]));
    expect(endpoint.asked).toHaveLength(1);
  });

  it("ends for who leaves, and goes on for who stays", async () => {
    await using tested = testedOf();
    const controller = new AbortController();
    const leaving = tested.asked("t1", alice, controller.signal);
    const staying = tested.asked("t1");
    controller.abort();
    expect(await leaving).toBe("query.cancelled");
    expect(await staying).toBe("for-t1-1");
  });

  it("gives up after its time limit, and asks anew", async () => {
    endpoint.behaviour = { kind: "hangs" };
    await using tested = testedOf();
    const asking = tested.asked("t1");
    await tested.host.advance(5_000);
    expect(await asking).toBe("auth.noBackendIdentity");
    endpoint.behaviour = { kind: "issues", expiresIn: 300 };
    expect(await tested.asked("t1")).toBe("for-t1-2");
  });

  it("does not follow a redirect", async () => {
    const other = await FakeTokenEndpoint.start();
    endpoint.behaviour = { kind: "redirects", to: other.url };
    await using tested = testedOf();
    expect(await tested.asked("t1")).toBe("auth.noBackendIdentity");
    expect(other.asked).toEqual([]);
    await other[Symbol.asyncDispose]();
  });

  const issued = { access_token: "tok", token_type: "Bearer", expires_in: 60 };
  it.each([
    ["a refusal that repeats the token", 400, { error: "invalid_request t-canary" }],
    ["a failure", 500, { ...issued, error_description: "t-canary" }],
    ["no JSON", 200, "t-canary"],
    ["no token", 200, { ...issued, access_token: undefined }],
    ["an empty token", 200, { ...issued, access_token: "" }],
    ["a token beside an error", 200, { ...issued, error: "access_denied" }],
    ["a list", 200, [issued]],
    ["a token that is no text", 200, { ...issued, access_token: 7 }],
    ["a token with a line break", 200, { ...issued, access_token: "a\r\nx-trino-user: root" }],
    ["token_type N_A", 200, { ...issued, token_type: "N_A" }],
    ["no token_type", 200, { ...issued, token_type: undefined }],
    ["token_type DPoP", 200, { ...issued, token_type: "DPoP" }],
    ["a token that is over", 200, { ...issued, expires_in: 0 }],
    ["a life of nonsense", 200, { ...issued, expires_in: "soon" }],
    ["a list", 200, [issued]],
    ["a token of 70 KB", 200, { ...issued, access_token: "a".repeat(70_000) }],
  ])("refuses %s, and repeats nothing of it", async (_what, status, body) => {
    endpoint.behaviour = {
      kind: "answers",
      status,
      body: typeof body === "string" ? body : JSON.stringify(body),
    };
    await using tested = testedOf();
    const refused = (await tested.refused("t-canary")) ?? "accepted";
    expect(refused).toContain("auth.noBackendIdentity");
    expect(refused).not.toMatch(/canary|client-secret|root/);
  });

  it("refuses another kind of token than was asked for", async () => {
    await using tested = testedOf({ requestedTokenType: "urn:example:kind" });
    expect(await tested.asked("t1")).toBe("auth.noBackendIdentity");
    expect(tested.host.log.lines).toMatchObject([
      { event: "exchange.failed", fields: { cluster: "lake", reason: "nonsense" } },
    ]);
    endpoint.behaviour = { kind: "issues", more: { issued_token_type: "urn:example:kind" } };
    expect(await tested.asked("t1")).toBe("for-t1-2");
  });

  it("keeps no token beyond its life, and looks no further when none is left", async () => {
    await using tested = testedOf();
    await tested.asked("t1");
    await tested.host.advance(61_000);
    expect(tested.host.timerCount).toBe(1);
    await tested.host.advance(600_000);
    expect(tested.host.timerCount).toBe(0);
  });

  it("refuses when nobody listens there", async () => {
    await using tested = testedOf({ tokenEndpoint: "http://127.0.0.1:1/token" });
    expect(await tested.asked("t1")).toBe("auth.noBackendIdentity");
  });
});
