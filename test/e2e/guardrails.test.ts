/** Guard rails from the clients' side, over every protocol: what is refused, what is limited, and who is warned. */
import { createClient } from "@clickhouse/client";
import { connectSdk } from "@gateway/frontends/snowflake/rig/sdk.ts";
import { FlightClient } from "@gateway/frontends/flightSql/rig/client.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import fc from "fast-check";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "../cases.ts";
import { FakeGuardService } from "../fake/guardService.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
/** Whose statements no guard judges. */
const free = "root";

const guards = [
  {
    name: "reportsOnlyRead",
    type: "readOnly",
    clusterGroups: ["guarded"],
    message: "Reports only read.",
  },
  {
    name: "ordersByDay",
    type: "requirePredicate",
    clusterGroups: ["guarded"],
    tables: ["main.orders"],
    columns: ["day"],
  },
  { name: "few", type: "rowLimit", action: "rewrite", clusterGroups: ["guarded"], maxRows: 3 },
  {
    name: "noCross",
    type: "queryRegex",
    action: "warn",
    clusterGroups: ["guarded"],
    regex: "\\bcross\\s+join\\b",
    message: "Cross joins are slow here.",
  },
];

/** Asked about statements that have `hooked` in their text. */
const hook = {
  name: "hook",
  type: "webhook",
  clusterGroups: ["guarded"],
  conditions: [{ type: "queryRegex", regex: "hooked" }],
  statement: "text",
  stages: ["before", "after"],
  rewrites: true,
  timeoutMs: 60_000,
};

function saidOf({ stage, statement }: { stage: string; statement: { text: string } }): object {
  const { text } = statement;
  if (text.includes("hooked no")) return { decision: "deny", message: "The service says no." };
  if (stage === "after") {
    return text.includes("hooked late")
      ? { decision: "deny", message: "Not on this engine." }
      : { decision: "allow" };
  }
  if (text.includes("hooked one")) return { decision: "rewrite", sql: "SELECT 1 AS a" };
  if (text.includes("hooked bare")) return { decision: "rewrite", sql: "SELECT id FROM orders" };
  return { decision: text.includes("hooked warn") ? "warn" : "allow", message: "Slow." };
}

let gateway: TestGateway;
let service: FakeGuardService;

beforeAll(async () => {
  service = await FakeGuardService.start();
  service.says = (asked: Parameters<typeof saidOf>[0]) => {
    const { message, decision, ...rest } = saidOf(asked) as Readonly<Record<string, unknown>>;
    return { decision, ...rest, ...(decision !== "allow" && message !== undefined && { message }) };
  };
  const listener = { host, port: 0 };
  gateway = await gatewayOf(
    configOf({
      gateway: {
        frontends: {
          trinoHttp: listener,
          postgresWire: listener,
          mysqlWire: listener,
          flightSql: listener,
          snowflakeHttp: listener,
          clickhouseHttp: listener,
          mcp: listener,
        },
        adminApi: listener,
        persistence: { type: "inMemory" },
      },
      clusterGroups: {
        guarded: { members: ["local"], maxRunningQueries: 4 },
        free: { members: ["local"], maxRunningQueries: 4 },
      },
      routers: [{ type: "userGroup", userToGroup: { [free]: "free" } }],
      routingFallback: "guarded",
      guardrails: { guards: [...guards, { ...hook, url: `${service.url}/judge` }] },
    }),
  );
  const made = await byPostgres(
    "CREATE TABLE orders AS SELECT i AS id, 1 AS day FROM range(100) r(i)",
    free,
  );
  if (made.error !== undefined) throw new Error(made.error);
}, 60_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** What a client saw. */
interface Seen {
  readonly rows: number;
  readonly error?: string | undefined;
  readonly warnings?: readonly string[];
}

type Ask = (sql: string) => Promise<Seen>;

const protocols: readonly (readonly [name: string, ask: Ask])[] = [
  ["PostgreSQL", byPostgres],
  ["MySQL", byMysql],
  ["Trino", byTrino],
  ["Flight SQL", byFlight],
  ["Snowflake", bySnowflake],
  ["ClickHouse", byClickHouse],
  ["MCP", byMcp],
];

describe.each(protocols)("a client of %s", (_name, ask) => {
  it("is refused a statement that writes, in the configuration's words", async () => {
    const { error } = await ask("DROP TABLE orders");
    expect(error).toMatch(/Reports only read\.|Agents may only read/);
  });

  it("reads a guarded table with its condition only", async () => {
    expect((await ask("SELECT id FROM orders WHERE day = 1 AND id < 2")).rows).toBe(2);
    const bare = await ask("SELECT id FROM orders o WHERE o.day = 1 OR id = 5");
    expect(bare.error).toContain("orders is read here");
    expect(
      (await ask("SELECT count(*) FROM (SELECT * FROM orders) x WHERE day = 1")).error,
    ).toContain("orders");
  });

  it("gets no more rows than are allowed, and an honest end", async () => {
    expect(await ask("SELECT id FROM orders WHERE day = 1 ORDER BY id")).toMatchObject({
      rows: 3,
      error: undefined,
    });
    expect((await ask("SELECT id FROM orders WHERE day = 1 LIMIT 2")).rows).toBe(2);
    expect((await ask("SELECT 1 LIMIT 5 + 5")).error).toContain("LIMIT");
  });

  it("gets what a web service says of its statement, before and behind the slot", async () => {
    expect((await ask("SELECT 'hooked no' AS a")).error).toContain("The service says no.");
    expect((await ask("SELECT 'hooked late' AS a")).error).toContain("Not on this engine.");
    const two = (what: string) => `SELECT '${what}' AS a UNION ALL SELECT 'b'`;
    expect((await ask(two("hooked"))).rows).toBe(2);
    expect((await ask(two("hooked one"))).rows).toBe(1);
    // What a service wrote is guarded like what a client wrote.
    expect((await ask("SELECT 'hooked bare' AS a")).error).toContain("orders is read here");
  });
});

describe("a web service of a guard", () => {
  it("is asked inside of a transaction as well, and warns", async () => {
    await using client = await postgres("ann");
    const warnings: string[] = [];
    client.on("notice", ({ message }) => void warnings.push(message ?? ""));
    await client.query("BEGIN");
    await expect(client.query("SELECT 'hooked late'")).rejects.toThrow("Not on this engine.");
    await client.query("ROLLBACK");
    await client.query("BEGIN");
    expect((await client.query("SELECT 'hooked warn'")).rows).toHaveLength(1);
    expect(warnings).toEqual(["Slow. (guard hook)"]);
    await client.query("ROLLBACK");
  });

  it("is let go where the client leaves while it is asked, and refuses where it fails", async () => {
    const hungUp = service.hungUp(1);
    service.mood = "silent";
    const arrived = service.arrived(service.asked.length + 1);
    const leaving = await postgres("ann");
    leaving.on("error", () => {});
    const asked = leaving.query("SELECT 'hooked'").catch(() => "gone");
    await arrived;
    leaving.connection.stream.destroy();
    await hungUp;
    expect(await asked).toBe("gone");
    service.mood = "failing";
    expect((await byPostgres("SELECT 'hooked'")).error).toContain("guard hook");
    service.mood = "well";
    expect((await byPostgres("SELECT 'hooked'")).rows).toBe(1);
  });
});

describe("a LIMIT that was written in", () => {
  const ordered = fc.record({
    body: fc.constantFrom(
      "SELECT id FROM orders WHERE day = 1",
      "WITH a AS (SELECT id FROM orders WHERE day = 1 ORDER BY id LIMIT 50) SELECT id FROM a",
      "SELECT id FROM orders WHERE day = 1 AND id < 5 UNION ALL SELECT id + 100 FROM orders WHERE day = 1 AND id < 5",
      "SELECT i AS id FROM (VALUES (3), (1), (2), (5), (4)) v(i)",
      "SELECT DISTINCT id % 7 AS id FROM orders WHERE day = 1",
      "SELECT max(id) AS id FROM orders WHERE day = 1 GROUP BY id % 5",
      "(SELECT id FROM orders WHERE day = 1) EXCEPT (SELECT 0)",
    ),
    limit: fc.option(fc.nat(8)),
    offset: fc.option(fc.nat(5)),
    end: fc.constantFrom("", ";", " -- end", " /* end */ ;"),
  });

  it("gives the first rows of what the query gives without it", async () => {
    await using guarded = await postgres("ann");
    await using open = await postgres(free);
    await fc.assert(
      fc.asyncProperty(ordered, async ({ body, limit, offset, end }) => {
        const rest = `${limit === null ? "" : ` LIMIT ${limit}`}${offset === null ? "" : ` OFFSET ${offset}`}`;
        const sql = `${body} ORDER BY 1${rest}${end}`;
        const all = await open.query<{ id: unknown }>(sql);
        const few = await guarded.query<{ id: unknown }>(sql);
        expect(few.rows).toEqual(all.rows.slice(0, 3));
      }),
      { numRuns: casesOf(20, 600) },
    );
  });
});

describe("a guard that only warns", () => {
  const sql = "SELECT 1 AS a FROM (SELECT 1) x CROSS JOIN (SELECT 2) y";
  const warning = "Cross joins are slow here. (guard noCross)";

  it.each([
    ["PostgreSQL", byPostgres],
    ["MySQL", byMysql],
    ["Trino", byTrino],
    ["MCP", byMcp],
  ] as const)("lets the statement run, and tells a client of %s", async (_name, ask) => {
    expect(await ask(sql)).toEqual({ rows: 1, error: undefined, warnings: [warning] });
  });
});

describe("a transaction", () => {
  it("is guarded like statements alone, and tells its warnings", async () => {
    await using client = await postgres("ann");
    await client.query("BEGIN");
    expect((await client.query("SELECT id FROM orders WHERE day = 1")).rows).toHaveLength(3);
    await expect(client.query("DELETE FROM orders")).rejects.toThrow("Reports only read.");
    await client.query("ROLLBACK");
    expect(
      (await client.query("SELECT count(*)::int AS n FROM orders WHERE day = 1")).rows,
    ).toEqual([{ n: 100 }]);
  });

  it("describes what it will run, with the LIMIT", async () => {
    await using client = await postgres("ann");
    const prepared = { name: "p", text: "SELECT id FROM orders WHERE day = $1::int", values: [1] };
    expect((await client.query(prepared)).rows).toHaveLength(3);
    expect((await client.query(prepared)).rows).toHaveLength(3);
  });
});

async function postgres(user: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function seen(asked: () => Promise<Seen>): Promise<Seen> {
  try {
    return await asked();
  } catch (error) {
    return { rows: 0, error: error instanceof Error ? error.message : String(error) };
  }
}

async function byPostgres(sql: string, user = "ann"): Promise<Seen> {
  await using client = await postgres(user);
  const warnings: string[] = [];
  client.on("notice", ({ message }) => void warnings.push(message ?? ""));
  return await seen(async () => {
    const { rows } = await client.query(sql);
    return { rows: rows.length, error: undefined, warnings };
  });
}

async function byMysql(sql: string): Promise<Seen> {
  const client = await mysql.createConnection({
    host,
    port: portOf(gateway, "mysqlWire"),
    user: "ann",
  });
  const asked = await seen(async () => {
    const [rows] = await client.query<mysql.RowDataPacket[]>(sql);
    const [warnings] = await client.query<mysql.RowDataPacket[]>("SHOW WARNINGS");
    const texts = warnings.map(({ Message }) => String(Message));
    return { rows: rows.length, error: undefined, warnings: texts };
  });
  await client.end();
  return asked;
}

interface TrinoPage {
  readonly nextUri?: string;
  readonly error?: { readonly message: string };
  readonly data?: readonly unknown[];
  readonly warnings?: readonly { readonly message: string }[];
}

async function byTrino(sql: string): Promise<Seen> {
  const headers = { "x-trino-user": "ann" };
  const first = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  let answer = await fetch(first, { method: "POST", body: sql, headers });
  let rows = 0;
  const warnings = new Set<string>();
  for (;;) {
    const page = (await answer.json()) as TrinoPage;
    rows += page.data?.length ?? 0;
    for (const { message } of page.warnings ?? []) warnings.add(message);
    if (page.nextUri === undefined) {
      return { rows, error: page.error?.message, warnings: [...warnings] };
    }
    answer = await fetch(page.nextUri, { headers });
  }
}

async function byFlight(sql: string): Promise<Seen> {
  const client = await FlightClient.connect(portOf(gateway, "flightSql"), { user: "ann" });
  const asked = await seen(async () => ({
    rows: (await client.query(sql)).table.numRows,
    error: undefined,
  }));
  client.destroy();
  return asked;
}

async function bySnowflake(sql: string): Promise<Seen> {
  const client = await connectSdk(portOf(gateway, "snowflakeHttp"), { user: "ann" });
  const asked = await seen(async () => ({
    rows: (await client.query(sql)).rows.length,
    error: undefined,
  }));
  await client.close();
  return asked;
}

async function byClickHouse(query: string): Promise<Seen> {
  const client = createClient({
    url: `http://${host}:${portOf(gateway, "clickhouseHttp")}`,
    username: "ann",
    log: { level: 127 },
  });
  const asked = await seen(async () => {
    const answer = await client.query({ query, format: "JSONEachRow" });
    return { rows: (await answer.json()).length, error: undefined };
  });
  await client.close();
  return asked;
}

interface Told {
  readonly rows?: readonly unknown[];
  readonly error?: { readonly message: string };
  readonly notices?: readonly string[];
}

async function byMcp(sql: string): Promise<Seen> {
  const url = new URL(`http://${host}:${portOf(gateway, "mcp")}/mcp`);
  const client = new Client({ name: "guarded", version: "1.0" });
  await client.connect(new StreamableHTTPClientTransport(url));
  const answer = await client.callTool({ name: "execute_query", arguments: { sql } });
  await client.close();
  const { rows = [], error, notices } = answer.structuredContent as Told;
  return { rows: rows.length, error: error?.message, warnings: notices ?? [] };
}
