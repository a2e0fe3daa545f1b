/** Attack 3 by every header at once: whatever is sent beside, instead of or around a credential, nobody becomes anybody else. */
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { basicOf } from "../e2e/clients.ts";
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";
import { sendRaw, type RawAnswer } from "./rawRequest.ts";

let gateway: TestGateway;

beforeAll(async () => {
  const users = Object.fromEntries(
    ["alice", "bob"].map((name) => [name, { passwordHash: hashSync(`${name}-secret`, 4) }]),
  );
  const groupOf = (name: string) => ({
    members: ["local"],
    maxRunningQueries: 4,
    authorization: { allowUsers: [name] },
  });
  gateway = await gatewayOf(
    configOf({
      auth: { provider: "static", staticUsers: { users } },
      // Where a query lands tells whose it was.
      clusterGroups: { alices: groupOf("alice"), bobs: { ...groupOf("bob"), maxRows: 1 } },
      routingFallback: "alices",
    }),
  );
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** Headers by which some gateway, proxy or library somewhere takes a name. */
const nameHeaders: readonly string[] = [
  ["X-Trino-User", "X-Presto-User", "X-Trino-Original-User", "X_Trino_User", "X-Trino_User"],
  ["x-trino-user", "X-TRINO-USER", "X-Trino-Original-Roles", "X-Trino-Role", "X-Remote-User"],
  ["Remote-User", "REMOTE_USER", "X-Forwarded-User", "X-Forwarded-Email", "X-Auth-User"],
  ["X-Auth-Request-User", "X-Auth-Request-Email", "X-User", "X-Username", "X-User-Id"],
  ["X-WebAuth-User", "X-Authenticated-User", "X-Goog-Authenticated-User-Email"],
  ["X-MS-Client-Principal-Name", "X-Amzn-Oidc-Identity", "X-Amzn-Oidc-Data", "X-Client-Cert"],
  ["X-SSL-Client-CN", "X-Forwarded-Client-Cert", "SSL_CLIENT_S_DN", "X-Original-User"],
  ["X-ClickHouse-User", "X-Trino-Extra-Credential", "Cookie", "Authentication", "From"],
  ["Proxy-Authorization", "X-Authorization", "Impersonate-User", "X-Forwarded-Access-Token"],
].flat();
const bobs = ["bob", "Basic " + btoa("bob:bob-secret"), "user=bob", " bob", "bob, alice"] as const;

const asAlice: readonly string[] = ["Authorization", basicOf("alice", "alice-secret")];

/** Beside alice's login: she stays herself, or the request is refused. */
const beside: readonly (readonly string[])[] = nameHeaders.flatMap((name) =>
  bobs.map((value) => [...asAlice, name, value]),
);

/** Instead of a login: always refused. */
const instead: readonly (readonly string[])[] = [
  ...nameHeaders.map((name) => [name, "bob"]),
  ...nameHeaders.map((name) => [name, basicOf("bob", "bob-secret")]),
  ["Authorization", ""],
  ["Authorization", " "],
  ["Authorization", "Basic"],
  ["Authorization", "Basic "],
  ["Authorization", "basic =="],
  ["Authorization", "Basic bob:bob-secret"],
  ["Authorization", `Basic ${btoa("bob")}`],
  ["Authorization", `Basic ${btoa(":bob-secret")}`],
  ["Authorization", `Basic ${btoa("bob:")}`],
  ["Authorization", `Basic ${btoa("bob:wrong")}`],
  ["Authorization", `Basic ${btoa("bob\0:bob-secret")}`],
  ["Authorization", `Basic ${btoa("bob :bob-secret")}`],
  ["Authorization", `Basic ${btoa("BOB:bob-secret")}`],
  ["Authorization", `Basic ${btoa("bob:bob-secret\n")}`],
  ["Authorization", `Basic ${btoa("bob:bob-secret")}, Basic x`],
  ["Authorization", `Basic ${btoa("bob:bob-secret")}!`],
  ["Authorization", `Basic %20${btoa("bob:bob-secret")}`],
  ["Authorization", `Basic=${btoa("bob:bob-secret")}`],
  ["Authorization", `Digest username="bob"`],
  ["Authorization", "Negotiate Ym9i"],
  ["Authorization", "NTLM Ym9i"],
  ["Authorization", "Bearer bob"],
  ["Authorization", `Bearer ${btoa("bob:bob-secret")}`],
  ["Authorization", "AWS4-HMAC-SHA256 Credential=bob"],
  ["Authorization", basicOf("__proto__", "x")],
  ["Authorization", basicOf("constructor", "x")],
  ["Authorization", basicOf("anonymous", "")],
  ["X-Authorization", basicOf("bob", "bob-secret"), "X-Trino-User", "bob"],
];

describe("headers", () => {
  it("number at least two hundred", () => {
    expect(beside.length + instead.length).toBeGreaterThanOrEqual(200);
  });

  it("beside a login make nobody another user", async () => {
    const outcomes = new Map<string, number>();
    const odd: (readonly string[])[] = [];
    for (const headers of beside) {
      const outcome = await outcomeOf(headers);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome !== "alice" && outcome !== "refused") odd.push(headers);
    }
    expect(odd).toEqual([]);
    // Neither answer stands for all of them, so that each was really looked at.
    expect(outcomes.get("alice") ?? 0).toBeGreaterThan(50);
    expect(outcomes.get("refused") ?? 0).toBeGreaterThan(5);
  });

  it("instead of a login let nobody in", async () => {
    const odd: (readonly string[])[] = [];
    for (const headers of instead) {
      if ((await outcomeOf(headers)) !== "refused") odd.push(headers);
    }
    expect(odd).toEqual([]);
  });

  it("do not stop those who come with a right login", async () => {
    expect(await outcomeOf(asAlice)).toBe("alice");
    expect(await outcomeOf(["Authorization", basicOf("bob", "bob-secret")])).toBe("bob");
  });
});

/** Who the query ran as, by its group's limit of rows, or that it was refused before. */
async function outcomeOf(headers: readonly string[]): Promise<"alice" | "bob" | "refused"> {
  const first = await send("POST", "/v1/statement", headers, "select i from range(2) t(i)");
  if (first.status !== 200) return "refused";
  let page = JSON.parse(first.body) as { nextUri?: string; error?: unknown };
  while (page.nextUri !== undefined) {
    const { pathname } = new URL(page.nextUri);
    const next = await send("GET", pathname, headers);
    if (next.status !== 200) return "refused";
    page = JSON.parse(next.body) as { nextUri?: string; error?: unknown };
  }
  return page.error === undefined ? "alice" : "bob";
}

/** `headers`: names and values in turn. */
function send(
  method: string,
  path: string,
  headers: readonly string[],
  body = "",
): Promise<RawAnswer> {
  return sendRaw(gateway, { method, path, headers, body });
}
