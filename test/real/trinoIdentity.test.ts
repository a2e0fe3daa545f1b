/** Whom a real Trino with logins and rules sees under each mode; `npm run test:real` says where it is. */
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { tokenExchange } from "@gateway/access/exchange/exchange.ts";
import { queryAuthSchema } from "@gateway/contract/config/queryAuth.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import {
  codeOf,
  hostOf,
  identifiedOf,
  never,
  ran,
  valueOf,
  type Ran,
} from "@gateway/engines/rig/backend.ts";
import { open } from "@gateway/engines/trino/adapter.ts";
import { trinoConfig } from "@gateway/engines/trino/config.ts";
import { textOf } from "@gateway/engines/trino/client/own.ts";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { hostileNames } from "../fake/hostileNames.ts";
import { FakeTokenEndpoint } from "../fake/tokenEndpoint.ts";

const endpoint = process.env["GATEWAY_TEST_TRINO"] ?? "";
const tls = { caFile: process.env["GATEWAY_TEST_TRINO_CA"] ?? "" };
const key = createPrivateKey(readFileSync(process.env["GATEWAY_TEST_TRINO_KEY"] ?? ""));
const exchangeConfig = {
  type: "tokenExchange",
  tokenEndpoint: "https://login.example/token",
  clientId: "gateway",
  clientSecret: "gateway-secret",
} as const;

describe("under serviceAccount", () => {
  it("Trino sees the account, and its list of statements is complete", async () => {
    await using backend = await backendOf({ type: "serviceAccount" });
    expect(await whoIs(backend, { mode: "serviceAccount" })).toBe("gateway");
    expect(await backend.probe(never)).toBe("healthy");
    expect(await backend.running(never)).toMatchObject({ value: { complete: true } });
  });
});

describe("a time limit that the server keeps", () => {
  const endless = "select count(*) from tpch.sf1000.lineitem a, tpch.sf1000.lineitem b";

  it("is Trino's own, ends a statement, and is not raised by the session or the text", async () => {
    await using backend = await backendOf({ type: "serviceAccount" });
    expect(backend.limitsExecution).toBe(true);
    expect(codeOf(await ran(backend, endless, { maxExecutionMs: 1_000 }))).toBe("query.timeout");
    const session = { frontend: "trinoHttp", settings: new Map([["query_max_run_time", "1d"]]) };
    const raised = await ran(backend, endless, { maxExecutionMs: 1_000, session });
    expect(codeOf(raised)).toBe("query.timeout");
    const lowered = { ...session, settings: new Map([["query_max_run_time", "1s"]]) };
    const own = await ran(backend, endless, { maxExecutionMs: 60_000, session: lowered });
    expect(codeOf(own)).toBe("query.timeout");
    const text = `with session query_max_run_time = '1d' ${endless}`;
    expect(codeOf(await ran(backend, text, { maxExecutionMs: 1_000 }))).toBe("query.unsupported");
  });
});

describe("under impersonate", () => {
  const as = (principal: string): BackendIdentity => ({ mode: "impersonate", principal });

  it("Trino sees the user, whom its rules allow, in statements, descriptions, lists and transactions", async () => {
    await using backend = await backendOf({ type: "impersonate" });
    expect(await backend.probe(never)).toBe("healthy");
    expect(await whoIs(backend, as("alice"))).toBe("alice");
    expect(await whoIs(backend, as("bob"))).toBe("bob");
    const described = valueOf(await backend.describe(queryOf("select 1 as n", as("alice")), never));
    expect(described.columns.map(({ name }) => name)).toEqual(["n"]);
    const tables = valueOf(await backend.listTables(queryOf("show tables", as("alice")), never));
    expect(tables.map(({ name }) => name)).toContain("nation");
    await using lane = valueOf(await backend.begin(queryOf("begin", as("alice")), never));
    expect(await whoIs(lane, as("alice"))).toBe("alice");
    valueOf(await lane.commit(never));
    const sql = `select distinct "user" from system.runtime.queries where source = 'gateway/suite'`;
    await using account = await backendOf({ type: "serviceAccount" });
    const seen = await ran(account, sql);
    expect(new Set(seen.rows.flat())).toEqual(new Set(["alice", "bob", "gateway"]));
  });

  it("a user whom its rules do not allow is refused, in words of ours", async () => {
    await using backend = await backendOf({ type: "impersonate" });
    const refused = await ran(laneOf(backend, as("carol")), "select 1");
    expect(refused.last).toMatchObject({ error: { code: "auth.noBackendIdentity" } });
    expect(JSON.stringify(refused.last)).not.toMatch(/carol|cannot/);
    expect(await backend.describe(queryOf("select 1", as("carol")), never)).toMatchObject({
      error: { code: "auth.noBackendIdentity" },
    });
    expect(await backend.begin(queryOf("begin", as("carol")), never)).toMatchObject({
      error: { code: "auth.noBackendIdentity" },
    });
  });

  it("is unhealthy when the account's password is wrong", async () => {
    const auth = { type: "basic", username: "gateway", password: "wrong" };
    await using backend = await backendOf({ type: "impersonate" }, { auth });
    expect(await backend.probe(never)).toBe("unhealthy");
    expect(await whoIs(backend, as("alice"))).toBe("auth.noBackendIdentity");
  });

  it("a user's statement is seen and ended by the account, and by its own client", async () => {
    await using backend = await backendOf({ type: "impersonate" });
    const endless = queryOf(
      "select count(*) from tpch.sf1000.lineitem a, tpch.sf1000.lineitem b",
      as("alice"),
    );
    const stream = backend.execute(endless, never);
    const ends = lastOf(stream);
    const tagged = async () => valueOf(await backend.running(never)).tags;
    await expect.poll(tagged, { timeout: 30_000 }).toHaveLength(1);
    for (const tag of await tagged()) valueOf(await backend.end(tag, never));
    expect(await ends).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    const other = backend.execute(endless, never);
    await other.next();
    await other.return();
    expect(await tagged()).toEqual([]);
  });

  it("300 hostile names are the user that Trino sees, exactly, or are refused", async () => {
    const auth = { type: "basic", username: "names", password: "names-secret" };
    await using backend = await backendOf({ type: "impersonate" }, { auth });
    const found: (readonly [name: string, seen: string])[] = [];
    for (let at = 0; at < hostileNames.length; at += 16) {
      const some = hostileNames.slice(at, at + 16);
      const seen = await Promise.all(some.map((name) => whoIs(backend, as(name))));
      found.push(...some.map((name, index) => [name, seen[index] ?? ""] as const));
    }
    const carried = found.filter(([name, seen]) => seen === name);
    const others = found.filter(([name, seen]) => seen !== name);
    expect(others.filter(([, seen]) => seen !== "auth.noBackendIdentity")).toEqual([]);
    expect(carried.length).toBeGreaterThan(100);
  }, 240_000);
});

describe("under passthrough", () => {
  const password = (user: string, secret: string): BackendIdentity => ({
    mode: "passthrough",
    principal: user,
    credential: { kind: "password", user, password: new Secret(secret) },
  });
  const token = (text: string, principal = "alice"): BackendIdentity => ({
    mode: "passthrough",
    principal,
    credential: { kind: "bearer", token: new Secret(text) },
  });

  it("Trino sees who owns the password, also in letters beyond ASCII", async () => {
    await using backend = await backendOf({ type: "passthrough" }, { auth: undefined });
    expect(await backend.probe(never)).toBe("healthy");
    expect(await whoIs(backend, password("alice", "alice-secret"))).toBe("alice");
    expect(await whoIs(backend, password("j\u00f6rg", "j\u00f6rg-secret"))).toBe("j\u00f6rg");
    expect(await whoIs(backend, password("alice", "bob-secret"))).toBe("auth.noBackendIdentity");
    expect(await whoIs(backend, password("alice", ""))).toBe("auth.noBackendIdentity");
  });

  it("Trino sees whom a token was made for, and nobody by a wrong one", async () => {
    await using backend = await backendOf({ type: "passthrough" }, { auth: undefined });
    const listed = await backend.listTables(queryOf("", token(await tokenOf("alice"))), never);
    expect(valueOf(listed).map(({ name }) => name)).toContain("nation");
    expect(await whoIs(backend, token(await tokenOf("alice")))).toBe("alice");
    const refused = [
      token(await tokenOf("alice", { audience: "gateway" })),
      token(await tokenOf("alice", { expires: "-1m" })),
      // One that is somebody else's: Trino would have to let bob be alice.
      token(await tokenOf("bob")),
      token("none.of.these"),
    ];
    for (const identity of refused) {
      expect(await whoIs(backend, identity)).toBe("auth.noBackendIdentity");
    }
  });
});

describe("under tokenExchange", () => {
  it("the exchanged token is taken, and the client's own is not", async () => {
    await using provider = await FakeTokenEndpoint.start();
    const issued = {
      access_token: await tokenOf("alice"),
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      token_type: "Bearer",
      expires_in: 300,
    };
    provider.behaviour = { kind: "answers", status: 200, body: JSON.stringify(issued) };
    const config = queryAuthSchema(["tokenExchange"]).parse({
      ...exchangeConfig,
      tokenEndpoint: provider.url,
    });
    if (config === undefined) throw new Error("no config");
    await using exchange = tokenExchange("c", config, hostOf());
    const own = new Secret(await tokenOf("alice", { audience: "gateway" }));
    const somebody = { user: "alice", groups: [], roles: [], method: "oidc" } as const;
    const made = valueOf(await exchange.exchange(own, somebody, never));
    await using backend = await backendOf(exchangeConfig, { auth: undefined });
    const as = (text: Secret): BackendIdentity => ({
      mode: "tokenExchange",
      principal: "alice",
      token: text,
    });
    expect(await whoIs(backend, as(made))).toBe("alice");
    expect(await whoIs(backend, as(own))).toBe("auth.noBackendIdentity");
  });
});

/** Whom Trino sees, or the code of its refusal. */
async function whoIs(
  lane: Pick<Backend, "execute">,
  backendIdentity: BackendIdentity,
): Promise<string> {
  const { last, rows }: Ran = await ran(laneOf(lane, backendIdentity), "select current_user");
  return last?.kind === "failed" ? last.error.code : textOf(rows[0]?.[0]);
}

function laneOf(
  lane: Pick<Backend, "execute">,
  backendIdentity: BackendIdentity,
): Pick<Backend, "execute"> {
  return { execute: (query, signal) => lane.execute({ ...query, backendIdentity }, signal) };
}

async function lastOf(stream: ReturnType<Backend["execute"]>) {
  let last;
  for await (const event of stream) last = event;
  return last;
}

function queryOf(sql: string, backendIdentity: BackendIdentity): Identified {
  return { ...identifiedOf(sql), backendIdentity };
}

/** A token as Trino wants it, but for what is said otherwise. */
function tokenOf(user: string, { audience = "trino", expires = "5m" } = {}): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg: "RS256" })
    .setSubject(user)
    .setIssuer("https://issuer.test")
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(key);
}

async function backendOf(queryAuth: object, more: object = {}): Promise<Backend> {
  const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
  const given = { engine: "trino", endpoint, tls, auth, queryAuth, catalog: "tpch", ...more };
  return valueOf(await open("real", trinoConfig.parse(given), hostOf()));
}
