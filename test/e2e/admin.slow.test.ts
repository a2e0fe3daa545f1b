/** The admin API of a running gateway: what it writes, the next query feels; what ran, it tells. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminAt, adminOf, adminUrl, ask } from "./admin.ts";
import { askPg } from "./clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-admin-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the admin API", () => {
  it("lets nobody in before the first administrator, who is made once by the printed token", async () => {
    await using gateway = await gatewayOf(configOf());
    const url = adminUrl(gateway);
    expect((await ask(url, { method: "GET", path: "/admin/clusters" })).status).toBe(401);
    const setup = { method: "POST", path: "/admin/setup" };
    const guess = { token: "A".repeat(43), name: "root", password: "correct horse battery" };
    expect((await ask(url, { ...setup, body: guess })).status).toBe(403);
    const admin = await adminOf(gateway);
    expect((await admin("GET", "/admin/me")).body).toMatchObject({ name: "root", role: "admin" });
    const again = { ...guess, token: gateway.running.setupToken };
    expect((await ask(url, { ...setup, body: again })).status).toBe(403);
  });

  it("changes where the next query goes, without a restart", async () => {
    await using gateway = await gatewayOf(configOf());
    const admin = await adminOf(gateway);
    expect(await askPg(gateway, { sql: "select 1" })).toBe("1");
    const { body, etag } = await admin("GET", "/admin/groups/default");
    const group = { ...(body as { body: object }).body, maxRows: 1 };
    const match = { "if-match": etag };
    const put = await admin("PUT", "/admin/groups/default", group, match);
    expect(put.status).toBe(200);
    await until(async () => (await askPg(gateway, { sql: "from range(2)" })) !== "0");
    expect((await admin("PUT", "/admin/groups/default", group, match)).status).toBe(412);
    expect((await admin("PUT", "/admin/groups/default", group)).status).toBe(428);
  });

  it("ends the sessions of a user who is gone, also inside a transaction", async () => {
    const entry = { passwordHash: hashSync("ann-secret", 4) };
    const users = (names: readonly string[]) => ({
      provider: "static",
      staticUsers: { users: Object.fromEntries(names.map((name) => [name, entry])) },
    });
    await using gateway = await gatewayOf(configOf({ auth: users(["ann", "bob"]) }));
    const admin = await adminOf(gateway);
    const [ann, open, bob] = await Promise.all([
      connected(gateway, "ann"),
      connected(gateway, "ann"),
      connected(gateway, "bob"),
    ]);
    await open.query("begin");
    const { etag } = await admin("GET", "/admin/settings/auth");
    const put = await admin("PUT", "/admin/settings/auth", users(["bob"]), { "if-match": etag });
    expect(put.status).toBe(200);
    await until(async () => (await codeOf(ann)) === "28000");
    expect(await codeOf(open)).toBe("28000");
    expect(await codeOf(bob)).toBe("none");
    await Promise.all([ann, open, bob].map((client) => client.end()));
  });

  it("refuses what could not work, and everything goes on as it was", async () => {
    await using gateway = await gatewayOf(configOf());
    const admin = await adminOf(gateway);
    const group = { members: ["gone"], maxRunningQueries: 1 };
    const refused = await admin("PUT", "/admin/groups/new", group, { "if-none-match": "*" });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).toContain("members[0]");
    const cluster = { engine: "duckDb", databasePath: "/etc/passwd" };
    const outside = await admin("PUT", "/admin/clusters/new", cluster, { "if-none-match": "*" });
    expect(outside.status).toBe(422);
    expect(JSON.stringify(outside.body)).toContain("gateway.files.allow");
    expect(await askPg(gateway, { sql: "select 1" })).toBe("1");
  });

  it("tells what ran, with its way, and what runs, and ends it", async () => {
    await using gateway = await gatewayOf(configOf());
    const admin = await adminOf(gateway);
    expect(await askPg(gateway, { sql: "select 40 + 2" })).toBe("42");
    const found = await until(async () => {
      const { body } = await admin("GET", "/admin/queries?user=alice");
      return (body as { items: { proxyQueryId: string; sql: string }[] }).items[0];
    });
    expect(found.sql).toBe("select 40 + 2");
    const detail = await admin("GET", `/admin/queries/${found.proxyQueryId}`);
    expect(JSON.stringify(detail.body)).toContain("fallback");

    const endless =
      "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
    const answer = askPg(gateway, { sql: endless });
    const running = await until(async () => {
      const { body } = await admin("GET", "/admin/queries/running");
      return (body as { items: { id: string; state: string }[] }).items.find(
        ({ state }) => state === "running",
      );
    });
    expect((await admin("POST", `/admin/queries/${running.id}/cancel`, {})).status).toBeLessThan(
      300,
    );
    expect(await answer).toBe("57014");
  });

  it("keeps everything in the embedded database, which wins over the file after a restart", async () => {
    const config = { gateway: withDatabase(join(folder, "db")) };
    {
      await using gateway = await gatewayOf({ ...configOf(), ...config });
      const admin = await adminOf(gateway);
      const { body, etag } = await admin("GET", "/admin/groups/default");
      const group = { ...(body as { body: object }).body, maxRows: 1 };
      const put = await admin("PUT", "/admin/groups/default", group, { "if-match": etag });
      expect(put.status).toBe(200);
      expect(await askPg(gateway, { sql: "select 7" })).toBe("7");
    }
    await using gateway = await gatewayOf({ ...configOf(), ...config });
    expect(gateway.running.setupToken).toBeUndefined();
    expect(await askPg(gateway, { sql: "from range(2)" })).toBe("54000");
    const history = await adminAt(adminUrl(gateway))("GET", "/admin/queries");
    expect(JSON.stringify(history.body)).toContain("select 7");
  }, 60_000);
});

function withDatabase(path: string): object {
  const { gateway } = configOf() as { gateway: object };
  return { ...gateway, persistence: { type: "pglite", path } };
}

async function until<Value>(look: () => Promise<Value>): Promise<NonNullable<Value> & Value> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value;
  }
}

async function connected(gateway: TestGateway, user: string): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host: "127.0.0.1", port, user, password: "ann-secret" });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function codeOf(client: pg.Client): Promise<string> {
  try {
    await client.query("select 1");
    return "none";
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}
