/** Each statement as its caller, on a server that tells who logged in: nobody is ever anybody else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { casesOf } from "../../../../../test/cases.ts";
import { FakeMysql } from "../../../../../test/fake/mysql.ts";
import { certificateOf } from "../../../../frontends/src/listener/rig/certificate.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf, type Ran } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { asOf } from "./callers.ts";
import { starRocksConfig } from "../config.ts";

const authority = certificateOf("authority");
const certificate = certificateOf("localhost", authority);
const folder = mkdtempSync(join(tmpdir(), "gateway-passthrough-"));
const caFile = join(folder, "ca.pem");
const long = "n".repeat(40);
const passwords = new Map([
  ["alice", "alice-secret"],
  ["bob", "bob-secret"],
  ["gateway", "gateway-secret"],
  [long, "long-secret"],
  [long.slice(0, 32), "long-secret"],
]);
const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
const queryAuth = { type: "passthrough" };

let server: FakeMysql;
let backend: Backend;

beforeAll(async () => {
  writeFileSync(caFile, authority.cert);
  server = await FakeMysql.start({ key: certificate.key, cert: certificate.cert }, passwords);
  backend = await backendOf();
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.mood = "well";
  server.refusal = undefined;
  server.logins.length = 0;
  server.statements.length = 0;
});

describe("a statement under passthrough", () => {
  it("runs as its caller, on a connection that is closed behind it", async () => {
    expect((await ranAs("alice", "select current_user()")).rows).toEqual([["alice"]]);
    expect((await ranAs("bob", "select current_user()")).rows).toEqual([["bob"]]);
    expect(server.logins.map(({ user }) => user.toString())).toEqual(["alice", "bob"]);
    expect(server.logins.every(({ encrypted }) => encrypted)).toBe(true);
    expect(server.statements.every(({ user }) => user !== "gateway")).toBe(true);
  });

  it("stands where its session stands from its login on", async () => {
    await ran(as(backend, "alice"), "select current_user()", { session: { schema: "sales" } });
    expect(server.logins.map(({ database }) => database)).toEqual(["sales"]);
    expect(server.statements.map(({ sql }) => sql)).not.toContain("USE `sales`");
  });

  it("runs no more of them at once than the cluster has connections", async () => {
    await using small = await backendOf({ poolSize: 2 });
    const many = Array.from({ length: 8 }, () => ranAs("alice", "select sleep", small));
    await server.waits(2);
    // A third would have come in by the time that this one has.
    await ranAs("bob", "select current_user()");
    expect(server.logins.map(({ user }) => user.toString())).toEqual(["alice", "alice", "bob"]);
    for (let two = 0; two < many.length; two += 2) {
      await server.waits(2);
      expect(server.waiting).toBe(2);
      server.endAll();
    }
    for (const one of await Promise.all(many)) expect(codeOf(one)).toBe("query.cancelled");
  });

  it("has a transaction of its own, which is nobody else's", async () => {
    const lane = valueOf(await backend.begin(queryAs("alice", "begin"), never));
    expect((await ran(as(lane, "alice"), "select current_user()")).rows).toEqual([["alice"]]);
    expect(codeOf(await ran(as(lane, "bob"), "select 1"))).toBe("auth.noBackendIdentity");
    await lane.commit(never);
    await lane[Symbol.asyncDispose]();
    expect(server.statements.map(({ user, sql }) => `${user}: ${sql}`)).toEqual([
      "alice: SELECT @@sql_mode",
      "alice: BEGIN",
      "alice: select current_user()",
      "alice: COMMIT",
    ]);
  });

  it("lists the tables that its caller may see", async () => {
    const query = queryAs("bob", "show tables");
    const tables = valueOf(await backend.listTables(query, never));
    expect(tables.map(({ name }) => name)).toEqual(["of_bob"]);
  });

  it.each([
    ["with the caller's own login", undefined],
    ["with the caller's own login, beside a service account", auth],
  ])("is ended %s", async (_how, account) => {
    await using one = await backendOf({ auth: account });
    const controller = new AbortController();
    const running = ran(as(one, "alice"), "select sleep", { signal: controller.signal });
    await server.waits();
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    const killers = server.statements.filter(({ sql }) => sql.startsWith("KILL"));
    expect(killers.map(({ user }) => user)).toEqual(["alice"]);
  });
});

describe("a caller without a way in", () => {
  it("is refused in the gateway's own words, whatever the server says", async () => {
    const { last } = await ran(as(backend, "alice", "wrong-secret"), "select 1");
    expect(last).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
    const said = JSON.stringify(last);
    expect(said).toContain("passthrough");
    expect(said).not.toMatch(/alice|wrong-secret|Access denied/);
    expect(server.logins).toHaveLength(1);
  });

  it.each([
    [1698, "28000", "auth.noBackendIdentity"],
    [4151, "HY000", "auth.noBackendIdentity"],
    [3955, "HY000", "auth.noBackendIdentity"],
    [1044, "42000", "query.permission"],
    [1049, "42000", "query.unknownObject"],
    [1040, "08004", "cluster.connectFailed"],
    [1203, "42000", "cluster.connectFailed"],
  ])("with error %i (%s) gets %s", async (errno, sqlState, code) => {
    server.refusal = { errno, sqlState };
    const answer = await ranAs("alice", "select 1");
    expect(codeOf(answer)).toBe(code);
    expect(JSON.stringify(answer.last)).not.toContain("alice-secret");
  });

  it("reaches nobody under another identity than the cluster's mode", async () => {
    const token = new Secret("t");
    const others: readonly BackendIdentity[] = [
      { mode: "serviceAccount" },
      { mode: "impersonate", principal: "alice" },
      { mode: "tokenExchange", principal: "alice", token },
      { mode: "passthrough", principal: "alice", credential: { kind: "bearer", token } },
      identityOf("alice", "alice-secret", "bob"),
    ];
    for (const backendIdentity of others) {
      const query = { ...identifiedOf("select 1"), backendIdentity };
      const { value } = await backend.execute(query, never).next();
      expect(value).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
      expect((await backend.listTables(query, never)).ok).toBe(false);
      expect((await backend.begin(query, never)).ok).toBe(false);
      expect((await backend.describe(query, never)).ok).toBe(false);
    }
    expect(server.logins).toEqual([]);
  });

  it("is not sent to a server whose certificate is another's", async () => {
    await using other = await backendOf({ tls: { caFile, serverName: "elsewhere.example" } });
    expect(codeOf(await ranAs("alice", "select 1", other))).toBe("cluster.connectFailed");
    expect(server.logins).toEqual([]);
  });

  it("sends nothing to a server that says it has no TLS", async () => {
    server.mood = "plain";
    expect(codeOf(await ranAs("alice", "select 1"))).toBe("cluster.connectFailed");
    expect(server.logins).toEqual([]);
    expect(server.bytesInClear).toBe(0);
  });

  it("is cancelled while the server thinks about the login", async () => {
    server.mood = "silent";
    const controller = new AbortController();
    const running = ran(as(backend, "alice"), "select 1", { signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(codeOf(await running)).toBe("query.cancelled");
  });
});

describe("a name", () => {
  it("that the server cuts is refused, because the rest is somebody else", async () => {
    const whole = await ran(as(backend, long, "long-secret"), "select current_user()");
    expect(whole.rows).toEqual([[long]]);
    server.mood = "clipping";
    const cut = await ran(as(backend, long, "long-secret"), "select 'cut'");
    expect(codeOf(cut)).toBe("auth.noBackendIdentity");
    expect(server.statements.map(({ sql }) => sql)).not.toContain("select 'cut'");
  });

  it("of any form reaches the server whole, or no login is tried", async () => {
    let refused = 0;
    const count = casesOf(80, 3_000);
    for (const name of hostileNames(count)) {
      server.logins.length = 0;
      const answer = await ran(as(backend, name, "any-secret"), "select 1");
      expect(codeOf(answer)).toBe("auth.noBackendIdentity");
      const isSound = !name.includes("\0") && name.isWellFormed() && name.length <= 1_024;
      const sent = server.logins.map(({ user }) => user);
      expect(sent).toEqual(isSound ? [Buffer.from(name, "utf8")] : []);
      refused += isSound ? 0 : 1;
    }
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(count);
  }, 600_000);

  it("or password that the protocol would cut makes no account", () => {
    for (const [user, password] of [
      ["", "p"],
      ["a\0b", "p"],
      ["\ud800", "p"],
      ["a".repeat(1_025), "p"],
      ["a", ""],
      ["a", "p\0q"],
      ["a", "\udfff"],
    ] as const) {
      const query = { backendIdentity: identityOf(user, password), group: "g" };
      expect(asOf(query, "passthrough")).toMatchObject({ ok: false });
    }
  });
});

describe("a cluster under passthrough", () => {
  it("without a service account is healthy when the server greets, and knows of no statement", async () => {
    expect(await backend.probe(never)).toBe("healthy");
    expect(valueOf(await backend.running(never))).toMatchObject({ tags: [], complete: false });
    expect((await backend.end("gateway/x/0/y", never)).ok).toBe(false);
    expect(server.logins).toEqual([]);
    server.mood = "full";
    expect(await backend.probe(never)).toBe("unhealthy");
  });

  it("with one is asked as it, and never runs a statement as it", async () => {
    await using one = await backendOf({ auth });
    expect(await one.probe(never)).toBe("healthy");
    expect(valueOf(await one.running(never)).complete).toBe(false);
    expect((await ranAs("alice", "select current_user()", one)).rows).toEqual([["alice"]]);
    const asGateway = server.statements.filter(({ user }) => user === "gateway");
    expect(asGateway.map(({ sql }) => sql)).toEqual([
      "SELECT @@sql_mode",
      "SELECT 1",
      "SHOW FULL PROCESSLIST",
    ]);
  });

  it("must be reached over TLS", () => {
    for (const search of ["", "?require_ssl=false"]) {
      const endpoint = `mysql://db.internal:9030${search}`;
      const parsed = starRocksConfig.safeParse({ engine: "starRocks", endpoint, queryAuth });
      expect(parsed.error?.issues.map(({ path }) => path)).toEqual([["endpoint"]]);
    }
  });
});

async function backendOf(more: object = {}): Promise<Backend> {
  const config = starRocksConfig.parse({
    engine: "starRocks",
    endpoint: `mysql://localhost:${server.port}?require_ssl=true`,
    tls: { caFile },
    queryAuth,
    ...more,
  });
  return valueOf(await open("c", config, hostOf()));
}

function identityOf(user: string, password: string, principal = user): BackendIdentity {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  return { mode: "passthrough", principal, credential };
}

function queryAs(user: string, sql: string, password = `${user}-secret`): Identified {
  return { ...identifiedOf(sql), backendIdentity: identityOf(user, password) };
}

/** The lane for one caller. */
function as(
  lane: Pick<Backend, "execute">,
  user: string,
  password = `${user}-secret`,
): Pick<Backend, "execute"> {
  const backendIdentity = identityOf(user, password);
  return { execute: (query, signal) => lane.execute({ ...query, backendIdentity }, signal) };
}

function ranAs(user: string, sql: string, on: Pick<Backend, "execute"> = backend): Promise<Ran> {
  return ran(as(on, user), sql);
}

/** Quotes, comments, NULs, halves of characters, right-to-left marks, full-width letters, and names of a kilobyte. */
function hostileNames(count: number): readonly string[] {
  const pieces = fc.constantFrom(
    ..."'\"`\\%_@#;-/* \t\n\r".split(""),
    "\0",
    "\ud800",
    "\udc00",
    "\u202e",
    "\uff41",
    "\u{1f600}",
    "e\u0301",
    "alice",
    "'@'%",
    "${x}",
    "gateway",
    "x".repeat(600),
  );
  const name = fc.array(pieces, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
  return fc.sample(name, count);
}
