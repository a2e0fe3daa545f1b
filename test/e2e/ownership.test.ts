/** Who may end a query: its owner and operators, over every protocol that can ask for it. */
import { hashSync } from "bcryptjs";
import * as mysql from "mysql2/promise";
import pg from "pg";
import {
  statementsLogged,
  type StatementLog,
} from "@gateway/engines/duckDb/client/statementLog.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminOf } from "./admin.ts";
import { basicOf, type TrinoPage } from "./clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
/** Runs for minutes unless it is interrupted. */
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 2";

let gateway: TestGateway;
let log: StatementLog & Disposable;

beforeAll(async () => {
  log = statementsLogged();
  const passwordHash = hashSync("secret", 4);
  const users = {
    alice: { passwordHash },
    bob: { passwordHash, groups: ["readers"] },
    olga: { passwordHash, groups: ["operators"] },
  };
  gateway = await gatewayOf(
    configOf({
      auth: { provider: "static", staticUsers: { users }, operatorGroups: ["operators"] },
    }),
  );
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  log[Symbol.dispose]();
});

describe("a query of a Trino client", () => {
  it.each(["alice", "olga"])("is ended by its id by %s, and by nobody else", async (ender) => {
    const page = await started("alice");
    for (const [method, user] of [
      ["DELETE", "bob"],
      ["GET", "bob"],
      ["GET", "olga"],
    ] as const) {
      const answer = await trino(method, `/v1/query/${page.id}`, user);
      expect([method, user, answer.status]).toEqual([method, user, 404]);
    }
    expect((await trino("DELETE", `/v1/query/${page.id}`, undefined)).status).toBe(401);
    expect((await trino("DELETE", `/v1/query/${page.id}`, ender)).status).toBe(204);
    await expect(log.ended(endless)).resolves.toBeUndefined();
    const { pathname } = new URL(page.nextUri ?? "");
    const last = (await (await trino("GET", pathname, "alice")).json()) as TrinoPage;
    expect(last.stats.state).toBe("FAILED");
  });

  it("has a link that is its owner's alone, also for operators", async () => {
    const page = await started("alice");
    const { pathname } = new URL(page.nextUri ?? "");
    for (const user of ["bob", "olga"]) {
      expect((await trino("GET", pathname, user)).status).toBe(404);
      expect((await trino("DELETE", pathname, user)).status).toBe(404);
    }
    expect((await trino("DELETE", pathname, "alice")).status).toBe(204);
    await expect(log.ended(endless)).resolves.toBeUndefined();
  });
});

describe("a query of a MySQL client", () => {
  it.each([
    ["alice", "kill query"],
    ["olga", "kill query"],
    ["olga", "kill"],
  ])("is ended by %s with %s, and by nobody else", async (ender, words) => {
    const victim = await mysqlOf("alice");
    const running = victim.query(endless).then(
      () => 0,
      (error: unknown) => (error as { errno?: number }).errno,
    );
    await log.started(endless);
    const [stranger, killer] = [await mysqlOf("bob"), await mysqlOf(ender)];
    const refused = stranger.query(`${words} ${victim.threadId}`);
    await expect(refused).rejects.toMatchObject({ errno: 1095 });
    await killer.query(`${words} ${victim.threadId}`);
    expect(await running).not.toBe(0);
    await expect(log.ended(endless)).resolves.toBeUndefined();
    for (const client of [victim, stranger, killer]) client.destroy();
  });

  it("that runs nothing is nobody's to end but its owner's", async () => {
    const victim = await mysqlOf("alice");
    const killer = await mysqlOf("olga");
    const refused = killer.query(`kill ${victim.threadId}`);
    await expect(refused).rejects.toMatchObject({ errno: 1095 });
    expect((await victim.query("select 1 as one"))[0]).toEqual([{ one: 1 }]);
    for (const client of [victim, killer]) client.destroy();
  });
});

describe("a query of a PostgreSQL client", () => {
  it("is ended by an operator through its id", async () => {
    const client = new pg.Client({
      host,
      port: portOf(gateway, "postgresWire"),
      user: "alice",
      password: "secret",
    });
    await client.connect();
    const running = client.query(endless).then(
      () => "finished",
      (error: unknown) => (error as { code?: string }).code,
    );
    await log.started(endless);
    const admin = await adminOf(gateway);
    const { items } = (await admin("GET", "/admin/queries/running")).body as Running;
    const id = items.find(({ user }) => user === "alice")?.id ?? "none";
    expect((await trino("DELETE", `/v1/query/${id}`, "bob")).status).toBe(404);
    expect((await trino("DELETE", `/v1/query/${id}`, "olga")).status).toBe(204);
    expect(await running).toBe("57014");
    await client.end();
  });
});

interface Running {
  readonly items: readonly { readonly id: string; readonly user: string }[];
}

interface StartedPage extends TrinoPage {
  readonly id: string;
}

/** A statement of `user` that runs in the engine. */
async function started(user: string): Promise<StartedPage> {
  const response = await trino("POST", "/v1/statement", user, endless);
  const page = (await response.json()) as StartedPage;
  await log.started(endless);
  return page;
}

function trino(
  method: string,
  path: string,
  user: string | undefined,
  body?: string,
): Promise<Response> {
  const headers = user === undefined ? {} : { authorization: basicOf(user, "secret") };
  const url = `http://${host}:${portOf(gateway, "trinoHttp")}${path}`;
  return fetch(url, { method, headers, ...(body !== undefined && { body }) });
}

function mysqlOf(user: string): Promise<mysql.Connection> {
  const port = portOf(gateway, "mysqlWire");
  return mysql.createConnection({ host, port, user, password: "secret" });
}
