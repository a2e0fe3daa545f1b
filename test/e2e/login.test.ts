/** The same right, wrong, unknown and missing credential on every frontend: each answers in its own words, none tells who exists. */
import { hashSync } from "bcryptjs";
import * as mariadb from "mariadb";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";

let gateway: TestGateway;

beforeAll(async () => {
  const alice = { passwordHash: hashSync("alice-secret", 6), groups: ["readers"] };
  const bob = { passwordHash: hashSync("bob-secret", 6) };
  gateway = await gatewayOf(
    configOf({
      auth: { provider: "static", staticUsers: { users: { alice, bob } } },
      clusterGroups: {
        default: {
          members: ["local"],
          maxRunningQueries: 4,
          authorization: { allowGroups: ["readers"] },
        },
      },
    }),
  );
}, 30_000);

afterAll(() => gateway[Symbol.asyncDispose]());

describe.each([
  ["pg", byPg, "28P01"],
  ["mysql2", byMysql2, "1045"],
  ["mariadb", byMariadb, "1045"],
  ["trino over fetch", byTrino, "401"],
] as const)("a login through %s", (_name, ask, refused) => {
  it("takes a right password", async () => {
    expect(await ask("alice", "alice-secret")).toBe("1");
  });

  it("refuses a wrong password, an unknown user and an empty password alike", async () => {
    expect(await ask("alice", "wrong")).toBe(refused);
    expect(await ask("mallory", "wrong")).toBe(refused);
    expect(await ask("alice", "")).toBe(refused);
  });

  it("keeps a verified user out of a group that the allow list does not name", async () => {
    const answer = await ask("bob", "bob-secret");
    expect(answer).not.toBe("1");
    expect(answer).not.toBe(refused);
  });
});

describe("the Trino frontend", () => {
  it("believes no user name beside another's verified login", async () => {
    const response = await statement({
      authorization: basicOf("alice", "alice-secret"),
      "x-trino-user": "bob",
    });
    expect([401, 403]).toContain(response.status);
  });

  it("refuses a name without a credential", async () => {
    const response = await statement({ "x-trino-user": "alice" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Basic");
  });
});

describe("the metrics", () => {
  it("count refusals by frontend and name nobody", async () => {
    await byPg("alice", "wrong");
    const text = await gateway.metrics();
    expect(text).toMatch(/gateway_auth_failures_total\{frontend="postgresWire"\} \d+/);
    expect(text).not.toContain("alice");
    expect(text).not.toContain("mallory");
  });
});

/** Answers `1`, or the protocol's code of the refusal. */
async function byPg(user: string, password: string): Promise<string> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user, password });
  try {
    await client.connect();
    const { rows } = await client.query({ text: "select 1", rowMode: "array" });
    return String(rows[0]?.[0]);
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.end().catch(() => {});
  }
}

async function byMysql2(user: string, password: string): Promise<string> {
  try {
    const port = portOf(gateway, "mysqlWire");
    const client = await mysql.createConnection({ host, port, user, password });
    try {
      const [rows] = await client.query({ sql: "select 1", rowsAsArray: true });
      return String((rows as unknown[][])[0]?.[0]);
    } finally {
      client.destroy();
    }
  } catch (error) {
    return String((error as { errno?: unknown }).errno);
  }
}

async function byMariadb(user: string, password: string): Promise<string> {
  try {
    const port = portOf(gateway, "mysqlWire");
    const options = { host, port, user, password, allowPublicKeyRetrieval: true };
    const client = await mariadb.createConnection(options);
    try {
      const rows = (await client.query({ sql: "select 1", rowsAsArray: true })) as unknown[][];
      return String(rows[0]?.[0]);
    } finally {
      client.destroy();
    }
  } catch (error) {
    return String((error as { errno?: unknown }).errno);
  }
}

async function byTrino(user: string, password: string): Promise<string> {
  const response = await statement({ authorization: basicOf(user, password) });
  if (response.status !== 200) return String(response.status);
  let page = (await response.json()) as {
    data?: unknown[][];
    nextUri?: string;
    error?: { errorName: string };
  };
  for (;;) {
    if (page.error !== undefined) return page.error.errorName;
    if (page.data !== undefined) return String(page.data[0]?.[0]);
    if (page.nextUri === undefined) return "no rows";
    const headers = { authorization: basicOf(user, password) };
    page = (await (await fetch(page.nextUri, { headers })).json()) as typeof page;
  }
}

function statement(headers: Record<string, string>): Promise<Response> {
  const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  return fetch(url, { method: "POST", headers, body: "select 1" });
}

function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}
