/** Snowflake's real ADBC driver against an emulator of its protocol: logins, statements, sessions, cancel. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import {
  codeOf,
  identifiedOf,
  never,
  ran,
  valueOf,
  type Ran,
} from "@gateway/engines/rig/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterOf } from "./adbcHost.ts";

const uri = process.env["GATEWAY_TEST_SNOWFLAKE"] ?? "";
const keyFile = process.env["GATEWAY_TEST_SNOWFLAKE_KEY"] ?? "";
const p = "adbc.snowflake.sql.";
const dbKwargs = { [`${p}account`]: "emulated", [`${p}db`]: "db1", [`${p}schema`]: "s1" };
const basic = { type: "basic", username: "gateway", password: "gateway-secret" };
const exchange = {
  type: "tokenExchange",
  tokenEndpoint: "https://login.example/token",
  clientId: "gateway",
  clientSecret: "exchange-secret",
};
const cluster = (more: object = {}): Promise<Backend> =>
  clusterOf({ driver: "snowflake", uri, auth: basic, dbKwargs, ...more });

describe("Snowflake behind its driver", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await cluster();
    await ran(
      backend,
      "create or replace table real_t (id integer, label varchar, price number(12,2))",
    );
    await ran(backend, "insert into real_t values (1, 'one', 1.50), (2, 'two', null)");
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("answers numbers as decimals of 38 digits, with every digit", async () => {
    const { rows, columns } = await ran(backend, "select id, label, price from real_t order by id");
    expect(columns.map(({ type }) => type)).toEqual([
      { kind: "decimal", precision: 38, scale: 0 },
      { kind: "text" },
      { kind: "decimal", precision: 12, scale: 2 },
    ]);
    expect(rows).toEqual([
      [1n, "one", 150n],
      [2n, "two", null],
    ]);
  });

  it("binds parameters, and refuses another number of them", async () => {
    const parameters = [{ type: { kind: "text" }, value: "two" }] as const;
    const found = await ran(backend, "select id from real_t where label = $1", { parameters });
    expect(found.rows).toEqual([[2n]]);
    expect(codeOf(await ran(backend, "select $1"))).toBe("query.parameters");
  });

  it("counts changes by the columns of Snowflake's answer", async () => {
    const { kinds, last } = await ran(backend, "update real_t set label = label where id <= 2");
    expect(kinds).toEqual(["done"]);
    expect(last).toMatchObject({ updateType: "UPDATE", updateCount: 2 });
  });

  it("goes by vendor code and SQLSTATE", async () => {
    expect(codeOf(await ran(backend, "select * from nowhere"))).toBe("query.unknownObject");
    expect(codeOf(await ran(backend, "selec 1 frm"))).toBe("query.syntax");
    const several = await ran(backend, "delete from real_t; select 1");
    expect(codeOf(several)).toBe("query.unsupported");
  });

  it("moves no files of this host", async () => {
    for (const sql of [
      "put file:///etc/passwd @~",
      "GET @~/x file:///tmp/",
      "/* a */ put file:///etc/passwd @~",
      "-- a\nget @~ file:///tmp",
      "// a\nput file:///etc/passwd @~",
    ]) {
      expect([sql, codeOf(await ran(backend, sql))]).toEqual([sql, "query.permission"]);
    }
  });

  it("tells USE as a change of the session, and brings it along", async () => {
    await ran(backend, "create schema if not exists db1.s2");
    const events = [];
    for await (const event of backend.execute(identifiedOf("use schema s2"), never)) {
      events.push(event);
    }
    expect(events).toMatchObject([
      { kind: "session", change: { kind: "catalog", catalog: "DB1", schema: "S2" } },
      { kind: "done", updateType: "USE" },
    ]);
    const session = { catalog: "DB1", schema: "S2" };
    expect((await ran(backend, "select current_schema()", { session })).rows).toEqual([["S2"]]);
    expect((await ran(backend, "select current_schema()")).rows).toEqual([["S1"]]);
    const role = [];
    for await (const event of backend.execute(identifiedOf("use role analyst"), never)) {
      role.push(event);
    }
    expect(role[0]).toMatchObject({ change: { kind: "setting", name: "role", value: "ANALYST" } });
  });

  it("carries the tag where the service shows it", async () => {
    await fetch(`${uri}/test/log`, { method: "DELETE" });
    await ran(backend, "select 42 as seen");
    const log = await (await fetch(`${uri}/test/log`)).text();
    expect(log).toContain("/* gateway/suite/0/suite */ select 42 as seen");
  });

  it("tells the service its time limit before the statement", async () => {
    await fetch(`${uri}/test/log`, { method: "DELETE" });
    const limited = await ran(backend, "select 43 as limited", { maxExecutionMs: 7_000 });
    expect(limited.rows).toEqual([[43n]]);
    const log = await (await fetch(`${uri}/test/log`)).text();
    expect(log).toMatch(/statement_timeout_in_seconds\s*=\s*7[^]*select 43 as limited/i);
  });

  it("ends a cancelled statement in the service, and answers the next one", async () => {
    const controller = new AbortController();
    const sql = "select count(*) from range(10000000000) a, range(1000) b";
    const running = ran(backend, sql, { signal: controller.signal });
    for (;;) {
      const log = await (await fetch(`${uri}/test/log`)).text();
      if (log.includes("10000000000")) break;
    }
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("keeps and takes back what a transaction did", async () => {
    const lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    await ran(lane, "delete from real_t");
    expect((await lane.rollback(never)).ok).toBe(true);
    await lane[Symbol.asyncDispose]();
    expect((await ran(backend, "select count(*) from real_t")).rows).toEqual([[2n]]);
  });

  it("lists its tables", async () => {
    const tables = valueOf(await backend.listTables(identifiedOf("show tables"), never));
    const table = tables.find(({ name }) => name === "REAL_T");
    expect(table?.columns.map(({ name }) => name)).toEqual(["ID", "LABEL", "PRICE"]);
    expect(backend.catalogs).toEqual(["DB1"]);
  });
});

describe("callers of Snowflake", () => {
  const whoAmI = "select current_user() as u";

  it("are who the service sees, by their own name and password", async () => {
    await forgetLog();
    await using backend = await cluster({ queryAuth: { type: "passthrough" } });
    expect(await backend.probe(never)).toBe("healthy");
    const names = ["alice", "bob", "alice", "bob"];
    const answers = names.map((name) => ranAs(backend, passthrough(name), whoAmI));
    for (const [at, { rows }] of (await Promise.all(answers)).entries()) {
      expect(rows).toEqual([[names[at]?.toUpperCase()]]);
    }
    const log = await logOf();
    const asked = log.filter(({ sql }) => sql === `/* gateway/suite/0/suite */ ${whoAmI}`);
    const askers = asked.map(({ user }) => user ?? "").toSorted((a, b) => a.localeCompare(b));
    expect(askers).toEqual(["alice", "alice", "bob", "bob"]);
    // The service account looks after the cluster, and runs nobody's statements.
    const own = log.filter(({ event, user }) => event === "query" && user === "gateway");
    expect(own.map(({ sql }) => sql)).toEqual(["SELECT 1", "SELECT current_database()"]);
  });

  it("are who the service sees, by a token that was made for them", async () => {
    await using backend = await cluster({ queryAuth: exchange, auth: undefined });
    expect(await backend.probe(never)).toBe("healthy");
    await forgetLog();
    for (const name of ["alice", "bob"]) {
      const { rows } = await ranAs(backend, exchanged(name, `${name}-oauth`), whoAmI);
      expect(rows).toEqual([[name.toUpperCase()]]);
    }
    const logins = (await logOf()).filter(({ event }) => event === "login");
    expect(new Set(logins.map(({ authenticator }) => authenticator))).toEqual(new Set(["OAUTH"]));
    expect(new Set(logins.map(({ user }) => user))).toEqual(new Set(["alice", "bob"]));
  });

  it("are refused with a wrong password or token, and nobody runs for them", async () => {
    await forgetLog();
    await using byPassword = await cluster({ queryAuth: { type: "passthrough" } });
    await using byToken = await cluster({ queryAuth: exchange });
    for (const [backend, identity] of [
      [byPassword, passthrough("alice", "wrong-secret")],
      [byToken, exchanged("alice", "wrong-secret")],
    ] as const) {
      const { last } = await ranAs(backend, identity, whoAmI);
      expect(last).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
      expect(JSON.stringify(last)).not.toMatch(/wrong-secret|alice|Incorrect|Invalid/);
    }
    expect((await logOf()).filter(({ event }) => event === "query")).toEqual([]);
  });

  it("see their tables, keep their transactions, and stand where they went", async () => {
    await using backend = await cluster({ queryAuth: { type: "passthrough" } });
    const alice = passthrough("alice");
    await ranAs(backend, alice, "create or replace table of_alice (id integer)");
    const query = { ...identifiedOf("show tables"), backendIdentity: alice };
    const names = valueOf(await backend.listTables(query, never)).map(({ name }) => name);
    expect(names).toContain("OF_ALICE");
    const lane = valueOf(await backend.begin({ ...query, sql: "begin" }, never));
    expect((await ranAs(lane, alice, whoAmI)).rows).toEqual([["ALICE"]]);
    const other = await ranAs(lane, passthrough("bob"), whoAmI);
    expect(codeOf(other)).toBe("auth.noBackendIdentity");
    expect((await lane.rollback(never)).ok).toBe(true);
    await lane[Symbol.asyncDispose]();
    await ranAs(backend, alice, "create schema if not exists db1.s2");
    const where = await ranAs(backend, alice, "select current_schema()", {
      session: { schema: "S2" },
    });
    expect(where.rows).toEqual([["S2"]]);
    expect((await ranAs(backend, alice, "select current_schema()")).rows).toEqual([["S1"]]);
  });

  it("are cancelled in the service as themselves", async () => {
    await forgetLog();
    await using backend = await cluster({ queryAuth: { type: "passthrough" }, auth: undefined });
    const controller = new AbortController();
    const sql = "select count(*) from range(10000000001) a, range(1000) b";
    const running = ranAs(backend, passthrough("alice"), sql, {
      signal: controller.signal,
    });
    while (!JSON.stringify(await logOf()).includes("10000000001"));
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    const aborts = (await logOf()).filter(({ event }) => event === "abort");
    expect(new Set(aborts.map(({ user }) => user))).toEqual(new Set(["alice"]));
  });
});

describe("a Snowflake login", () => {
  it("is taken with a token and with a key", async () => {
    const privateKeyPem = await readFile(keyFile, "utf8");
    for (const auth of [
      { type: "bearer", token: "gateway-oauth" },
      { type: "keyPair", username: "gateway", privateKeyPem },
    ]) {
      await using backend = await cluster({ auth });
      expect((await ran(backend, "select current_user() as u")).rows).toEqual([["GATEWAY"]]);
    }
  });

  it("that is refused makes the cluster unreachable, and shows no secret", async () => {
    for (const auth of [
      { ...basic, password: "wrong-secret" },
      { type: "bearer", token: "wrong-secret" },
    ]) {
      await using backend = await cluster({ auth });
      const { last } = await ran(backend, "select 1");
      expect(last).toMatchObject({ error: { code: "cluster.connectFailed" } });
      expect(JSON.stringify(last)).not.toContain("wrong-secret");
    }
  });

  it("to a service that never answers ends within the limit", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await using backend = await cluster({ uri: `http://127.0.0.1:${port}` });
    expect(codeOf(await ran(backend, "select 1"))).toBe("cluster.connectFailed");
    silent.close();
  });
});

interface Logged {
  readonly event: string;
  readonly user: string | null;
  readonly sql?: string;
  readonly authenticator?: string;
}

async function logOf(): Promise<readonly Logged[]> {
  return (await (await fetch(`${uri}/test/log`)).json()) as readonly Logged[];
}

async function forgetLog(): Promise<void> {
  await fetch(`${uri}/test/log`, { method: "DELETE" });
}

function passthrough(user: string, password = `${user}-secret`): BackendIdentity {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  return { mode: "passthrough", principal: user, credential };
}

function exchanged(principal: string, token: string): BackendIdentity {
  return { mode: "tokenExchange", principal, token: new Secret(token) };
}

function ranAs(
  lane: Pick<Backend, "execute">,
  backendIdentity: BackendIdentity,
  sql: string,
  more: { readonly session?: Partial<Session>; readonly signal?: AbortSignal } = {},
): Promise<Ran> {
  const as: Pick<Backend, "execute"> = {
    execute: (query, until) => lane.execute({ ...query, backendIdentity }, until),
  };
  return ran(as, sql, more);
}
