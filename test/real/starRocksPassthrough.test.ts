/** Callers who log in to MariaDB, in StarRocks' place, with their own names and passwords, which a directory knows: who the server sees, and what it lets them do. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
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
import { open } from "@gateway/engines/starRocks/adapter.ts";
import { starRocksConfig } from "@gateway/engines/starRocks/config.ts";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";

const port = process.env["GATEWAY_TEST_MARIADB"] ?? "";
const caFile = process.env["GATEWAY_TEST_MARIADB_CA"] ?? "";
const ldapPort = process.env["GATEWAY_TEST_SLAPD"] ?? "";
const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
const whoAmI = "select current_user()";
const endless =
  "select count(*) from seq_1_to_1000000000 a join seq_1_to_1000000000 b where sha1(a.seq + b.seq) = 'x'";

let backend: Backend;
beforeAll(async () => {
  backend = await clusterOf();
});
afterAll(() => backend[Symbol.asyncDispose]());

describe("a caller", () => {
  it.each([
    ["alice", "right-secret"],
    ["bob", "bob-secret"],
    ["zo\u00eb", "right-secret"],
    ["o'brien, jr.", "right-secret"],
  ])("is who the server says it is: %s", async (user, password) => {
    const { rows, last } = await ranAs(identityOf(user, password), whoAmI);
    expect(last?.kind).toBe("done");
    expect(rows).toEqual([[`${user}@%`]]);
  });

  it("may do what the server lets it, and nothing that the service account may", async () => {
    const bob = identityOf("bob", "bob-secret");
    expect((await ranAs(bob, "select id from demo.shown")).rows).toEqual([[1n]]);
    for (const sql of ["insert into demo.shown values (2)", "select * from demo.hidden"]) {
      expect(codeOf(await ranAs(bob, sql))).toBe("query.permission");
    }
    const elsewhere = await ranAs(bob, "select 1", { schema: "other" });
    expect(codeOf(elsewhere)).toBe("query.permission");
    expect((await ranAs(alice, "insert into demo.hidden values (1)")).last?.kind).toBe("done");
  });

  it("sees its own tables only", async () => {
    const tables = async (identity: BackendIdentity): Promise<readonly string[]> => {
      const listed = await backend.listTables(queryAs(identity, "show tables"), never);
      return valueOf(listed).map(({ name }) => name);
    };
    expect(await tables(identityOf("bob", "bob-secret"))).toEqual(["shown"]);
    expect(await tables(alice)).toEqual(["hidden", "shown"]);
  });

  it("has its columns described as itself", async () => {
    const hidden = "select id from demo.hidden";
    const shown = await backend.describe(queryAs(alice, hidden), never);
    expect(valueOf(shown).columns.map(({ name }) => name)).toEqual(["id"]);
    const bob = queryAs(identityOf("bob", "bob-secret"), hidden);
    expect((await backend.describe(bob, never)).ok).toBe(false);
  });

  it("has a transaction of its own", async () => {
    const lane = valueOf(await backend.begin(queryAs(alice, "begin"), never));
    expect((await ranAs(alice, whoAmI, {}, lane)).rows).toEqual([["alice@%"]]);
    await ranAs(alice, "insert into demo.shown values (99)", {}, lane);
    expect((await lane.rollback(never)).ok).toBe(true);
    await lane[Symbol.asyncDispose]();
    const left = await ranAs(alice, "select count(*) from demo.shown where id = 99");
    expect(left.rows).toEqual([[0n]]);
  });

  it.each([
    ["beside a service account", auth],
    ["without one", undefined],
  ])("has its statement ended by its own right, %s", async (_how, account) => {
    await using one = await clusterOf({ auth: account });
    const controller = new AbortController();
    const lane: Pick<Backend, "execute"> = {
      execute: (query, signal) => one.execute({ ...query, backendIdentity: alice }, signal),
    };
    const more = { session: { schema: "demo" }, signal: controller.signal };
    const running = ran(lane, endless, more);
    // The service account sees what runs; another backend asks, because this one may have none.
    let tags: readonly string[] = [];
    while (tags.length === 0) ({ tags } = valueOf(await backend.running(never)));
    expect(tags).toEqual([statementTag(identifiedOf(endless))]);
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    expect(valueOf(await backend.running(never)).tags).toEqual([]);
  });

  it.each([
    ["a wrong password", identityOf("alice", "wrong-secret")],
    ["the password of another", identityOf("alice", "bob-secret")],
    ["a name that nobody has", identityOf("mallory", "right-secret")],
    ["no password, which the directory would take", identityOf("alice", "")],
    ["the service account's name", identityOf("gateway", "right-secret")],
    ["a name with a NUL behind it", identityOf("alice\0@%", "right-secret")],
  ])("with %s is nobody", async (_how, identity) => {
    const { last } = await ranAs(identity, whoAmI);
    expect(last).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
    expect(JSON.stringify(last)).not.toMatch(/secret|alice|mallory|Access denied|PAM/);
  });
});

describe("a cluster of callers", () => {
  it("is healthy without an account of its own, and as one that is not there is not", async () => {
    await using none = await clusterOf({ auth: undefined });
    expect(await none.probe(never)).toBe("healthy");
    expect(valueOf(await none.running(never)).complete).toBe(false);
    const endpoint = "mysql://localhost:1?require_ssl=true";
    await using gone = await clusterOf({ auth: undefined, endpoint });
    expect(await gone.probe(never)).toBe("unhealthy");
  });
});

describe("clients of the gateway", () => {
  const clusters = {
    local: {
      engine: "starRocks",
      endpoint: `mysql://localhost:${port}?require_ssl=true`,
      tls: { caFile },
      database: "demo",
      auth,
      queryAuth: { type: "passthrough" },
    },
  };
  const ldap = {
    url: `ldap://127.0.0.1:${ldapPort}`,
    userDnTemplate: "uid={},ou=people,dc=example,dc=org",
  };
  const config = configOf({ clusters, auth: { provider: "ldap", ldap } });

  it("are themselves at the server, over the PostgreSQL wire", async () => {
    await using gateway = await gatewayOf(config);
    const client = new pg.Client({
      host: "127.0.0.1",
      port: portOf(gateway, "postgresWire"),
      user: "alice",
      password: "right-secret",
      database: "def",
    });
    await client.connect();
    try {
      expect((await client.query(`${whoAmI} as who`)).rows).toEqual([{ who: "alice@%" }]);
      await client.query("begin");
      expect((await client.query(`${whoAmI} as who`)).rows).toEqual([{ who: "alice@%" }]);
      await client.query("rollback");
    } finally {
      await client.end();
    }
  });

  it("are themselves at the server, over the MySQL wire, and have its rights", async () => {
    await using gateway = await gatewayOf(config);
    const client = await mysql.createConnection({
      host: "127.0.0.1",
      port: portOf(gateway, "mysqlWire"),
      user: "bob",
      password: "bob-secret",
    });
    try {
      expect((await client.query(`${whoAmI} as who`))[0]).toEqual([{ who: "bob@%" }]);
      await expect(client.query("insert into demo.shown values (7)")).rejects.toThrow(/denied/i);
    } finally {
      await client.end();
    }
  });
});

const alice = identityOf("alice", "right-secret");

async function clusterOf(more: object = {}): Promise<Backend> {
  const config = starRocksConfig.parse({
    engine: "starRocks",
    endpoint: `mysql://localhost:${port}?require_ssl=true`,
    tls: { caFile },
    queryAuth: { type: "passthrough" },
    auth,
    ...more,
  });
  return valueOf(await open("passthrough", config, hostOf()));
}

function identityOf(user: string, password: string): BackendIdentity {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  return { mode: "passthrough", principal: user, credential };
}

function queryAs(
  backendIdentity: BackendIdentity,
  sql: string,
  session: Partial<Session> = {},
): Identified {
  return { ...identifiedOf(sql, [], session), backendIdentity };
}

function ranAs(
  backendIdentity: BackendIdentity,
  sql: string,
  session: Partial<Session> = {},
  lane: Pick<Backend, "execute"> = backend,
): Promise<Ran> {
  const as: Pick<Backend, "execute"> = {
    execute: (query, signal) => lane.execute({ ...query, backendIdentity }, signal),
  };
  return ran(as, sql, { session });
}
