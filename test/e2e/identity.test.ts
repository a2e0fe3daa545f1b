/**
 * Under every mode but `serviceAccount`, no statement of a user reaches the engine as the service
 * account: modes, clients, ways to log in and failures, judged by what the engine was sent.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { queryAuthModes, type QueryAuthMode } from "@gateway/contract/config/queryAuth.ts";
import { newVerifier } from "@gateway/access/client/static/scram.ts";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OidcServer } from "../fake/oidcServer.ts";
import { FakeTokenEndpoint } from "../fake/tokenEndpoint.ts";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { askPg, askTrino, basicOf, clients } from "./clients.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

const service = { type: "basic", username: "svc", password: "service-canary" };
const asService = basicOf("svc", "service-canary");
/** Each protocol's own form of `auth.noBackendIdentity`. */
const refusals: Readonly<Record<string, string>> = {
  pg: "28000",
  mysql2: "1045",
  mariadb: "1045",
  "trino over HTTP": "PERMISSION_DENIED",
};

const { cert: ca, key } = certificateOf("localhost");
const folder = mkdtempSync(join(tmpdir(), "identity-"));
const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
writeFileSync(tls.certFile, ca);
writeFileSync(tls.keyFile, key);

let trino: FakeTrino;
let endpoint: FakeTokenEndpoint;
let nonces = 0;

/** A gateway whose only cluster is the fake Trino under a mode. */
function openGateway(mode: QueryAuthMode, auth: object): Promise<TestGateway> {
  const exchanging = {
    tokenEndpoint: endpoint.url,
    clientId: "gateway",
    clientSecret: "client-canary",
    timeoutMs: 200,
  };
  const queryAuth = { type: mode, ...(mode === "tokenExchange" ? exchanging : {}) };
  const clusters = { lake: { engine: "trino", endpoint: trino.origin, auth: service, queryAuth } };
  const clusterGroups = { default: { members: ["lake"], maxRunningQueries: 4 } };
  return gatewayOf(configOf({ clusters, clusterGroups, auth }, { tls }));
}

/** What Trino was told of who asks, with the statement. That its polls say the same is shown beside the adapter. */
interface Sent {
  readonly authorization: string | undefined;
  readonly user: string | string[] | undefined;
}

/** Asks for a text that was never asked for before; answers what the client got, and as whom Trino was asked. */
async function asked(
  ask: (sql: string) => Promise<string>,
): Promise<{ readonly got: string; readonly sent: readonly Sent[] }> {
  nonces += 1;
  const nonce = `nonce-${nonces}`;
  const sql = `select '${nonce}'`;
  trino.answers.set(sql, () => ({
    columns: [["nonce", "varchar"]],
    pages: [JSON.stringify([[nonce]])].values(),
  }));
  trino.seen.length = 0;
  const got = await ask(sql);
  const sent = trino.seen.filter(({ body }) => body.includes(nonce));
  return {
    got: got === nonce ? "answered" : got,
    sent: sent.map(({ headers }) => ({
      authorization: headers.authorization,
      user: headers["x-trino-user"],
    })),
  };
}

beforeAll(async () => {
  trino = await fakeTrino();
  endpoint = await FakeTokenEndpoint.start();
});
afterAll(async () => {
  await trino[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  endpoint.behaviour = { kind: "issues", expiresIn: 300 };
});

describe("a client with a token", () => {
  let provider: OidcServer;
  let token: string;
  const gateways = new Map<QueryAuthMode, TestGateway>();

  beforeAll(async () => {
    provider = await OidcServer.start();
    token = await provider.tokenFor("alice");
    const oidc = { issuer: provider.issuer, audience: "gateway" };
    const auth = { provider: "oidc", required: false, oidc };
    for (const mode of queryAuthModes) gateways.set(mode, await openGateway(mode, auth));
  }, 60_000);
  afterAll(async () => {
    for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });
  const gatewayFor = (mode: QueryAuthMode): TestGateway => {
    const gateway = gateways.get(mode);
    if (gateway === undefined) throw new Error(`no gateway for ${mode}`);
    return gateway;
  };
  const expected: Readonly<Record<QueryAuthMode, (sent: Sent) => unknown>> = {
    serviceAccount: ({ authorization }) => authorization === asService,
    passthrough: ({ authorization, user }) =>
      authorization === `Bearer ${token}` && user === "alice",
    impersonate: ({ authorization, user }) => authorization === asService && user === "alice",
    tokenExchange: ({ authorization, user }) =>
      authorization?.startsWith(`Bearer for-${token}-`) === true && user === "alice",
  };
  const cases = queryAuthModes.flatMap((mode) =>
    clients.map(([name, ask]) => [mode, name, ask] as const),
  );

  it.each(cases)("is seen under %s through %s as that mode says", async (mode, _name, ask) => {
    const { got, sent } = await asked((sql) =>
      ask(gatewayFor(mode), { sql, user: "alice", password: token, ca }),
    );
    expect(got).toBe("answered");
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((one) => expected[mode](one) !== true)).toEqual([]);
  });

  it.each(queryAuthModes)("can not say under %s who else it would be", async (mode) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "x-trino-original-user": "root",
      "x-trino-original-roles": "system=ROLE{admin}",
      "x-trino-extra-credential": "authorization=root",
      "x-trino-client-info": "root",
    };
    const { got, sent } = await asked((sql) =>
      askTrino(gatewayFor(mode), { sql, user: "alice", ca, headers }),
    );
    expect(got).toBe("answered");
    expect(sent.filter((one) => expected[mode](one) !== true)).toEqual([]);
    const told = trino.seen.flatMap(({ headers: all }) => Object.entries(all));
    expect(told.filter(([name]) => /original|role|extra-credential/.test(name))).toEqual([]);
  });

  it.each(queryAuthModes.filter((mode) => mode !== "serviceAccount"))(
    "and one without any is refused under %s before the engine hears of it",
    async (mode) => {
      const { got, sent } = await asked((sql) =>
        askTrino(gatewayFor(mode), { sql, user: "alice", ca }),
      );
      expect(got).toBe("PERMISSION_DENIED");
      expect(sent).toEqual([]);
    },
  );

  const failures = [
    ["refuses", { kind: "answers", status: 400, body: '{"error":"invalid_request"}' }],
    ["fails", { kind: "answers", status: 503, body: "" }],
    ["answers nonsense", { kind: "answers", status: 200, body: "<html>" }],
    ["answers N_A", { kind: "issues", more: { token_type: "N_A" } }],
    ["hangs", { kind: "hangs" }],
    ["redirects", { kind: "redirects", to: "http://127.0.0.1:1/" }],
  ] as const;
  const failing = failures.flatMap(([what, behaviour], index) =>
    clients.map(([name, ask]) => [what, name, ask, behaviour, index] as const),
  );
  it.each(failing)("is refused when the exchange %s, through %s", async (...one) => {
    const [, name, ask, behaviour] = one;
    // Another user than those whose tokens are in memory.
    const bob = await provider.tokenFor("bob");
    endpoint.behaviour = behaviour;
    const { got, sent } = await asked((sql) =>
      ask(gatewayFor("tokenExchange"), { sql, user: "bob", password: bob, ca }),
    );
    expect(got).toBe(refusals[name]);
    expect(sent).toEqual([]);
  });
});

describe("a client with a password", () => {
  const gateways = new Map<QueryAuthMode, TestGateway>();
  beforeAll(async () => {
    const alice = { passwordHash: hashSync("alice-secret", 4) };
    const verifier = await newVerifier("carol-secret");
    if (!verifier.ok) throw new Error(verifier.error);
    const carol = { passwordHash: hashSync("carol-secret", 4), scramVerifier: verifier.value };
    const auth = { provider: "static", staticUsers: { users: { alice, carol } } };
    for (const mode of queryAuthModes) gateways.set(mode, await openGateway(mode, auth));
  }, 60_000);
  afterAll(async () => {
    for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
  });
  const expected = {
    serviceAccount: { authorization: asService, user: "svc" },
    passthrough: { authorization: basicOf("alice", "alice-secret"), user: "alice" },
    impersonate: { authorization: asService, user: "alice" },
    tokenExchange: undefined,
  } as const satisfies Record<QueryAuthMode, Sent | undefined>;
  const cases = queryAuthModes.flatMap((mode) =>
    clients.map(([name, ask]) => [mode, name, ask] as const),
  );

  it.each(cases)("is seen under %s through %s as that mode says", async (mode, name, ask) => {
    const gateway = gateways.get(mode);
    if (gateway === undefined) throw new Error(`no gateway for ${mode}`);
    const { got, sent } = await asked((sql) =>
      ask(gateway, { sql, user: "alice", password: "alice-secret", ca }),
    );
    const seen = expected[mode];
    expect(got).toBe(seen === undefined ? refusals[name] : "answered");
    expect(new Set(sent.map((one) => JSON.stringify(one)))).toEqual(
      new Set(seen === undefined ? [] : [JSON.stringify(seen)]),
    );
  });

  it.each(queryAuthModes)(
    "and whose proof left none of it is seen under %s or refused",
    async (mode) => {
      const gateway = gateways.get(mode);
      if (gateway === undefined) throw new Error(`no gateway for ${mode}`);
      // PostgreSQL's clients prove a password by SCRAM where they can.
      const { got, sent } = await asked((sql) =>
        askPg(gateway, { sql, user: "carol", password: "carol-secret", ca }),
      );
      const seen = { serviceAccount: "svc", impersonate: "carol" }[mode as string];
      expect(got).toBe(seen === undefined ? "28000" : "answered");
      expect(sent.map(({ user }) => user)).toEqual(seen === undefined ? [] : [seen]);
    },
  );

  const refusing = (["passthrough", "impersonate"] as const).flatMap((mode) =>
    clients.map(([name, ask]) => [mode, name, ask] as const),
  );
  it.each(refusing)(
    "is told so, once, when Trino refuses it under %s through %s",
    async (...one) => {
      const [mode, name, ask] = one;
      const gateway = gateways.get(mode);
      if (gateway === undefined) throw new Error(`no gateway for ${mode}`);
      trino.fault = ({ body }) =>
        body.includes("nonce-") ? { kind: "status", status: 401 } : undefined;
      const { got, sent } = await asked((sql) =>
        ask(gateway, { sql, user: "alice", password: "alice-secret", ca }),
      );
      trino.fault = () => undefined;
      expect(got).toBe(refusals[name]);
      expect(sent).toEqual([expected[mode]]);
    },
  );
});
