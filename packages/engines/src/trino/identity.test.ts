/** As whom Trino is asked: every request of a statement is its user's, and the service account stands in for nobody. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino, type Seen } from "../../../../test/fake/trino.ts";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { trinoConfig } from "./config.ts";

const auth = { type: "basic", username: "svc", password: "svc-secret" } as const;
const service = `Basic ${Buffer.from("svc:svc-secret").toString("base64")}`;
const principal = "alice";

interface Mode {
  readonly identity: BackendIdentity;
  readonly authorization: string;
  readonly user: string;
}
const modes: Readonly<Record<string, Mode>> = {
  serviceAccount: {
    identity: { mode: "serviceAccount" },
    authorization: service,
    user: "svc",
  },
  impersonate: {
    identity: { mode: "impersonate", principal },
    authorization: service,
    user: "alice",
  },
  "passthrough of a password": {
    identity: {
      mode: "passthrough",
      principal,
      credential: { kind: "password", user: "alice", password: new Secret("p\u00e4ss:word") },
    },
    authorization: `Basic ${Buffer.from("alice:p\u00e4ss:word", "latin1").toString("base64")}`,
    user: "alice",
  },
  "passthrough of a token": {
    identity: {
      mode: "passthrough",
      principal,
      credential: { kind: "bearer", token: new Secret("client.own.token") },
    },
    authorization: "Bearer client.own.token",
    user: "alice",
  },
  tokenExchange: {
    identity: { mode: "tokenExchange", principal, token: new Secret("exchanged.token") },
    authorization: "Bearer exchanged.token",
    user: "alice",
  },
};
const users = Object.entries(modes).filter(([name]) => name !== "serviceAccount");

/** What a Trino client may send to be somebody else. */
const hostileSession: Partial<Session> = {
  frontend: "trinoHttp",
  headers: new Map([
    ["x-trino-user", "admin"],
    ["X-Trino-User", "admin"],
    ["x_trino_user", "admin"],
    ["x-trino-original-user", "admin"],
    ["x-trino-extra-credential", "a=b"],
    ["x-trino-role", "system=ROLE{admin}"],
    ["x-trino-transaction-id", "tx-9"],
    ["x-trino-client-capabilities", "SESSION_AUTHORIZATION"],
    ["authorization", "Bearer stolen"],
    ["Authorization", "Bearer stolen"],
    ["x-trino-prepared-statement", "p=select+1"],
    ["connection", "x-trino-user"],
  ]),
};

let fake: FakeTrino;
beforeEach(async () => {
  fake = await fakeTrino();
});
afterEach(() => fake[Symbol.asyncDispose]());

describe("every request of a user's statements", () => {
  for (const [name, mode] of Object.entries(modes)) {
    it(`carries under ${name} its own credential and user, and nobody else's`, async () => {
      await using backend = await backendOf(mode);
      await everyKindOfStatement(backend, mode.identity);
      const kinds = new Set(fake.seen.map(kindOf));
      expect(kinds).toEqual(new Set(["POST", "poll", "DELETE", "segment", "acknowledgement"]));
      for (const { headers } of fake.seen) {
        expect(headers.authorization).toBe(mode.authorization);
        expect(headers["x-trino-user"]).toBe(mode.user);
        for (const forged of ["original-user", "extra-credential", "role"]) {
          expect(headers[`x-trino-${forged}`]).toBeUndefined();
        }
        expect(String(headers["x-trino-client-capabilities"])).not.toContain("AUTHORIZATION");
        expect(JSON.stringify(headers)).not.toMatch(/stolen|admin|tx-9/);
      }
      const own = mode.authorization === service;
      expect(JSON.stringify(fake.seen).includes(service.slice("Basic ".length))).toBe(own);
    });
  }

  it("are the gateway's own only where they are about health, lists and ends", async () => {
    const mode = modes["tokenExchange"] as Mode;
    await using backend = await backendOf(mode);
    expect(await backend.probe(never)).toBe("healthy");
    const stream = backend.execute(queryOf("select * from flood", mode.identity), never);
    await stream.next();
    expect(valueOf(await backend.running(never)).tags).toEqual(["gateway/suite/0/suite"]);
    fake.seen.length = 0;
    await backend.end("gateway/suite/0/suite", never);
    expect(fake.seen.map(({ headers }) => headers.authorization)).toContain(service);
    await stream.return();
  });
});

describe("a user whom the engine refuses", () => {
  for (const [name, mode] of users) {
    it(`under ${name} is refused by mode and group, asked once, with nothing the engine said`, async () => {
      await using backend = await backendOf(mode);
      for (const status of [401, 403]) {
        fake.seen.length = 0;
        fake.fault = () => ({ kind: "status", status });
        expectRefused(await lastOf(backend, queryOf("select 1", mode.identity)), mode);
        expect(fake.seen).toHaveLength(1);
      }
      fake.fault = () => undefined;
      fake.seen.length = 0;
      const message = "Access Denied: User svc cannot impersonate user alice";
      fake.answers.set("select 1", () => ({
        error: { name: "PERMISSION_DENIED", type: "USER_ERROR", message },
      }));
      expectRefused(await lastOf(backend, queryOf("select 1", mode.identity)), mode);
      expect(fake.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
    });

    it(`under ${name} is refused at descriptions, lists and transactions, too`, async () => {
      await using backend = await backendOf(mode);
      fake.fault = () => ({ kind: "status", status: 401 });
      const query = queryOf("select 1", mode.identity);
      for (const answer of [
        await backend.describe(query, never),
        await backend.listTables(query, never),
        await backend.begin(query, never),
      ]) {
        expect(answer).toMatchObject({ ok: false, error: { code: "auth.noBackendIdentity" } });
      }
    });
  }

  it("is told of a table's rights in the engine's words", async () => {
    const mode = modes["impersonate"] as Mode;
    await using backend = await backendOf(mode);
    const message = "Access Denied: Cannot select from table memory.default.t";
    fake.answers.set("select 1", () => ({
      error: { name: "PERMISSION_DENIED", type: "USER_ERROR", message },
    }));
    const last = await lastOf(backend, queryOf("select 1", mode.identity));
    expect(last).toMatchObject({ error: { code: "query.permission", message } });
  });
});

describe("an identity that is not sent", () => {
  /** Its code, and how many requests it came to. */
  const outcomeOf = async (backend: Backend, identity: BackendIdentity) => {
    const last = await lastOf(backend, queryOf("select 1", identity));
    return [last?.kind === "failed" ? last.error.code : last?.kind, fake.seen.length];
  };
  const refused = ["auth.noBackendIdentity", 0];

  it("is one of another mode than the cluster's", async () => {
    for (const [name, mode] of users) {
      await using backend = await backendOf(mode);
      expect(await outcomeOf(backend, { mode: "serviceAccount" })).toEqual(refused);
      await using other = await backendOf(modes["serviceAccount"] as Mode);
      expect([name, ...(await outcomeOf(other, mode.identity))]).toEqual([name, ...refused]);
    }
  });

  it("is one with the service account's name, which nothing would impersonate", async () => {
    const mode = modes["impersonate"] as Mode;
    await using backend = await backendOf(mode, { user: "etl" });
    const named = (name: string): BackendIdentity => ({ mode: "impersonate", principal: name });
    expect(await outcomeOf(backend, named("svc"))).toEqual(refused);
    expect(await outcomeOf(backend, named("etl"))).toEqual(refused);
    await using nameless = await backendOf(mode, { auth: undefined });
    expect(await outcomeOf(nameless, named("gateway"))).toEqual(refused);
  });

  it("is a credential that a header can not carry as it is", async () => {
    const mode = modes["passthrough of a password"] as Mode;
    await using backend = await backendOf(mode);
    const shown = (user: string, password: string): BackendIdentity => ({
      mode: "passthrough",
      principal: "alice",
      credential: { kind: "password", user, password: new Secret(password) },
    });
    expect(await outcomeOf(backend, shown("alice:x", "secret"))).toEqual(refused);
    expect(await outcomeOf(backend, shown("alice", "\u6f22"))).toEqual(refused);
    for (const text of ["", "a b", "a\r\nX-Trino-User: admin", "\u00e4", "a=b"]) {
      const token = new Secret(text);
      const credential = { kind: "bearer", token } as const;
      const own: BackendIdentity = { mode: "passthrough", principal, credential };
      expect(await outcomeOf(backend, own)).toEqual(refused);
      await using exchanging = await backendOf(modes["tokenExchange"] as Mode);
      const exchanged: BackendIdentity = { mode: "tokenExchange", principal, token };
      expect(await outcomeOf(exchanging, exchanged)).toEqual(refused);
    }
  });
});

describe("a cluster whose users log in themselves, without a service account", () => {
  it("is healthy while it is up, and is asked nothing as somebody else", async () => {
    for (const mode of [modes["tokenExchange"] as Mode, modes["passthrough of a token"] as Mode]) {
      fake.seen.length = 0;
      await using backend = await backendOf(mode, { auth: undefined });
      expect(await backend.probe(never)).toBe("healthy");
      expect(await backend.running(never)).toMatchObject({ value: { tags: [], complete: false } });
      expect(await backend.end("gateway/a/b/c", never)).toMatchObject({
        error: { code: "auth.noBackendIdentity" },
      });
      expect(fake.seen.map(({ path }) => path)).toEqual(["/v1/info"]);
      expect(fake.seen[0]?.headers.authorization).toBeUndefined();
      await everyKindOfStatement(backend, mode.identity);
      for (const { path, headers } of fake.seen.slice(1)) {
        expect([path, headers.authorization]).toEqual([path, mode.authorization]);
      }
    }
  });

  it("is unhealthy when it is down", async () => {
    fake.fault = () => ({ kind: "status", status: 503 });
    await using backend = await backendOf(modes["tokenExchange"] as Mode, { auth: undefined });
    expect(await backend.probe(never)).toBe("unhealthy");
  });
});

describe("health under an identity of the user's own", () => {
  it("needs the service account's login under impersonate, and no right to run anything", async () => {
    await using backend = await backendOf(modes["impersonate"] as Mode);
    fake.fault = ({ method }) => (method === "POST" ? { kind: "status", status: 401 } : undefined);
    expect(await backend.probe(never)).toBe("healthy");
    await using refused = await backendOf(modes["impersonate"] as Mode);
    fake.fault = ({ path }) => (path === "/v1/info" ? undefined : { kind: "status", status: 401 });
    expect(await refused.probe(never)).toBe("unhealthy");
  });

  it("never calls a list complete, because others' statements may be hidden from the account", async () => {
    await using backend = await backendOf(modes["impersonate"] as Mode);
    expect(await backend.probe(never)).toBe("healthy");
    expect(await backend.running(never)).toMatchObject({ value: { complete: false } });
  });
});

describe("tables", () => {
  it("are asked for anew for each user, and shared under the service account alone", async () => {
    const asked = (): number => fake.seen.filter(({ body }) => body === "SHOW CATALOGS").length;
    for (const [name, mode] of Object.entries(modes)) {
      fake.seen.length = 0;
      await using backend = await backendOf(mode);
      valueOf(await backend.listTables(queryOf("show tables", mode.identity), never));
      valueOf(await backend.listTables(queryOf("show tables", mode.identity), never));
      expect([name, asked()]).toEqual([name, name === "serviceAccount" ? 1 : 2]);
      expect(await backend.probe(never)).toBe("healthy");
      // Catalogs that one user sees, or the service account, are told to nobody else.
      expect(backend.catalogs).toEqual(name === "serviceAccount" ? ["memory"] : []);
    }
  });
});

describe("a transaction", () => {
  it("goes on and ends with the newest token of the user who began it, and with nobody else's", async () => {
    await using backend = await backendOf(modes["tokenExchange"] as Mode);
    const tokenOf = (token: string, user = "alice"): BackendIdentity => ({
      mode: "tokenExchange",
      principal: user,
      token: new Secret(token),
    });
    await using lane = valueOf(await backend.begin(queryOf("begin", tokenOf("first")), never));
    expect(await lastOf(lane, queryOf("select 1", tokenOf("second")))).toMatchObject({
      kind: "done",
    });
    fake.seen.length = 0;
    expect(await lastOf(lane, queryOf("select 1", tokenOf("other", "bob")))).toMatchObject({
      error: { code: "auth.noBackendIdentity" },
    });
    expect(fake.seen).toEqual([]);
    valueOf(await lane.commit(never));
    for (const { headers } of fake.seen) expect(headers.authorization).toBe("Bearer second");
  });
});

/** Runs, cancels, describes, lists, spools, begins, commits and leaves. */
async function everyKindOfStatement(backend: Backend, identity: BackendIdentity): Promise<void> {
  const segment = { type: "spooled", uri: `${fake.origin}/segment`, ackUri: `${fake.origin}/ack` };
  const spooled = JSON.stringify({ encoding: "json", segments: [{ ...segment, metadata: {} }] });
  fake.answers.set("select spooled", () => ({
    columns: [["i", "bigint"]],
    pages: [spooled][Symbol.iterator](),
  }));
  fake.files.set("/segment", "[[2]]").set("/ack", "");
  const query = (sql: string): Identified => queryOf(sql, identity);
  expect(await lastOf(backend, query("select 1"))).toMatchObject({ kind: "done" });
  expect(await lastOf(backend, query("select spooled"))).toMatchObject({ kind: "done" });
  const one = [{ type: { kind: "boolean" }, value: true }] as const;
  await lastOf(backend, { ...query("select $1"), parameters: one });
  const stream = backend.execute(query("select * from flood"), never);
  await stream.next();
  await stream.return();
  valueOf(await backend.describe(query("select 1"), never));
  await backend.describe(query("select 1 selec from"), never);
  valueOf(await backend.listTables(query("show tables"), never));
  for (const end of ["commit", "rollback", "leave"] as const) {
    const lane = valueOf(await backend.begin(query("begin"), never));
    await lastOf(lane, query("select 1"));
    valueOf(await lane.describe(query("select 1"), never));
    if (end !== "leave") valueOf(await lane[end](never));
    await lane[Symbol.asyncDispose]();
  }
}

function kindOf({ method, path }: Seen): string {
  if (path === "/segment") return "segment";
  if (path === "/ack") return "acknowledgement";
  return method === "GET" && path.startsWith("/v1/statement/") ? "poll" : method;
}

function expectRefused(last: unknown, { identity }: Mode): void {
  expect(last).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
  const text = JSON.stringify(last);
  expect(text).toContain(identity.mode);
  expect(text).toContain("suite");
  expect(text).not.toMatch(/svc|alice|token"|cannot impersonate/);
}

async function lastOf(lane: Pick<Backend, "execute">, query: Identified) {
  let last;
  for await (const event of lane.execute(query, never)) last = event;
  return last;
}

function queryOf(sql: string, backendIdentity: BackendIdentity): Identified {
  return { ...identifiedOf(sql, [], hostileSession), backendIdentity };
}

async function backendOf({ identity }: Mode, more: object = {}): Promise<Backend> {
  const exchange = {
    tokenEndpoint: "https://login.example/token",
    clientId: "gateway",
    clientSecret: "s",
  };
  const queryAuth = {
    type: identity.mode,
    ...(identity.mode === "tokenExchange" ? exchange : {}),
  };
  const given = {
    engine: "trino",
    endpoint: fake.origin,
    auth,
    spooling: true,
    queryAuth,
    ...more,
  };
  return valueOf(await open("identity", trinoConfig.parse(given), hostOf()));
}
