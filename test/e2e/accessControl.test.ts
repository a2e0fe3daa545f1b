/** Access control from the clients' side, and the statements of its guide. */
import { readFileSync } from "node:fs";
import { hashSync } from "bcryptjs";
import { parseConfig } from "@gateway/gateway/config/load.ts";
import { controlOf } from "@gateway/sql/rig/control.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminOf, type Admin } from "./admin.ts";
import { guidedConfig, policyClient } from "../fake/policyClient.ts";
import { FakeGuardService } from "../fake/guardService.ts";
import { FakePolicyServer } from "../fake/policyServer.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const password = "access-secret";

let gateway: TestGateway;
let admin: Admin;
let service: FakeGuardService;

beforeAll(async () => {
  service = await FakeGuardService.start();
  const user = { passwordHash: hashSync(password, 4) };
  const users = { root: { ...user, groups: ["owners"] }, EU: user };
  const all = ["select", "insert", "update", "delete", "ddl"];
  gateway = await gatewayOf(
    configOf({
      auth: { provider: "static", staticUsers: { users } },
      accessControl: {
        provider: "rules",
        defaultSchema: "main",
        rules: [
          { name: "owners", groups: ["owners"], tables: ["*.*"], actions: all },
          {
            name: "own",
            tables: ["main.orders"],
            rowFilter: "region = ${user}",
            columns: ["id", "region", "email"],
            masks: { email: "'***'" },
          },
          { name: "plain", tables: ["main.plain"], masks: { secret: "'***'" } },
        ],
      },
      catalogProvider: {
        provider: "static",
        tables: { "main.plain": { columns: ["id", "secret"] } },
      },
      guardrails: {
        guards: [
          {
            name: "hook",
            type: "webhook",
            url: service.url,
            statement: "text",
            rewrites: true,
            conditions: [{ type: "queryRegex", regex: "hooked" }],
          },
        ],
      },
    }),
  );
  admin = await adminOf(gateway);
  await using root = await connected("root");
  await root.query(
    "CREATE TABLE main.orders AS SELECT 1 AS id, 'EU' AS region, 'a@b.example' AS email, 9 AS margin UNION ALL SELECT 2, 'US', 'c@d.example', 8",
  );
  await root.query("CREATE TABLE main.plain AS SELECT 1 AS id, 2 AS added, 'a' AS secret");
  await root.query("CREATE TABLE main.margins AS SELECT id, margin FROM main.orders");
}, 60_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

describe("a caller with a rule", () => {
  it("sees its rows and columns, alone, prepared and in a transaction", async () => {
    await using client = await connected("EU");
    const seen = [{ id: 1, region: "EU", email: "***" }];
    const sql = "SELECT * FROM orders WHERE id < $1";
    expect((await client.query("SELECT * FROM orders")).rows).toEqual(seen);
    expect((await client.query({ name: "p", text: sql, values: [9] })).rows).toEqual(seen);
    await client.query("BEGIN");
    expect((await client.query({ name: "p", text: sql, values: [9] })).rows).toEqual(seen);
    await expect(client.query("SELECT * FROM margins")).rejects.toThrow(
      "main.margins is not allowed",
    );
    await client.query("ROLLBACK");
    await expect(client.query("DELETE FROM orders")).rejects.toThrow("is not allowed");
    await expect(client.query("SELECT margin FROM orders")).rejects.toThrow("margin");
  });

  it("sees no more where a guard's web service wrote the statement anew", async () => {
    await using client = await connected("EU");
    service.says = { decision: "rewrite", sql: "SELECT * FROM orders" };
    const seen = [{ id: 1, region: "EU", email: "***" }];
    expect((await client.query("SELECT 'hooked'")).rows).toEqual(seen);
    service.says = { decision: "rewrite", sql: "SELECT * FROM margins" };
    await expect(client.query("SELECT 'hooked'")).rejects.toThrow("main.margins is not allowed");
  });

  it("finds in the catalog what it may read", async () => {
    await using client = await connected("EU");
    const tables =
      "SELECT c.relname, a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE a.attnum > 0 AND n.nspname = 'main' ORDER BY 1, 2";
    const { rows } = await client.query<{ relname: string; attname: string }>(tables);
    expect(rows.map(({ relname, attname }) => `${relname}.${attname}`)).toEqual([
      "orders.email",
      "orders.id",
      "orders.region",
      "plain.id",
      "plain.secret",
    ]);
  });
});

describe("a caller who may see everything", () => {
  it("has all of it", async () => {
    await using root = await connected("root");
    expect((await root.query("SELECT * FROM orders")).rows).toHaveLength(2);
    expect((await root.query("SELECT sum(margin)::int AS m FROM margins")).rows).toEqual([
      { m: 17 },
    ]);
  });
});

async function connected(user: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user, password });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

describe("a mask without a list of columns", () => {
  it("shows the columns that the catalog knows", async () => {
    await using client = await connected("EU");
    const { rows } = await client.query("SELECT * FROM plain");
    expect(rows).toEqual([{ id: 1, secret: "***" }]);
  });
});

describe("the dry run", () => {
  const path = "/admin/access-explain";
  const asked = { user: "EU", dialect: "postgres" };
  const explained = async (more: object) => (await admin("POST", path, { ...asked, ...more })).body;

  it("shows what would run, why, and of which engines it was proven", async () => {
    const sql =
      "SELECT id FROM (SELECT id, region, ('***') AS email FROM (SELECT * FROM main.orders WHERE (region = 'EU')) AS gateway_rows) AS orders";
    expect(await explained({ sql: "SELECT id FROM orders" })).toEqual({
      group: "default",
      decision: "allowed",
      sql,
      tables: [
        {
          table: "main.orders",
          action: "select",
          touched: { named: ["id"], unresolved: [], prefixes: [], all: false },
          decision: "allow",
          rule: "own",
          rowFilter: "region = 'EU'",
          columns: [{ name: "id" }, { name: "region" }, { name: "email", mask: "'***'" }],
        },
      ],
      engines: ["duckdb"],
    });
    expect(await explained({ sql: "SELECT 1 FROM margins", group: "default" })).toMatchObject({
      decision: "denied",
      refusal: { code: "policy.denied", message: expect.stringContaining("main.margins") },
      tables: [{ table: "main.margins", action: "select", decision: "deny" }],
    });
    expect(await explained({ sql: "SELECT nobody_knows(1)" })).toMatchObject({
      decision: "denied",
      refusal: { message: expect.stringContaining("the function nobody_knows") },
      tables: [],
    });
    expect((await admin("POST", path, { sql: "SELECT 1", group: "gone" })).status).toBe(404);
  });

  it("asks the catalog that is saved", async () => {
    const rules = [{ name: "all", tables: ["main.*"], masks: { secret: "0" } }];
    const accessControl = { provider: "rules", defaultSchema: "main", rules, views: "deny" };
    expect(await explained({ sql: "SELECT id FROM plain", accessControl })).toMatchObject({
      decision: "allowed",
      tables: [{ columns: [{ name: "id" }, { name: "secret", mask: "0" }] }],
    });
    expect(await explained({ sql: "SELECT id FROM orders", accessControl })).toMatchObject({
      decision: "denied",
      tables: [{ reason: "masks without a list of columns, which no catalog has" }],
    });
  });

  it("takes a policy that nobody has saved, as a write would take it", async () => {
    const rules = [{ name: "new", tables: ["main.margins"], rowFilter: "id IN ${attributes.ids}" }];
    const accessControl = { provider: "rules", defaultSchema: "main", rules };
    const sql = "SELECT margin FROM margins m";
    const attributes = { ids: ["1", "2"] };
    expect(await explained({ sql, attributes, accessControl })).toMatchObject({
      decision: "allowed",
      sql: "SELECT margin FROM (SELECT * FROM main.margins WHERE (id IN ('1', '2'))) m",
    });
    const elsewhere = { ...accessControl, clusterGroups: ["default"], rules: [] };
    expect(await admin("POST", path, { ...asked, sql, accessControl: elsewhere })).toMatchObject({
      status: 422,
      body: { faults: [{ path: "accessControl.rules" }] },
    });
    // Nothing was saved.
    expect(await explained({ sql: "SELECT 1 FROM margins" })).toMatchObject({ decision: "denied" });
  });

  it("asks a policy server, and says when there is no decision or one that can not be used", async () => {
    await using fake = await FakePolicyServer.start();
    const guided = guidedConfig("data");
    const opa = { ...(guided["opa"] as object), url: fake.url };
    const accessControl = { ...guided, defaultSchema: "main", opa };
    const sql = "SELECT id FROM orders";
    fake.says = { result: { allow: true, rule: "r", rowFilter: "id IN (SELECT 1)" } };
    expect(await explained({ sql, accessControl })).toMatchObject({
      decision: "denied",
      tables: [{ decision: "deny", rule: "r", reason: "a row filter that can not stand" }],
    });
    fake.mood = "failing";
    expect(await explained({ sql, accessControl })).toMatchObject({
      decision: "unavailable",
      refusal: { code: "policy.unavailable" },
      tables: [{ decision: "unavailable" }],
    });
    const kept = { ...accessControl, opa: { ...opa, credentials: { bearer: { set: true } } } };
    expect(await admin("POST", path, { ...asked, sql, accessControl: kept })).toMatchObject({
      status: 422,
    });
  });
});

describe("a policy server", () => {
  it("decides what stands in a statement, and for no longer than its decision holds", async () => {
    await using fake = await FakePolicyServer.start();
    await using client = policyClient("data", fake.url);
    const { policy, host: clocked } = client;
    const nowMs = () => clocked.clock.nowMs();
    const judge = controlOf(guidedConfig("data"), { policy, nowMs });
    const caller = { groups: ["EU"] };
    const sql = "SELECT id FROM orders o";
    fake.says = { result: { allow: true, rowFilter: "region IN ${groups}", columns: ["id"] } };
    const narrowed =
      "SELECT id FROM (SELECT id FROM (SELECT * FROM sales.orders WHERE (region IN ('EU'))) AS gateway_rows) o";
    expect(await judge(sql, caller)).toBe(narrowed);
    fake.mood = "failing";
    expect(await judge(sql, caller)).toBe(narrowed);
    await clocked.advance(5_000);
    const undecided = "denied: The policy server did not say in time what this query may see.";
    expect(await judge(sql, caller)).toBe(undecided);
    fake.mood = "well";
    await clocked.advance(1_000);
    expect(await judge(sql, caller)).toBe(narrowed);
    // Nobody here knows the names of tables, but those of the statement can be taken for a part of it.
    const taken = "WITH orders AS (SELECT 1 AS id FROM sales.orders) SELECT id FROM orders";
    expect(await judge(taken, caller)).toContain("a part of WITH has the name of a table");
    // What may be seen in part can not be written, and what may not be seen gives no hint.
    expect(await judge("DELETE FROM orders", caller)).toContain("not all of it may be seen");
    fake.says = { result: { allow: false } };
    expect(await judge("SELECT * FROM hr.salaries", caller)).toContain("or does not exist");
  });
});

describe("attributes", () => {
  it("stand in a rule as the caller has them, and deny whoever has none", async () => {
    const judge = controlOf({
      rules: [{ name: "a", tables: ["main.t"], rowFilter: "r IN ${attributes.regions}" }],
    });
    const seen = "SELECT 1 FROM (SELECT * FROM main.t WHERE (r IN ('EU', 'US'))) AS t";
    const caller = { attributes: { regions: ["EU", "US"] } };
    expect(await judge("SELECT 1 FROM t", caller)).toBe(seen);
    expect(await judge("SELECT 1 FROM t", { attributes: { regions: "EU" } })).toContain("('EU')");
    expect(await judge("SELECT 1 FROM t")).toContain("is not allowed");
    expect(await judge("SELECT 1 FROM t", { attributes: { regions: "\\" } })).toContain("denied");
  });
});

describe("docs/access-control.md", () => {
  const text = readFileSync(new URL("../../docs/access-control.md", import.meta.url), "utf8");
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
  const rows = [...text.matchAll(/^\| (owners|analysts, EU) +\| `(.+?)` +\| (.+?) +\|$/gm)];
  const parsed = parseConfig(yaml);

  it("has statements to look at", () => {
    expect(rows.length).toBeGreaterThan(7);
    expect(parsed.ok).toBe(true);
  });

  it.each(rows.map(([, caller = "", sql = "", runs = ""]) => [caller, sql, runs] as const))(
    "says of %s what becomes of %s",
    async (caller, sql, runs) => {
      const config = parsed.ok ? parsed.value.accessControl : undefined;
      const judge = controlOf(config ?? {});
      const read = await judge(sql, { groups: caller.split(", "), dialect: "trino" });
      expect(read.startsWith("denied: ") ? "nothing" : `\`${read}\``).toBe(runs);
    },
  );
});
