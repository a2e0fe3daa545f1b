/** Each statement as its caller, on a server that tells who logged in: nobody is ever anybody else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeMysql } from "../../../../test/fake/mysql.ts";
import { certificateOf } from "../../../frontends/src/listener/rig/certificate.ts";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";

const authority = certificateOf("authority");
const certificate = certificateOf("localhost", authority);
const folder = mkdtempSync(join(tmpdir(), "gateway-mysql-"));
const [caFile, otherFile] = [join(folder, "ca.pem"), join(folder, "other.pem")];
const passwords = new Map([
  ["alice", "alice-secret"],
  ["bob", "bob-secret"],
]);

let server: FakeMysql;
let backend: Backend;
beforeAll(async () => {
  writeFileSync(caFile, authority.cert);
  writeFileSync(otherFile, certificateOf("other").cert);
  server = await FakeMysql.start({ key: certificate.key, cert: certificate.cert }, passwords);
  backend = await backendOf(caFile);
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.mood = "well";
  server.logins.length = 0;
  server.statements.length = 0;
});

describe("a statement under passthrough", () => {
  it("runs as its caller, on a connection that is closed behind it", async () => {
    for (const user of ["alice", "bob", "alice"])
      expect((await asked(user, "select current_user()")).at(-1)?.kind).toBe("done");
    expect(server.logins.map(({ user }) => user.toString())).toEqual(["alice", "bob", "alice"]);
    expect(server.logins.every(({ encrypted }) => encrypted)).toBe(true);
    const ran = server.statements.filter(({ sql }) => sql === "select current_user()");
    expect(ran.map(({ user }) => user)).toEqual(["alice", "bob", "alice"]);
  });

  it("does not run with a wrong password, and says nothing of the server's", async () => {
    const last = (await asked("alice", "select 1", { password: "wrong" })).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
    expect(JSON.stringify(last)).not.toContain("Access denied");
  });

  it("sends no password to a server that it can not trust", async () => {
    await using other = await backendOf(otherFile);
    const last = (await asked("alice", "select 1", { on: other })).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "cluster.connectFailed" } });
    server.mood = "plain";
    expect((await asked("alice", "select 1")).at(-1)?.kind).toBe("failed");
    expect(server.logins).toEqual([]);
  });

  it("finds what its session keeps, which is nobody else's", async () => {
    const home = new Home();
    await asked("alice", "set @a = 1", { home });
    expect((await asked("alice", "select current_user()", { home })).at(-1)?.kind).toBe("done");
    expect(server.logins).toHaveLength(1);
    const last = (await asked("bob", "select current_user()", { home })).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "auth.noBackendIdentity" } });
    await home[Symbol.asyncDispose]();
  });

  it("is ended by its caller's own right", async () => {
    const stop = new AbortController();
    const running = asked("alice", "select sleep", { signal: stop.signal });
    await server.waits();
    stop.abort();
    const last = (await running).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
    const killers = server.statements.filter(({ sql }) => sql.startsWith("KILL"));
    expect(killers.map(({ user }) => user)).toEqual(["alice"]);
  });
});

interface Asking {
  readonly password?: string;
  readonly home?: Home;
  readonly on?: Backend;
  readonly signal?: AbortSignal;
}

async function asked(
  user: string,
  sql: string,
  { password = `${user}-secret`, home = new Home(), on = backend, signal = never }: Asking = {},
): Promise<readonly ResultEvent[]> {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  const query: Identified = {
    ...identifiedOf(sql, [], { frontend: "mysqlWire", dialect: "mysql" }),
    backendIdentity: { mode: "passthrough", principal: user, credential },
    mysql: { home, foundRows: false, ignoreSpace: false },
    takes: ["mysqlRows"],
  };
  const events: ResultEvent[] = [];
  for await (const event of on.execute(query, signal)) events.push(event);
  return events;
}

async function backendOf(ca: string): Promise<Backend> {
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`localhost:${server.port}`],
    tls: { caFile: ca },
    queryAuth: { type: "passthrough" },
    connectTimeoutSecs: 5,
  });
  return valueOf(await open("c", config, hostOf()));
}
