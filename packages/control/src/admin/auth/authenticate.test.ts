import { describe, expect, it } from "vitest";
import {
  basic,
  cookieOf,
  ourPage,
  people,
  testAdmin,
  userOf,
  type TestAdmin,
} from "../rig/admin.ts";

const { admin: anna, viewer: vera } = people;
const status = "/admin/status";

describe("a Basic login", () => {
  it("lets a right password in and nothing else", async () => {
    const { ask } = await testAdmin();
    const tried = async (headers: Readonly<Record<string, string>>) =>
      (await ask("GET", status, { as: null, headers })).status;
    expect(await tried(basic(anna.name, anna.password))).toBe(200);
    expect(await tried(basic(anna.name, "wrong"))).toBe(401);
    expect(await tried(basic(anna.name, ""))).toBe(401);
    expect(await tried(basic("", anna.password))).toBe(401);
    expect(await tried({ authorization: "Basic ???" })).toBe(401);
    expect(await tried({ authorization: `Basic ${"A".repeat(8_000)}` })).toBe(401);
    expect(
      await tried({ authorization: `Basic ${Buffer.from([97, 58, 255]).toString("base64")}` }),
    ).toBe(401);
    expect(await tried({ authorization: "Digest x" })).toBe(401);
  });

  it("costs an unknown user the same comparison and the same answer as a wrong password", async () => {
    const { json, compared } = await testAdmin();
    const wrong = await json("GET", status, { as: null, headers: basic(anna.name, "wrong") });
    const unknown = await json("GET", status, { as: null, headers: basic("nobody", "wrong") });
    expect(compared()).toBe(2);
    expect(unknown.body).toEqual(wrong.body);
  });

  it("is compared once a minute, and again as soon as the user changed", async () => {
    const { ask, host, store, compared } = await testAdmin();
    for (let count = 0; count < 3; count += 1) await ask("GET", status);
    expect(compared()).toBe(1);
    await host.advance(60_001);
    await ask("GET", status);
    expect(compared()).toBe(2);
    const changed = { ...userOf(anna.name, "admin", "another-password"), version: 2 };
    await store.users.put(changed, 1);
    expect((await ask("GET", status)).status).toBe(401);
    expect(compared()).toBe(3);
  });

  it("of a disabled user is refused, also when it was remembered", async () => {
    const { ask, store } = await testAdmin();
    expect((await ask("GET", status, { as: "viewer" })).status).toBe(200);
    const disabled = { ...userOf(vera.name, "viewer", vera.password), version: 2, disabled: true };
    await store.users.put(disabled, 1);
    expect((await ask("GET", status, { as: "viewer" })).status).toBe(401);
  });

  it("counts refused logins, and logs none of the names", async () => {
    const { ask, host } = await testAdmin();
    await ask("GET", status, { as: null, headers: basic("tippfehler", "wrong") });
    const labels = { frontend: "adminApi", reason: "auth.refused" };
    expect(host.metrics.value("gateway_auth_failures_total", labels)).toBe(1);
    expect(JSON.stringify(host.log.lines)).not.toContain("tippfehler");
  });
});

describe("wrong passwords", () => {
  it("are slowed down after a burst, and a right one still gets in", async () => {
    const admin = await testAdmin();
    await wrongLogins(admin, 10, "192.0.2.7");
    const late = admin.json("GET", status, { ...wrongAt("192.0.2.7") });
    await admin.host.advance(1_999);
    expect(admin.compared()).toBe(10);
    await admin.host.advance(1);
    const answer = await late;
    expect([answer.status, answer.headers.has("retry-after")]).toEqual([429, true]);
    const right = admin.ask("GET", status, { address: "192.0.2.7" });
    await admin.host.advance(2_000);
    expect((await right).status).toBe(200);
  });

  it("of one address do not slow others who are somebody else", async () => {
    const admin = await testAdmin();
    await wrongLogins(admin, 10, "192.0.2.7");
    expect((await admin.ask("GET", status, { as: "viewer", address: "192.0.2.8" })).status).toBe(
      200,
    );
  });

  it("for one user from everywhere slow the next try for that user and refuse no right one", async () => {
    const admin = await testAdmin();
    for (let count = 0; count < 10; count += 1) await wrongLogins(admin, 1, `198.51.100.${count}`);
    const right = admin.ask("GET", status, { address: "192.0.2.8" });
    await admin.host.settle();
    expect(admin.compared()).toBe(10);
    await admin.host.advance(2_000);
    expect((await right).status).toBe(200);
    expect((await admin.ask("GET", status, { as: "viewer" })).status).toBe(200);
  });

  it("that come all at once are refused beyond a few that wait", async () => {
    const admin = await testAdmin();
    await wrongLogins(admin, 10, "192.0.2.7");
    const all = Array.from({ length: 20 }, () => admin.json("GET", status, wrongAt("192.0.2.7")));
    await admin.host.advance(2_000);
    const statuses = (await Promise.all(all)).map((answer) => answer.status);
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(admin.compared()).toBe(14);
  });
});

describe("a session", () => {
  it("has a cookie that no script and no other site gets, and the store only its hash", async () => {
    const { ask, store } = await testAdmin();
    const login = await ask("POST", "/admin/login", { as: null, json: anna });
    const cookie = login.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-gateway-session=[A-Za-z0-9_-]{43};/);
    for (const part of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", "Max-Age=43200"]) {
      expect(cookie).toContain(part);
    }
    const sessions = await store.users.sessions({ limit: 10, cursor: undefined });
    const value = cookieOf(login).cookie.split("=")[1] ?? "";
    expect(JSON.stringify(sessions)).not.toContain(value);
    const clear = { as: null, json: anna, headers: { "x-test-clear": "yes" } };
    const inClear = (await ask("POST", "/admin/login", clear)).headers.get("set-cookie") ?? "";
    expect(inClear).toMatch(/^gateway-session=/);
    expect(inClear).not.toContain("Secure");
  });

  it("ends by logout, and after its age however busy it is", async () => {
    const admin = await testAdmin();
    const asked: number[] = [];
    const cookie = await loggedIn(admin);
    const read = async () =>
      (await admin.ask("GET", "/admin/me", { as: null, headers: cookie })).status;
    expect(await read()).toBe(200);
    await admin.ask("POST", "/admin/logout", { as: null, headers: { ...cookie, ...ourPage } });
    expect(await read()).toBe(401);
    const busy = await loggedIn(admin);
    for (let count = 0; count < 36; count += 1) {
      await admin.host.advance(20 * 60_000);
      asked.push((await admin.ask("GET", "/admin/me", { as: null, headers: busy })).status);
    }
    expect(asked.slice(0, 35)).toEqual(asked.slice(0, 35).fill(200));
    expect(asked.at(-1)).toBe(401);
  });

  it("ends when nobody used it for half an hour", async () => {
    const admin = await testAdmin();
    const cookie = await loggedIn(admin);
    await admin.host.advance(30 * 60_000 + 1);
    expect((await admin.ask("GET", "/admin/me", { as: null, headers: cookie })).status).toBe(401);
  });

  it("ends with a new password or role of its user", async () => {
    const admin = await testAdmin();
    const login = await admin.ask("POST", "/admin/login", { as: null, json: vera });
    const match = { headers: { "if-match": '"1"' } };
    await admin.ask("PUT", `/admin/users/${vera.name}`, { ...match, json: { role: "operator" } });
    const headers = cookieOf(login);
    expect((await admin.ask("GET", "/admin/me", { as: null, headers })).status).toBe(401);
  });

  it("may write only from our own page, and only as JSON", async () => {
    const admin = await testAdmin();
    const cookie = await loggedIn(admin);
    const json = { "content-type": "application/json" };
    const write = async (headers: Readonly<Record<string, string>>) => {
      const all = { ...cookie, ...headers };
      return (await admin.ask("POST", "/admin/queries/none/cancel", { as: null, headers: all }))
        .status;
    };
    expect(await write(json)).toBe(403);
    expect(await write({ ...json, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await write({ ...json, "sec-fetch-site": "same-site" })).toBe(403);
    expect(await write({ ...json, origin: "http://evil.example", host: "control" })).toBe(403);
    expect(await write({ ...json, origin: "null", host: "control" })).toBe(403);
    expect(await write({ "sec-fetch-site": "same-origin", "content-type": "text/plain" })).toBe(
      415,
    );
    expect(await write({ "sec-fetch-site": "same-origin" })).toBe(415);
    expect(await write({ ...json, "sec-fetch-site": "same-origin" })).toBe(404);
    expect(await write({ ...json, "sec-fetch-site": "none" })).toBe(404);
    expect(await write({ ...json, origin: "http://control", host: "control" })).toBe(404);
  });

  it("can be begun, and a Basic login be used, by no page of another site", async () => {
    const { ask } = await testAdmin();
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await ask("POST", "/admin/login", { as: null, json: anna, headers })).status).toBe(403);
    expect((await ask("POST", "/admin/config/new-epoch", { headers })).status).toBe(403);
  });

  it("makes no browser ask for a password by itself", async () => {
    const { ask } = await testAdmin();
    const browser = await ask("GET", status, { as: null, headers: { "sec-fetch-site": "none" } });
    expect(browser.headers.get("www-authenticate")).toBe("Session");
    const tool = await ask("GET", status, { as: null });
    expect(tool.headers.get("www-authenticate")).toContain("Basic");
  });
});

describe("while the database is down", () => {
  it("whoever was confirmed within the last minute reads configuration, and nobody writes", async () => {
    const admin = await testAdmin();
    await admin.ask("PUT", "/admin/clusters/a", {
      headers: { "if-none-match": "*" },
      json: { engine: "duckDb" },
    });
    const cookie = await loggedIn(admin);
    await admin.ask("GET", "/admin/me", { as: null, headers: cookie });
    await admin.host.advance(30_000);
    admin.cut(true);
    await admin.deps.config.refresh();
    const read = await admin.json("GET", "/admin/clusters/a");
    expect([read.status, read.headers.get("gateway-config-age")]).toEqual([200, "30"]);
    expect(read.headers.get("warning")).toContain("110");
    expect((await admin.ask("GET", "/admin/clusters", { as: null, headers: cookie })).status).toBe(
      200,
    );
    const put = { headers: { "if-match": '"1"' }, json: { engine: "duckDb", poolSize: 2 } };
    const write = await admin.ask("PUT", "/admin/clusters/a", put);
    expect([write.status, write.headers.get("retry-after")]).toEqual([503, "5"]);
    for (const path of [
      "users",
      "sessions",
      "workers",
      "queries",
      "queries/running",
      "audit",
      "revisions",
    ]) {
      const answer = await admin.ask("GET", `/admin/${path}`);
      expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 503, "5"]);
    }
    expect((await admin.ask("GET", status, { as: "viewer" })).status).toBe(503);
    expect((await admin.ask("POST", "/admin/login", { as: null, json: anna })).status).toBe(503);
    await admin.host.advance(60_001);
    expect((await admin.ask("GET", "/admin/clusters")).status).toBe(503);
    admin.cut(false);
    expect((await admin.ask("GET", "/admin/clusters")).status).toBe(200);
  });
});

async function loggedIn({ ask }: TestAdmin): Promise<{ readonly cookie: string }> {
  return cookieOf(await ask("POST", "/admin/login", { as: null, json: anna }));
}

function wrongAt(address: string) {
  return { as: null, headers: basic(anna.name, "wrong"), address } as const;
}

async function wrongLogins({ ask }: TestAdmin, count: number, address: string): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    expect((await ask("GET", status, wrongAt(address))).status).toBe(401);
  }
}
