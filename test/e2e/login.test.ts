/** The same right, wrong, unknown and missing credential on every frontend: each answers in its own words, none tells who exists. */
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askPg, askTrino, basicOf, clients, type Ask } from "./clients.ts";
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

const refusals = {
  pg: "28P01",
  mysql2: "1045",
  mariadb: "1045",
  "trino over HTTP": "401",
} as const;

describe.each(clients)("a login through %s", (name, askClient) => {
  const refused = refusals[name];
  const ask = (user: string, password: string) => login(askClient, user, password);

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

describe("a gateway that does not require a login", () => {
  let open: TestGateway;

  beforeAll(async () => {
    const users = { alice: { passwordHash: hashSync("alice-secret", 6) } };
    open = await gatewayOf(
      configOf({
        auth: { provider: "static", required: false, staticUsers: { users } },
        clusterGroups: {
          default: { members: ["local"], maxRunningQueries: 4 },
          guests: { members: ["local"], maxRunningQueries: 4, maxRows: 1 },
        },
        routers: [{ type: "userGroup", userToGroup: { anonymous: "guests" } }],
      }),
    );
  }, 30_000);

  afterAll(() => open[Symbol.asyncDispose]());

  const sql = "select i from range(2) t(i)";

  it("takes a Trino client without credentials as anonymous, whatever name it claims", async () => {
    expect(await askTrino(open, { sql, user: "alice" })).toBe("GENERIC_INSUFFICIENT_RESOURCES");
    expect(await askTrino(open, { sql, user: "alice", password: "alice-secret" })).toBe("0");
  });

  it("refuses wrong credentials all the same, and asks PostgreSQL and MySQL clients for theirs", async () => {
    for (const [name, ask] of clients) {
      expect(await ask(open, { sql, password: "wrong" })).toBe(refusals[name]);
      if (ask === askTrino) continue;
      expect(await ask(open, { sql, user: "anonymous", password: "" })).toBe(refusals[name]);
      expect(await ask(open, { sql, password: "alice-secret" })).toBe("0");
    }
  });
});

describe("the metrics", () => {
  it("count refusals by frontend and name nobody", async () => {
    await login(askPg, "alice", "wrong");
    const text = await gateway.metrics();
    expect(text).toMatch(
      /gateway_auth_failures_total\{frontend="postgresWire",reason="auth.refused"\} \d+/,
    );
    expect(text).not.toContain("alice");
    expect(text).not.toContain("mallory");
  });
});

function login(ask: Ask, user: string, password: string): Promise<string> {
  return ask(gateway, { sql: "select 1", user, password });
}

function statement(headers: Record<string, string>): Promise<Response> {
  const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  return fetch(url, { method: "POST", headers, body: "select 1" });
}
