/** Connections of callers and of places: DuckDB's driver in processes, with a database of its own for each login that opens one. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { recordedMetrics } from "@gateway/core/rig/recorder.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../native/driver.ts";
import { duckDbDriver } from "../../duckDb/library/library.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf, type Ran } from "../../rig/backend.ts";
import { backendOf } from "../adapter.ts";
import { processLimits } from "../client/connections.ts";
import { callerConnectError, callerOf, configAs, type CallerIdentity } from "../identity.ts";
import { adbcConfig } from "../config.ts";
import { databaseOptions } from "../options.ts";
import { profileOf, snowflakeHome, type Profile } from "../profile.ts";
import { quoteIdentifier } from "../sql/quote.ts";
import type { ScopePlan } from "./scopePlan.ts";
import { scopePlanOf } from "./scopePlan.ts";

const pools = "gateway_adbc_scoped_pools";
const evictions = "gateway_adbc_scoped_pool_evictions_total";
const series = { cluster_group: "suite", cluster_name: "scoped" };

let host: Host & { readonly metrics: ReturnType<typeof recordedMetrics> };
let opened: string[];
const backends: Backend[] = [];

beforeEach(() => {
  host = { ...hostOf(), metrics: recordedMetrics() };
  opened = [];
});
afterEach(async () => {
  for (const one of backends.splice(0)) await one[Symbol.asyncDispose]();
});

describe("a cluster that logs in as its callers", () => {
  it("opens connections of their own for each, and finds them again", async () => {
    const backend = clusterOf({ mode: "passthrough" });
    await ran(as(backend, alice), "create table seen as select 'alice' as who");
    const again = await ran(as(backend, alice), "select who from seen");
    expect(again.rows).toEqual([["alice"]]);
    expect(codeOf(await ran(as(backend, bob), "select who from seen"))).toBe("query.unknownObject");
    expect(opened).toEqual(["passthrough alice", "passthrough bob"]);
    expect(host.metrics.value(pools, series)).toBe(2);
  });

  it("counts the scopes of both generations of a cluster together, and takes away what it closes", async () => {
    const before = clusterOf({ mode: "tokenExchange" });
    await ran(as(before, exchanged("alice", "one")), "select 1");
    const after = clusterOf({ mode: "tokenExchange" });
    await ran(as(after, exchanged("alice", "one")), "select 1");
    expect(host.metrics.value(pools, series)).toBe(2);
    await before[Symbol.asyncDispose]();
    expect(host.metrics.value(pools, series)).toBe(1);
    expect(host.metrics.value(evictions, { ...series, reason: "idle" })).toBe(0);
  });

  it("has another scope for another token or password of the same name", async () => {
    const backend = clusterOf({ mode: "tokenExchange" });
    await ran(as(backend, exchanged("alice", "one")), "select 1");
    await ran(as(backend, exchanged("alice", "two")), "select 1");
    expect(host.metrics.value(pools, series)).toBe(2);
  });

  it("lets the one go that was asked for longest ago, and its query run on", async () => {
    const backend = clusterOf({ mode: "passthrough", countMax: 1 });
    const flood = {
      ...identifiedOf("select i from range(1000000000) t(i)"),
      backendIdentity: alice,
    };
    const running = backend.execute(flood, never);
    await running.next();
    await ran(as(backend, bob), "select 1");
    expect(host.metrics.value(evictions, { ...series, reason: "lru" })).toBe(1);
    expect(host.metrics.value(pools, series)).toBe(1);
    expect((await running.next()).value).toMatchObject({ kind: "batch" });
    await running.return();
  });

  it("has two connections for a caller, whatever the cluster has", async () => {
    const backend = clusterOf({ mode: "passthrough", size: 4 });
    const streams = [1, 2, 3].map(() => {
      const flood = identifiedOf("select i from range(1000000000) t(i)");
      return backend.execute({ ...flood, backendIdentity: alice }, never);
    });
    const begun = streams.map((stream) => stream.next());
    await Promise.all(begun.slice(0, 2));
    let third = false;
    void begun[2]?.then(() => (third = true));
    await ran(as(backend, bob), "select 1");
    expect(third).toBe(false);
    await streams[0]?.return();
    expect((await begun[2])?.value).toMatchObject({ kind: "columns" });
    await Promise.all(streams.map((stream) => stream.return()));
    expect(opened).toEqual(["passthrough alice", "passthrough alice", "passthrough bob"]);
  });

  it("remembers nobody who could not be connected", async () => {
    const backend = clusterOf({ mode: "passthrough" });
    const answer = await ran(as(backend, passthrough("eve")), "select 1");
    expect(codeOf(answer)).toBe("cluster.connectFailed");
    expect(host.metrics.value(pools, series)).toBe(0);
  });

  it("answers nobody under an identity of another mode, or as the cluster itself", async () => {
    const backend = clusterOf({ mode: "passthrough" });
    const others: readonly BackendIdentity[] = [
      { mode: "serviceAccount" },
      { mode: "impersonate", principal: "alice" },
      exchanged("alice", "one"),
    ];
    for (const backendIdentity of others) {
      const query = { ...identifiedOf("select 1"), backendIdentity };
      expect((await backend.execute(query, never).next()).value).toMatchObject({
        error: { code: "auth.noBackendIdentity" },
      });
      expect((await backend.begin({ ...query, sql: "begin" }, never)).ok).toBe(false);
      expect((await backend.describe(query, never)).ok).toBe(false);
      expect((await backend.listTables(query, never)).ok).toBe(false);
    }
    expect(opened).toEqual([]);
  });

  it("keeps a transaction to the one who began it", async () => {
    const backend = clusterOf({ mode: "passthrough" });
    const begin = { ...identifiedOf("begin"), backendIdentity: alice };
    const lane = valueOf(await backend.begin(begin, never));
    expect((await ran(as(lane, alice), "select 1")).rows).toEqual([[1n]]);
    expect(codeOf(await ran(as(lane, bob), "select 1"))).toBe("auth.noBackendIdentity");
    await lane[Symbol.asyncDispose]();
  });

  it("lets a caller in by a new connection, which the first statement takes over", async () => {
    const backend = clusterOf({ mode: "passthrough" });
    expect(backend.logins).toMatchObject({ account: "xy1", realm: "xy1@here" });
    const login = { user: "Alice", password: new Secret("Alice-secret") };
    expect(await backend.logins?.logIn(login)).toEqual(ok("alice"));
    expect(opened).toEqual(["passthrough Alice"]);
    await ran(as(backend, passthrough("Alice")), "create table seen as select 1 as i");
    expect(opened).toEqual(["passthrough Alice"]);
    // What the first login opened says nothing of the second one.
    expect(await backend.logins?.logIn(login)).toEqual(ok("alice"));
    expect(opened).toEqual(["passthrough Alice", "passthrough Alice"]);
    const after = await ran(as(backend, passthrough("Alice")), "select i from seen");
    expect(codeOf(after)).toBe("query.unknownObject");
    const other = { user: "Alice", password: new Secret("other") };
    expect(await backend.logins?.logIn(other)).toEqual(ok("alice"));
    expect(opened).toHaveLength(3);
  });

  it("lets nobody in whom the driver was not told of, or could not connect", async () => {
    const backend = clusterOf({ mode: "passthrough" });
    const tried = (user: string, password: string) =>
      backend.logins?.logIn({ user, password: new Secret(password) });
    expect(await tried("eve", "p")).toMatchObject({ error: { code: "auth.unavailable" } });
    expect(await tried("a\0b", "p")).toMatchObject({ error: { code: "auth.refused" } });
    expect(await tried("alice", "")).toMatchObject({ error: { code: "auth.refused" } });
    expect(opened).toEqual([]);
    expect(clusterOf({ mode: "tokenExchange" }).logins).toBeUndefined();
    expect(clusterOf({ mode: "serviceAccount" }).logins).toBeUndefined();
  });

  it("is healthy without an account of its own when its driver can be loaded", async () => {
    const backend = clusterOf({ mode: "passthrough", hasAccount: false });
    expect(await backend.probe(never)).toBe("healthy");
    expect(opened).toEqual([]);
    expect(backend.catalogs).toEqual(["SALES"]);
    expect(valueOf(await backend.running(never)).complete).toBe(false);
    const missing = clusterOf({ mode: "passthrough", hasAccount: false, library: "/nowhere.so" });
    expect(await missing.probe(never)).toBe("unhealthy");
  });
});

describe("a session that went elsewhere", () => {
  it("has connections of its own, as many as the cluster", async () => {
    const backend = clusterOf({ mode: "serviceAccount" });
    const away = { schema: "away" };
    expect((await ranIn(backend, "select current_schema()", {})).rows).toEqual([["main"]]);
    expect((await ranIn(backend, "select current_schema()", away)).rows).toEqual([["away"]]);
    expect((await ranIn(backend, "select current_schema()", { schema: "main" })).rows).toEqual([
      ["main"],
    ]);
    expect(host.metrics.value(pools, series)).toBe(1);
    expect(opened).toEqual(["own", "own"]);
  });

  it("that is not there is told so, and remembered nowhere", async () => {
    const backend = clusterOf({ mode: "serviceAccount" });
    const answer = await ranIn(backend, "select 1", { schema: "nowhere" });
    expect(answer.last?.kind).toBe("failed");
    expect(codeOf(answer)).not.toBe("cluster.connectFailed");
    expect(host.metrics.value(pools, series)).toBe(0);
  });
});

describe("Snowflake's names", () => {
  const { choice } = profileOf("snowflake");
  const home = snowflakeHome({ "adbc.snowflake.sql.db": "db1", "adbc.snowflake.sql.schema": "S1" });
  const gone = (session: Partial<Session>): readonly string[] => {
    const asked = { ...identifiedOf("").session, ...session };
    return choice?.statements(choice.others(asked, home)) ?? [];
  };

  it("are the cluster's own when they say the same", () => {
    expect(gone({})).toEqual([]);
    expect(gone({ catalog: "DB1", schema: "s1" })).toEqual([]);
  });

  it("are said in an order in which each may be chosen", () => {
    const settings = new Map([
      ["role", "analyst"],
      ["warehouse", "Big"],
    ]);
    expect(gone({ settings, schema: "s2" })).toEqual([
      'USE ROLE "ANALYST"',
      'USE WAREHOUSE "Big"',
      'USE SCHEMA "S2"',
    ]);
  });

  it("have the schema said again in another database", () => {
    expect(gone({ catalog: "db2", schema: "s1" })).toEqual([
      'USE DATABASE "DB2"',
      'USE SCHEMA "S1"',
    ]);
  });
});

describe("the plan of a cluster's scopes", () => {
  const dbKwargs = { "adbc.snowflake.sql.account": "a", "adbc.snowflake.sql.db": "sales" };
  const planOf = (more: object): ScopePlan => {
    const config = { engine: "adbc", driver: "snowflake", dbKwargs, ...more };
    return scopePlanOf("c", adbcConfig.parse(config), host);
  };

  it("keeps 500 of them for 900 s, or what the config says", () => {
    expect(planOf({})).toMatchObject({ idleMs: 900_000, countMax: 500, mode: "serviceAccount" });
    const more = { scopedPoolIdleTimeoutSecs: 5, scopedPoolMaxCount: 7 };
    expect(planOf(more)).toMatchObject({ idleMs: 5_000, countMax: 7 });
  });

  it("knows whether the cluster has a login beside those of its callers", () => {
    const queryAuth = { type: "passthrough" };
    const auth = { type: "basic", username: "u", password: "p" };
    expect(planOf({}).hasAccount).toBe(true);
    expect(planOf({ queryAuth }).hasAccount).toBe(false);
    expect(planOf({ queryAuth, auth }).hasAccount).toBe(true);
    expect(planOf({ queryAuth })).toMatchObject({ mode: "passthrough", catalogs: ["SALES"] });
  });
});

describe("a caller's login", () => {
  const own = {
    engine: "adbc",
    driver: "snowflake",
    uri: "http://127.0.0.1:1",
    dbKwargs: { "adbc.snowflake.sql.account": "a" },
  };
  const accounts = [
    { type: "basic", username: "service", password: "service-secret" },
    { type: "bearer", token: "service-secret" },
    { type: "keyPair", username: "service", privateKeyPem: "service-secret" },
  ];

  it.each(accounts)("takes the place of the cluster's own ($type), whole", async (auth) => {
    for (const identity of [alice, exchanged("alice", "alice-token")]) {
      const config = configAs(adbcConfig.parse({ ...own, auth }), identity);
      const made = await databaseOptions("c", profileOf("snowflake"), config, host.egress);
      const options = JSON.stringify(valueOf(made.ok ? made : ok({ options: [], setup: [] })));
      expect(options).not.toMatch(/service|jwt/);
      expect(options).toContain(identity.mode === "passthrough" ? "alice-secret" : "alice-token");
      expect(options.includes("auth_oauth")).toBe(identity.mode === "tokenExchange");
    }
  });

  it.each(["", "a\0b", "\ud800", "x".repeat(65_537)])(
    "that a driver would not take whole is none (case %#)",
    (text) => {
      const group = "g";
      const refused = { ok: false, error: { code: "auth.noBackendIdentity" } };
      for (const [backendIdentity, mode] of [
        [passthrough(text, "p"), "passthrough"],
        [passthrough("u", text), "passthrough"],
        [exchanged("u", text), "tokenExchange"],
      ] as const) {
        expect(callerOf({ backendIdentity, group }, mode)).toMatchObject(refused);
      }
    },
  );

  it.each([
    [390_100, undefined, "auth.noBackendIdentity"],
    [390_303, "08004", "auth.noBackendIdentity"],
    [undefined, "28000", "auth.noBackendIdentity"],
    [undefined, "08001", "cluster.connectFailed"],
    [603, undefined, "cluster.connectFailed"],
    [undefined, undefined, "cluster.connectFailed"],
  ])("refused with %s and %s is %s, in no words of the driver", (vendorCode, sqlState, code) => {
    const failure = { ...failureOf("driver", "secret-in-text"), vendorCode, sqlState };
    const error = callerConnectError(failure, { mode: "passthrough", group: "g" });
    expect(error.code).toBe(code);
    expect(JSON.stringify(error)).not.toContain("secret-in-text");
  });
});

function passthrough(user: string, password = `${user}-secret`): CallerIdentity {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  return { mode: "passthrough", principal: user, credential };
}

function exchanged(principal: string, token: string): CallerIdentity {
  return { mode: "tokenExchange", principal, token: new Secret(token) };
}

const alice = passthrough("alice");
const bob = passthrough("bob");

function as(
  lane: Pick<Backend, "execute">,
  backendIdentity: BackendIdentity,
): Pick<Backend, "execute"> {
  return {
    execute: (query: Identified, signal) => lane.execute({ ...query, backendIdentity }, signal),
  };
}

function ranIn(backend: Backend, sql: string, session: Partial<Session>): Promise<Ran> {
  return ran(backend, sql, { session });
}

interface ClusterOf {
  readonly mode: ScopePlan["mode"];
  readonly countMax?: number;
  readonly size?: number;
  readonly hasAccount?: boolean;
  readonly library?: string;
  readonly perProcess?: number;
}

/** Everybody but `eve` has a database in memory. */
function clusterOf(of: ClusterOf): Backend {
  const { mode, countMax = 500, size = 1, hasAccount = true, library, perProcess = 4 } = of;
  const found = duckDbDriver();
  if (!found.ok) throw new Error(found.error);
  const duckdb = profileOf("duckdb");
  const profile: Profile = {
    ...duckdb,
    isolated: true,
    connection: { cleaning: undefined },
    choice: {
      others: ({ schema }, home) => [schema === home[0] ? undefined : schema],
      statements: ([schema]) => (schema === undefined ? [] : [`USE ${quoteIdentifier(schema)}`]),
    },
  };
  const database = (who: string) => {
    opened.push(who);
    const options = [["path", ":memory:"]] as const;
    return ok({ options, setup: [{ sql: "create schema away" }] });
  };
  const backend = backendOf(
    {
      cluster: "scoped",
      profile,
      library: library === undefined ? found.value : { ...found.value, library },
      size,
      limits: processLimits,
      shared: { key: "scoped", settings: "" },
      options: async () => database("own"),
      scoped: {
        mode,
        account: mode === "passthrough" ? { account: "xy1", realm: "xy1@here" } : undefined,
        hasAccount,
        catalogs: ["SALES"],
        home: ["main"],
        idleMs: 900_000,
        countMax,
        connectionsPerProcess: perProcess,
        optionsAs: async (identity) =>
          identity.principal === "eve"
            ? err("refused")
            : database(`${identity.mode} ${identity.principal}`),
      },
    },
    undefined,
    host,
  );
  backends.push(backend);
  return backend;
}
