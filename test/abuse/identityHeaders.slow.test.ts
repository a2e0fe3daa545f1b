/** Attack 3: being somebody else by header. Identity comes from the verified credential alone, and links are their owner's. */
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { basicOf } from "../e2e/clients.ts";
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";
import { sendRaw, type RawAnswer } from "./rawRequest.ts";

let gateway: TestGateway;

beforeAll(async () => {
  const alice = { passwordHash: hashSync("alice-secret", 6) };
  const bob = { passwordHash: hashSync("bob-secret", 6) };
  gateway = await gatewayOf(
    configOf({ auth: { provider: "static", staticUsers: { users: { alice, bob } } } }),
  );
});

afterAll(() => gateway[Symbol.asyncDispose]());

const asAlice = ["Authorization", basicOf("alice", "alice-secret")];
const asBob = ["Authorization", basicOf("bob", "bob-secret")];

describe("a request with a verified login", () => {
  it("is served under its own name", async () => {
    const answer = await send("POST", "/v1/statement", asAlice, "select 1");
    expect(answer.status).toBe(200);
    expect(answer.body).toContain("nextUri");
  });

  it.each([
    ["another user's name", ["X-Trino-User", "bob"]],
    ["the name twice", ["X-Trino-User", "alice", "X-Trino-User", "bob"]],
    ["two credentials", asBob],
    ["the name with underscores", ["X_Trino_User", "bob"]],
    ["the older header", ["X-Presto-User", "bob"]],
    ["a Connection header that drops the name", ["Connection", "X-Trino-User"]],
  ])("is refused beside %s", async (_what, more) => {
    const answer = await send("POST", "/v1/statement", [...asAlice, ...more], "select 1");
    expect([400, 401, 403]).toContain(answer.status);
    expect(answer.body).not.toContain("nextUri");
  });

  it("gets no link to a host that Forwarded or X-Forwarded-Host names", async () => {
    const more = ["Forwarded", "host=evil.example", "X-Forwarded-Host", "evil.example"];
    const answer = await send("POST", "/v1/statement", [...asAlice, ...more], "select 1");
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain("evil.example");
  });
});

describe("a request without a right credential", () => {
  it.each([
    ["a name alone", ["X-Trino-User", "alice"]],
    ["an empty password", ["Authorization", basicOf("alice", "")]],
    ["a NUL in the name", ["Authorization", basicOf("alice\0", "alice-secret")]],
    ["a very long name", ["Authorization", basicOf("a".repeat(20_000), "alice-secret")]],
    ["a name of the language", ["Authorization", basicOf("__proto__", "x")]],
    ["a bearer token", ["Authorization", "Bearer alice"]],
  ])("is refused with %s", async (_what, headers) => {
    const answer = await send("POST", "/v1/statement", headers, "select 1");
    expect(answer.status).toBe(401);
  });
});

describe("the next link of a query", () => {
  it("serves nobody but its owner", async () => {
    const first = await send("POST", "/v1/statement", asAlice, "select 4711");
    const { pathname } = new URL((JSON.parse(first.body) as { nextUri: string }).nextUri);
    for (const headers of [asBob, ["X-Trino-User", "alice"], []]) {
      const stolen = await send("GET", pathname, headers);
      expect(stolen.status).toBeGreaterThanOrEqual(400);
      expect(stolen.body).not.toContain("4711");
      const killed = await send("DELETE", pathname, headers);
      expect(killed.status).toBeGreaterThanOrEqual(400);
    }
    const own = await send("GET", pathname, asAlice);
    expect(own.status).toBe(200);
  });
});

/** `headers`: names and values in turn. */
function send(
  method: string,
  path: string,
  headers: readonly string[],
  body = "",
): Promise<RawAnswer> {
  return sendRaw(gateway, { method, path, headers, body });
}
