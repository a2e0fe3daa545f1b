/** As whom statements run: behind `EXECUTE AS` under `impersonate`, and never as the service account in its place. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fakeClickHouse, type FakeClickHouse } from "../../../../test/fake/clickHouse.ts";
import { hostileNames } from "../../../../test/fake/hostileNames.ts";
import { hostOf, identifiedOf, never, ran, valueOf, type Ran } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { clickHouseConfig } from "./config.ts";
import { errorOf as clickHouseError, readException } from "./errors.ts";
import { callerOf, textFor } from "./identity.ts";

const alice: BackendIdentity = { mode: "impersonate", principal: "alice" };
const auth = { type: "basic", username: "gateway", password: "gateway-secret" } as const;

let server: FakeClickHouse;
let backend: Backend;
let logged: object[];
beforeAll(async () => {
  server = await fakeClickHouse();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  server.impersonation = { users: ["alice", "bob"], granted: "all" };
  server.requests.length = 0;
  logged = [];
  backend = await backendOf({ queryAuth: { type: "impersonate" } });
});
afterEach(() => backend[Symbol.asyncDispose]());

describe("a statement under impersonate", () => {
  it("runs as its user, whatever kind it is, and nothing of it as the service account", async () => {
    await asUser("create table t (id integer)");
    await asUser("insert into t select 1");
    const parameters: readonly Parameter[] = [
      { type: { kind: "integer", bits: 32, signed: true }, value: 1n },
    ];
    expect((await asUser("select id from t where id = $1", alice, parameters)).rows).toEqual([
      [1n],
    ]);
    expect((await asUser("-- first\nselect currentUser()")).rows).toEqual([["alice"]]);
    await asUser("select id from t where id < 0");
    await asUser("use main");
    await asUser("drop table t");
    valueOf(await backend.describe(queryOf("select 1 as n"), never));
    valueOf(await backend.listTables(queryOf("show tables"), never));
    expect(server.requests.length).toBeGreaterThanOrEqual(9);
    expect(new Set(server.requests.map(({ ran: user }) => user))).toEqual(new Set(["alice"]));
  });

  it("is ended and listed by the service account", async () => {
    const stream = backend.execute(queryOf("select i from range(1000000000000) t(i)"), never);
    await stream.next();
    await stream.next();
    expect(valueOf(await backend.running(never))).toMatchObject({ complete: false });
    await stream.return();
    expect(server.running.size).toBe(0);
    expect(server.requests.find(({ sql }) => sql.startsWith("KILL"))?.ran).toBe("gateway");
  });

  it("says where a text is broken as if nothing stood before it", async () => {
    const sql = "select 'x' selec from";
    const failed = await asUser(sql);
    expect(failed.last).toMatchObject({
      kind: "failed",
      error: { code: "query.syntax", position: sql.length + 1 },
    });
  });

  it.each([
    ["execute as bob select 1", "query.permission"],
    ["EXECUTE AS `bob` select 1", "query.permission"],
    ["kill query where 1", "query.permission"],
    ["select 1; select 2", "query.unsupported"],
    ["set max_threads = 1", "query.unsupported"],
    ["set role admin", "query.unsupported"],
    ["@'bob' select 1", "query.unsupported"],
    ["/* x */ @ bob select 1", "query.unsupported"],
    ["`bob` select 1", "query.unsupported"],
    ["insert into t values (1)", "query.unsupported"],
    ["insert into t (a) format CSV 1", "query.unsupported"],
    ["insert into t", "query.unsupported"],
    ["-- nothing", "query.syntax"],
  ])("%s is refused here, with %s, and sent to nobody", async (sql, code) => {
    expect(errorOf(await asUser(sql))?.code).toBe(code);
    expect(server.requests).toEqual([]);
  });
});

describe("the text that is sent", () => {
  it("stands behind the name from its first word on, and places in it are moved back by bytes", () => {
    const caller = { kind: "user", name: "j\u00f6rg", group: "g" } as const;
    const given = "/* \u00e9 */ select '\u{1f600}' selec";
    const { sql, shiftBytes } = valueOf(textFor(caller, given));
    expect(sql).toBe("EXECUTE AS `j\u00f6rg` select '\u{1f600}' selec");
    const byte = Buffer.from(sql).indexOf("selec", 30) + 1;
    const text = `Code: 62. DB::Exception: Syntax error: failed at position ${byte} (selec): x`;
    const failed = { shown: given, caller, shiftBytes };
    expect(clickHouseError(readException(text), failed)).toMatchObject({
      code: "query.syntax",
      position: given.lastIndexOf("selec") + 1,
      message: `Syntax error: failed at position ${byte - shiftBytes} (selec): x`,
    });
  });
});

describe("a user that can not be impersonated", () => {
  it.each<[string, FakeClickHouse["impersonation"]]>([
    ["without the grant", { users: ["alice"], granted: ["bob"] }],
    ["whom the server does not know", { users: ["bob"], granted: "all" }],
    ["while the setting is off", "off"],
  ])("%s is refused once, by mode and group alone", async (_how, impersonation) => {
    server.impersonation = impersonation;
    const error = errorOf(await asUser("select 1"));
    expect(error?.code).toBe("auth.noBackendIdentity");
    expect(error?.message).toContain("impersonate");
    expect(error?.message).toContain('"suite"');
    expect(JSON.stringify(error)).not.toMatch(/alice|grant|IMPERSONATE|There is no/);
    expect(server.requests).toEqual([]);
    expect(await backend.describe(queryOf("select 1"), never)).toMatchObject({
      error: { code: "auth.noBackendIdentity" },
    });
    expect(await backend.listTables(queryOf("show tables"), never)).toMatchObject({
      error: { code: "auth.noBackendIdentity" },
    });
  });

  it("is one with the service account's own name", async () => {
    server.impersonation = { users: ["gateway"], granted: "all" };
    const error = errorOf(await asUser("select 1", { mode: "impersonate", principal: "gateway" }));
    expect(error?.code).toBe("auth.noBackendIdentity");
    expect(server.requests).toEqual([]);
  });

  it.each<[BackendIdentity]>([
    [{ mode: "serviceAccount" }],
    [{ mode: "tokenExchange", principal: "alice", token: new Secret("t") }],
  ])("is one of another mode than the cluster's: $mode", async (identity) => {
    expect(errorOf(await asUser("select 1", identity))?.code).toBe("auth.noBackendIdentity");
    expect(server.requests).toEqual([]);
  });

  it("is not refused on a table's account: that is about its rights", async () => {
    expect(errorOf(await asUser("select * from nowhere"))?.code).toBe("query.unknownObject");
  });
});

describe("the health of a cluster under impersonate", () => {
  it("is good where the server impersonates, whether or not the account may be itself", async () => {
    expect(await backend.probe(never)).toBe("healthy");
    server.impersonation = { users: [], granted: [] };
    await using other = await backendOf({ queryAuth: { type: "impersonate" } });
    expect(await other.probe(never)).toBe("healthy");
    expect(logged).toEqual([]);
  });

  it.each([
    ["tooOld", "EXECUTE AS needs ClickHouse 25.11 or newer"],
    ["off", "access_control_improvements.allow_impersonate_user is not 1 on the server"],
  ] as const)(
    "is bad where it is %s, and the log says once what is missing",
    async (how, lacks) => {
      server.impersonation = how;
      expect(await backend.probe(never)).toBe("unhealthy");
      expect(await backend.probe(never)).toBe("unhealthy");
      expect(logged).toEqual([
        { event: "cluster.cannotImpersonate", cluster: "c", lacks, version: "25.8.1.2" },
      ]);
      server.impersonation = { users: [], granted: "all" };
      expect(await backend.probe(never)).toBe("healthy");
    },
  );

  it("does not depend on it under serviceAccount", async () => {
    server.impersonation = "tooOld";
    await using other = await backendOf();
    expect(await other.probe(never)).toBe("healthy");
    expect(valueOf(await other.running(never))).toMatchObject({ complete: true });
  });
});

describe("a hostile user name", () => {
  it("is the user that the statement runs as, exactly, or is refused", async () => {
    server.impersonation = { users: hostileNames, granted: "all" };
    const outcomes: { name: string; code: string | undefined; ran: readonly unknown[] }[] = [];
    for (const name of hostileNames) {
      server.requests.length = 0;
      const as = { mode: "impersonate", principal: name } as const;
      const answer = await asUser("select currentUser()", as);
      const ranAs = [...server.requests.map(({ ran: user }) => user), ...answer.rows.flat()];
      outcomes.push({ name, code: errorOf(answer)?.code, ran: ranAs });
    }
    const refused = outcomes.filter(({ code }) => code !== undefined);
    const carried = outcomes.filter(({ code }) => code === undefined);
    expect(carried.filter(({ name, ran: as }) => as.some((one) => one !== name))).toEqual([]);
    const sent = ({ code, ran: as }: (typeof outcomes)[number]) =>
      code !== "auth.noBackendIdentity" || as.length > 0;
    expect(refused.filter(sent)).toEqual([]);
    expect(refused.filter(({ name }) => isPlain(name))).toEqual([]);
    expect(hostileNames.length).toBeGreaterThanOrEqual(300);
    expect(carried.length).toBeGreaterThan(200);
  }, 60_000);

  it("ends where it is quoted to end: what follows is the statement", () => {
    const names = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(names, (name) => {
        const caller = callerOf(queryOf("", { mode: "impersonate", principal: name }), {
          auth,
          queryAuth: { type: "impersonate" },
        });
        if (!caller.ok) return;
        const text = valueOf(textFor(caller.value, "select 1")).sql;
        expect(afterName(text)).toEqual({ name, rest: " select 1" });
      }),
    );
  });
});

/** Reads a name in back-ticks as ClickHouse's lexer does, from its own description and not from our quoting. */
function afterName(text: string): { readonly name: string; readonly rest: string } {
  let at = text.indexOf("`") + 1;
  let name = "";
  for (;;) {
    const letter = text.charAt(at);
    if (letter === "`" && text.charAt(at + 1) !== "`") break;
    if (letter === "\\" || letter === "`") at += 1;
    name += letter === "\\" && text.charAt(at) === "0" ? "\0" : text.charAt(at);
    at += 1;
    if (at >= text.length) throw new Error(`no end of the name: ${text}`);
  }
  return { name, rest: text.slice(at + 1) };
}

/** Nothing about it could be lost on the way. */
function isPlain(name: string): boolean {
  return name !== "" && name.trim() === name && Buffer.from(name).toString() === name;
}

function errorOf({ last }: Ran) {
  return last?.kind === "failed" ? last.error : undefined;
}

function queryOf(sql: string, backendIdentity: BackendIdentity = alice): Identified {
  return { ...identifiedOf(sql), backendIdentity };
}

function asUser(
  sql: string,
  backendIdentity: BackendIdentity = alice,
  parameters: readonly Parameter[] = [],
): Promise<Ran> {
  const lane: Pick<Backend, "execute"> = {
    execute: (query, signal) => backend.execute({ ...query, backendIdentity }, signal),
  };
  return ran(lane, sql, { parameters });
}

async function backendOf(more: object = {}): Promise<Backend> {
  const { endpoint } = server;
  const config = clickHouseConfig.parse({ engine: "clickHouse", endpoint, auth, ...more });
  const host: Host = {
    ...hostOf(),
    log: {
      write: (_level, event, fields) => void logged.push({ event, ...fields }),
      writeMembers: () => expect.unreachable(),
      bug: (error) => expect.unreachable(String(error)),
    },
  };
  return valueOf(await open("c", config, host));
}
