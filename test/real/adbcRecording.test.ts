/** Which options reach a driver: a caller's connections are given the caller's login and nothing of the service account's, and the other way round. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import { open } from "@gateway/engines/adbc/adapter.ts";
import { adbcConfig } from "@gateway/engines/adbc/config.ts";
import {
  codeOf,
  hostOf,
  identifiedOf,
  never,
  ran,
  valueOf,
  type Ran,
} from "@gateway/engines/rig/backend.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { clusterOf as anyClusterOf, unknownLibrary } from "./adbcHost.ts";
import { forgetSeen, seenIn } from "./recorded.ts";

const folder = process.env["GATEWAY_TEST_RECORDING"] ?? "";
const p = "adbc.snowflake.sql.";
const service = { type: "basic", username: "service", password: "service-secret" };
const ownAccount: BackendIdentity = { mode: "serviceAccount" };
const exchange = {
  type: "tokenExchange",
  tokenEndpoint: "https://login.example/token",
  clientId: "gateway",
  clientSecret: "exchange-secret",
};

beforeEach(() => forgetSeen(folder));

describe("a connection under passthrough", () => {
  it("has the caller's name and password and nothing of the service account's", async () => {
    await using backend = await clusterOf({ queryAuth: { type: "passthrough" }, auth: service });
    expect(await backend.probe(never)).toBe("healthy");
    for (const user of ["alice", "bob", "alice"]) {
      expect((await ranAs(backend, passthrough(user))).rows).toEqual([[user]]);
    }
    await backend.listTables(queryOf(passthrough("bob")), never);
    const databases = await databasesSeen();
    expect(databases.map(({ username }) => username)).toEqual(["service", "alice", "bob"]);
    for (const { username, text } of databases) {
      expect(text).toContain(`"password":"${username}-secret"`);
      expect(text).not.toContain("auth_token");
      for (const other of ["service", "alice", "bob"].filter((one) => one !== username)) {
        expect(text).not.toContain(`${other}-secret`);
      }
    }
    const seen = await seenIn(folder);
    // Each login is one in the audit of the engine.
    expect(seen.filter(({ what }) => what === "connection")).toHaveLength(3);
    const statements = seen.filter(({ what }) => what === "statement");
    const byService = statements.filter(({ key }) => key === "service").map(({ value }) => value);
    expect(new Set(byService)).toEqual(new Set(["SELECT 1", "SELECT current_database()"]));
  });

  it("is the first and last of a refused login, whose text reaches nobody", async () => {
    await using backend = await clusterOf({ queryAuth: { type: "passthrough" } });
    for (const group of ["suite", "other"]) {
      const query = { ...queryOf(passthrough("refused-eve")), group };
      const { value } = await backend.execute(query, never).next();
      expect(value).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
      const said = JSON.stringify(value);
      expect(said).toContain(`\\"${group}\\"`);
      expect(said).not.toMatch(/eve|Incorrect/);
    }
    const seen = await seenIn(folder);
    expect(new Set(seen.map(({ process }) => process)).size).toBe(2);
    expect(seen.filter(({ what }) => what === "statement")).toEqual([]);
  });

  it("gets no name or password that a text of C would cut", async () => {
    await using backend = await clusterOf({ queryAuth: { type: "passthrough" } });
    for (const identity of [passthrough("alice\0x"), passthrough("alice", "a\0b")]) {
      expect(codeOf(await ranAs(backend, identity))).toBe("auth.noBackendIdentity");
    }
    expect(await seenIn(folder)).toEqual([]);
    const strange = "o'brien\" --\u202e\u{1f600}";
    expect((await ranAs(backend, passthrough(strange))).rows).toEqual([[strange]]);
  });
});

describe("a connection under tokenExchange", () => {
  it("has the exchanged token and no name, password or key", async () => {
    await using backend = await clusterOf({ queryAuth: exchange, auth: service });
    for (const token of ["token-of-alice", "token-of-bob"]) {
      const identity = { mode: "tokenExchange", principal: "p", token: new Secret(token) } as const;
      expect((await ranAs(backend, identity)).rows).toEqual([[token]]);
    }
    const databases = await databasesSeen();
    expect(databases).toHaveLength(2);
    for (const [at, { text }] of databases.entries()) {
      const token = ["token-of-alice", "token-of-bob"][at];
      expect(text).toContain(`"${p}client_option.auth_token":"${token}"`);
      expect(text).toContain(`"${p}auth_type":"auth_oauth"`);
      expect(text).not.toMatch(/service|"username"|"password"|jwt|exchange-secret/);
    }
  });

  it("is not needed to know that the driver is there", async () => {
    await using backend = await clusterOf({ queryAuth: exchange });
    expect(await backend.probe(never)).toBe("healthy");
    expect(await backend.probe(never)).toBe("healthy");
    expect((await databasesSeen()).every(({ text }) => text === "{}")).toBe(true);
    expect(new Set((await seenIn(folder)).map(({ process }) => process)).size).toBe(1);
    expect(backend.catalogs).toEqual(["DB1"]);
  });
});

describe("a session that chose a place", () => {
  it("has connections that stand there, and leaves the cluster's own where they are", async () => {
    await using backend = await clusterOf({ auth: service });
    const settings = new Map([["role", "analyst"]]);
    await ran(backend, "select 'home'");
    for (const _turn of [1, 2]) {
      await ran(backend, "select 'away'", { session: { settings, schema: "s2" } });
      await ran(backend, "select 'home'", { session: { catalog: "DB1", schema: "S1" } });
    }
    const texts = new Map<string, string[]>();
    for (const { database, what, value } of await seenIn(folder)) {
      if (what !== "statement") continue;
      const text = value.replace(/^\/\*.*?\*\/ /, "");
      texts.set(database, [...(texts.get(database) ?? []), text]);
    }
    expect([...texts.values()]).toEqual([
      ["select 'home'", "select 'home'", "select 'home'"],
      ['USE ROLE "ANALYST"', 'USE SCHEMA "S2"', "select 'away'", "select 'away'"],
    ]);
  });

  it("that is not there is told so, and keeps no process", async () => {
    await using backend = await clusterOf({ auth: service });
    const answer = await ran(backend, "select 1", { session: { schema: "nowhere" } });
    expect(codeOf(answer)).toBe("query.unknownObject");
  });

  it("has it beside its identity, and never shares it", async () => {
    await using backend = await clusterOf({ queryAuth: { type: "passthrough" } });
    const schema = "s2";
    for (const user of ["alice", "bob"]) {
      const { rows } = await ranAs(backend, passthrough(user), { schema });
      expect(rows).toEqual([[user]]);
    }
    expect((await databasesSeen()).map(({ username }) => username)).toEqual(["alice", "bob"]);
  });
});

describe("a driver that nobody here knows", () => {
  const unknown = async (username: string): Promise<Backend> => {
    const library = join(folder, "libadbc_driver_snowflake.so");
    const driver = await unknownLibrary(library, await mkdtemp(join(folder, "unknown-")));
    const auth = { type: "basic", username, password: `${username}-secret` };
    return await anyClusterOf({ driver, auth });
  };

  it("is asked for its tables once, and has none when it lists nothing", async () => {
    await using backend = await unknown("quiet");
    expect(valueOf(await backend.listTables(queryOf(ownAccount), never))).toEqual([]);
    const seen = (await seenIn(folder)).filter(({ what }) => what === "objects");
    expect(seen.map(({ key, value }) => [key, value])).toEqual([
      ["1", "quiet"],
      ["0", "quiet"],
    ]);
    expect((await seenIn(folder)).filter(({ what }) => what === "connection")).toHaveLength(1);
  });

  it("that hangs in a listing is killed when nobody waits any more, and holds nobody up", async () => {
    await using backend = await unknown("hangs");
    const controller = new AbortController();
    const listing = backend.listTables(queryOf(ownAccount), controller.signal);
    while (!(await seenIn(folder)).some(({ what, key }) => what === "objects" && key === "0")) {
      await setImmediate();
    }
    controller.abort();
    expect(await listing).toMatchObject({ ok: false, error: { code: "query.cancelled" } });
    expect((await ran(backend, "select 'mine'")).rows).toEqual([["hangs"]]);
    expect(new Set((await seenIn(folder)).map(({ process }) => process)).size).toBe(2);
  });
});

interface SeenDatabase {
  readonly username: string | undefined;
  /** Every option. */
  readonly text: string;
}

/** Options of each database object, in the order they were made. */
async function databasesSeen(): Promise<readonly SeenDatabase[]> {
  const found = new Map<string, Record<string, string>>();
  for (const { database, what, key, value } of await seenIn(folder)) {
    if (what === "database") found.set(database, {});
    const options = found.get(database);
    if (what === "option" && options !== undefined) options[key] = value;
  }
  return [...found.values()].map((options) => ({
    username: options["username"],
    text: JSON.stringify(options),
  }));
}

let clusters = 0;

async function clusterOf(more: object): Promise<Backend> {
  const config = adbcConfig.parse({
    engine: "adbc",
    driver: "snowflake",
    uri: "http://127.0.0.1:9",
    poolSize: 1,
    dbKwargs: { [`${p}account`]: "recorded", [`${p}db`]: "db1", [`${p}schema`]: "s1" },
    ...more,
  });
  const host = { ...hostOf(), libraryFolders: [folder] };
  return valueOf(await open(`recorded${(clusters += 1)}`, config, host));
}

function passthrough(user: string, password = `${user}-secret`): BackendIdentity {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  return { mode: "passthrough", principal: user, credential };
}

function queryOf(backendIdentity: BackendIdentity, session: Partial<Session> = {}) {
  return { ...identifiedOf("select 'mine'", [], session), backendIdentity };
}

function ranAs(
  backend: Backend,
  backendIdentity: BackendIdentity,
  session: Partial<Session> = {},
): Promise<Ran> {
  const lane: Pick<Backend, "execute"> = {
    execute: (query, signal) => backend.execute({ ...query, backendIdentity }, signal),
  };
  return ran(lane, "select 'mine'", { session });
}
