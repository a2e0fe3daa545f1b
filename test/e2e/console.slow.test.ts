/** The admin API as the web console asks it, over real HTTP: a query under one's own name, and live state. */
import { runEventSchema, type RunEvent } from "@gateway/contract/studioApi.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminOf, adminPassword, adminUrl, type Admin } from "./admin.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

let gateway: TestGateway;
let admin: Admin;
let url: string;

beforeAll(async () => {
  const members = { members: ["local"], maxRunningQueries: 4 };
  const clusterGroups = {
    default: members,
    other: members,
    closed: { ...members, authorization: { allowUsers: ["somebody"] } },
  };
  const rules = [{ regex: "forbidden", action: "deny", error: "Not this one." }];
  const routers = [{ type: "queryRegex", rules }];
  const users = { somebody: { passwordHash: `$2b$10$${"x".repeat(53)}` } };
  const auth = { provider: "static", staticUsers: { users } };
  gateway = await gatewayOf(configOf({ clusterGroups, routers, auth }));
  admin = await adminOf(gateway);
  url = adminUrl(gateway);
  for (const role of ["operator", "viewer"]) {
    const body = { role, password: adminPassword };
    const made = await admin("PUT", `/admin/users/${role}`, body, { "if-none-match": "*" });
    if (made.status !== 201) throw new Error(JSON.stringify(made));
  }
});

afterAll(() => gateway[Symbol.asyncDispose]());

describe("a query of the console", () => {
  it("runs under its user's own name, in the group that the user chose, and is recorded so", async () => {
    const events = await runAs("operator", {
      sql: "select 42 as n, 'x' as t, 9007199254740993 as big",
      group: "other",
    });
    const started = events[0];
    if (started?.kind !== "started") throw new Error(JSON.stringify(events));
    expect(events.filter(({ kind }) => kind === "rows")).toEqual([
      { kind: "rows", rows: [[42, "x", "9007199254740993"]] },
    ]);
    expect(events.at(-1)).toMatchObject({ kind: "done", rows: 1, cut: [] });
    const record = await recordOf(started.id);
    expect(record).toMatchObject({
      user: "operator",
      frontend: "console",
      clusterGroup: "other",
      status: "finished",
      routingTrace: expect.arrayContaining([{ step: "chosen", outcome: "group other" }]),
    });
    const audit = await admin("GET", "/admin/audit?action=run&limit=1");
    expect(audit.body).toMatchObject({ items: [{ by: "operator", target: "group/other" }] });
  });

  it("gets past no router that denies, and into no group that is not for its user", async () => {
    const denied = await runAs("operator", { sql: "select 'forbidden'", group: "other" });
    expect(denied.at(-1)).toMatchObject({
      error: { code: "route.denied", message: "Not this one." },
    });
    const closed = await runAs("operator", { sql: "select 1", group: "closed" });
    expect(closed.at(-1)).toMatchObject({ error: { code: "route.forbidden" } });
    const nowhere = await runAs("operator", { sql: "select 1", group: "constructor" });
    expect(nowhere.at(-1)).toMatchObject({ kind: "failed" });
  });

  it("only reads, one statement at a time, unless the configuration says more", async () => {
    for (const sql of ["create table t (a int)", "select 1; drop table t", "begin", "set x = 1"]) {
      expect((await runAs("operator", { sql })).at(-1)).toMatchObject({
        kind: "failed",
        error: { code: "query.unsupported" },
      });
    }
    const explained = await runAs("operator", { sql: "select 1; select 2", explain: true });
    expect(explained.at(-1)).toMatchObject({ kind: "failed" });
    const plan = await runAs("operator", { sql: "select 42", explain: true });
    expect(plan.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["rows", "done"]));
    const wrong = await runAs("operator", { sql: "select nosuch", explain: true });
    expect(wrong.at(-1)).toMatchObject({ kind: "failed" });
  });

  it("ends where its rows are enough, and says what is missing", async () => {
    const events = await runAs("operator", { sql: "select * from range(100000)", maxRows: 450 });
    const rows = events.flatMap((event) => (event.kind === "rows" ? event.rows : []));
    expect(rows).toHaveLength(450);
    expect(events.at(-1)).toMatchObject({ kind: "done", rows: 450, cut: ["rows"] });
  });

  it("ends when its reader leaves, and when its time is over", async () => {
    const leave = new AbortController();
    const response = await post("operator", { sql: endless }, {}, leave.signal);
    await response.body?.getReader().read();
    leave.abort();
    await until(async () => (await running()) === 0);
    const late = await runAs("operator", { sql: endless, timeoutSecs: 1 });
    expect(late.at(-1)).toMatchObject({ kind: "failed", error: { code: "query.timeout" } });
    await until(async () => (await running()) === 0);
  });

  it("is for operators, from our own page", async () => {
    expect((await post("viewer", { sql: "select 1" })).status).toBe(403);
    const foreign = { "sec-fetch-site": "cross-site" };
    expect((await post("operator", { sql: "select 1" }, foreign)).status).toBe(403);
    const capabilities = await fetch(`${url}/admin/capabilities`, { headers: basicOf("viewer") });
    expect(await capabilities.json()).toMatchObject({ run: { available: false, writes: false } });
  });

  it("has an editor told of the tables that are there", async () => {
    const tables = await admin("POST", "/admin/run-tables", { group: "default" });
    expect(tables.status).toBe(200);
    expect(tables.body).toMatchObject({ truncated: false });
    const closed = await admin("POST", "/admin/run-tables", { group: "closed" });
    expect(closed.status).toBe(409);
  });
});

describe("live state over HTTP", () => {
  it("shows a query that runs, its end, and ends at once when the process stops", async () => {
    const own = await gatewayOf(configOf());
    const ownAdmin = await adminOf(own);
    const response = await fetch(`${adminUrl(own)}/admin/events`, { headers: basicOf("root") });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const read = readerOf(response);
    expect(await read()).toContain("event: snapshot");
    const leave = new AbortController();
    const body = JSON.stringify({ sql: endless });
    const headers = { ...basicOf("root"), "content-type": "application/json" };
    const signal = leave.signal;
    await fetch(`${adminUrl(own)}/admin/run`, { method: "POST", headers, body, signal });
    let text = "";
    while (!text.includes('"state":"running"')) text = await read();
    expect(text).toContain(endless);
    leave.abort();
    while (!text.includes('"gone":["')) text = await read();
    expect((await ownAdmin("GET", "/admin/live")).body).toMatchObject({ queries: { total: 0 } });
    const drained = own[Symbol.asyncDispose]();
    while (!text.includes("event: end")) text = await read();
    expect(text).toContain('"reason":"stopping"');
    await drained;
  });
});

const endless =
  "select count(*) from range(100000000000) a, range(1000) b where a.range % 7 = b.range";

function basicOf(name: string): { readonly authorization: string } {
  return { authorization: `Basic ${btoa(`${name}:${adminPassword}`)}` };
}

function post(
  name: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/admin/run`, {
    method: "POST",
    headers: { ...basicOf(name), "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function runAs(name: string, body: object): Promise<readonly RunEvent[]> {
  const response = await post(name, body);
  if (response.status !== 200) throw new Error(await response.text());
  const lines = (await response.text()).trimEnd().split("\n");
  return lines.map((line) => runEventSchema.parse(JSON.parse(line)));
}

async function running(): Promise<number> {
  const { body } = await admin("GET", "/admin/queries/running");
  return (body as { readonly items: readonly unknown[] }).items.length;
}

/** A record is kept a moment after its query's end. */
async function recordOf(id: string): Promise<unknown> {
  let found = await admin("GET", `/admin/queries/${id}`);
  await until(async () => {
    found = await admin("GET", `/admin/queries/${id}`);
    return found.status === 200;
  });
  return found.body;
}

async function until(fits: () => Promise<boolean>): Promise<void> {
  while (!(await fits())) await new Promise((resolve) => setImmediate(resolve));
}

function readerOf(response: Response): () => Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  return async () => decoder.decode((await reader?.read())?.value as Uint8Array | undefined);
}
