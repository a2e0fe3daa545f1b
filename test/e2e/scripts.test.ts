/** Scripts from the clients' and the administrators' side, in the sandbox that queries really use. */
import { readFileSync } from "node:fs";
import { scriptAnswer, type ScriptQuery } from "@gateway/contract/script.ts";
import { parseConfig } from "@gateway/gateway/config/load.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminOf, type Admin } from "./admin.ts";
import { bundle, configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const scripts = {
  byUser: {
    use: "route",
    source: `function route({ user, tags, protocol }) {
      if (user === "looper") for (;;) {}
      if (user === "eater") { const all = ["x"]; for (;;) all[0] += all[0]; }
      if (user === "thrower") throw new Error("no " + user);
      if (user === "stranger") return "elsewhere";
      if (user === "gone") return { deny: "You left." };
      return user === "labrat" && protocol === "postgresWire" ? "lab" : null;
    }`,
  },
  isCurious: { use: "match", source: "function match({ user }) { return user === 'curious'; }" },
  careful: {
    use: "judge",
    source: `function judge({ kind, sql, group, parameters }) {
      if (kind === "ddl") return { deny: "No DDL in " + group + "." };
      return sql.includes("slow") ? { warn: "This is slow." } : null;
    }`,
  },
  renamed: {
    use: "rewrite",
    source: `function rewrite({ sql, user }) {
      if (user === "dropper") return "DROP TABLE t";
      if (user === "twice") return sql + "; SELECT 2";
      if (user === "unbinder") return sql.replace("$1", "1");
      return sql.replace("old_name", "new_name");
    }`,
  },
};

let gateway: TestGateway;
let admin: Admin;

beforeAll(async () => {
  const group = { members: ["local"], maxRunningQueries: 4 };
  gateway = await gatewayOf(
    configOf({
      clusterGroups: { default: group, lab: group },
      routers: [
        { type: "script", script: "byUser", targetGroups: ["lab"] },
        {
          type: "compound",
          combine: "all",
          conditions: [
            { type: "protocolBased", protocols: ["postgresWire"] },
            { type: "script", script: "isCurious" },
          ],
          targetGroup: "lab",
        },
      ],
      guardrails: {
        guards: [{ name: "careful", type: "script", script: "careful", clusterGroups: ["lab"] }],
      },
      translation: { scripts: [{ script: "renamed", when: "before" }] },
      scripts,
    }),
  );
  admin = await adminOf(gateway);
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

describe("a script of the configuration", () => {
  it("routes, judges and rewrites", async () => {
    expect(await asked("ann", "SELECT 1 AS a")).toEqual([{ a: 1 }]);
    expect(await asked("ann", "CREATE TABLE new_name AS SELECT 7 AS a")).toEqual([]);
    expect(await asked("ann", "SELECT a FROM old_name WHERE a = $1::int", [7])).toEqual([{ a: 7 }]);
    for (const user of ["labrat", "curious"]) {
      expect(await asked(user, "DROP TABLE new_name")).toMatch(/^42501 No DDL in lab\./);
    }
    expect(await asked("gone", "SELECT 1")).toMatch(/^42501 You left\./);
  });

  it.each([
    ["looper", "SELECT 1"],
    ["eater", "SELECT 1"],
    ["thrower", "SELECT 1"],
    ["stranger", "SELECT 1"],
    ["dropper", "SELECT 1"],
    ["twice", "SELECT 1"],
  ])("that fails on a query of %s refuses it and nobody else's", async (user, sql) => {
    const [failed, other] = await Promise.all([asked(user, sql), asked("ann", "SELECT 1 AS a")]);
    expect(failed).toMatch(/^XX000 .*script/i);
    expect(failed).not.toContain(`no ${user}`);
    expect(other).toEqual([{ a: 1 }]);
  });

  it("never takes a parameter away", async () => {
    expect(await asked("unbinder", "SELECT $1::int AS a", [5])).toMatch(/^XX000 .*parameters/);
  });
});

describe("a configuration whose script does not compile", () => {
  it("never becomes active, and the line is named", async () => {
    const bad = { use: "order", source: "function order() {\n  return ];\n}" };
    await expect(gatewayOf(configOf({ scripts: { bad } }))).rejects.toThrow(
      /scripts\.bad: line 2: SyntaxError/,
    );
  });
});

describe("the admin API", () => {
  it("tries a script on an example, and says how it fails", async () => {
    const source = "function route({ tags }) {\n  return tags.team.name;\n}";
    const run = async (query: object, text = source) =>
      (await admin("POST", "/admin/script-test", { use: "route", source: text, query })).body;
    expect(await run({}, 'function route({ tags }) { return tags.team ?? "none"; }')).toMatchObject(
      {
        answered: true,
        answer: "none",
      },
    );
    expect(await run({})).toMatchObject({ answered: false, reason: "threw", line: 2 });
    expect(await run({}, "function route() { for (;;) {} }")).toMatchObject({ reason: "time" });
    expect(await run({}, "function route() { return 7; }")).toMatchObject({ reason: "answer" });
    expect(await run({}, "function route() {\n\n]")).toMatchObject({
      reason: "compile",
      detail: expect.stringMatching(/^SyntaxError/) as string,
      line: 3,
    });
  });

  it("refuses a script that does not compile with its line, and one that somebody needs otherwise", async () => {
    const wrong = { use: "route", source: "function route() {\n  return ];\n}" };
    const put = await admin("PUT", "/admin/scripts/fresh", wrong, { "if-none-match": "*" });
    expect([put.status, put.body]).toMatchObject([
      422,
      {
        faults: [
          { path: "scripts.fresh.source", reason: expect.stringMatching(/^line 2: /) as string },
        ],
      },
    ]);
    const validated = await admin("POST", "/admin/validate", {
      kind: "script",
      name: "fresh",
      body: wrong,
    });
    expect(validated.body).toMatchObject({ valid: false });
    const { etag } = await admin("GET", "/admin/scripts/byUser");
    const other = { use: "judge", source: "function judge() { return null; }" };
    const refused = await admin("PUT", "/admin/scripts/byUser", other, { "if-match": etag });
    expect(refused.body).toMatchObject({
      faults: [
        {
          path: "routers[0].script",
          reason: "needs a script of the use route; this one's is judge",
        },
      ],
    });
  });

  it("takes a new source without a restart, and explains with it", async () => {
    const { etag } = await admin("GET", "/admin/scripts/isCurious");
    const source = "function match({ user }) { return user === 'newcomer'; }";
    const put = await admin(
      "PUT",
      "/admin/scripts/isCurious",
      { use: "match", source },
      { "if-match": etag },
    );
    expect(put.status).toBe(200);
    const explained = await admin("POST", "/admin/route-explain", {
      sql: "SELECT 1",
      user: "newcomer",
      frontend: "postgresWire",
    });
    expect(explained.body).toMatchObject({ group: "lab" });
    const looped = await admin("POST", "/admin/route-explain", { sql: "SELECT 1", user: "looper" });
    expect(looped.body).toMatchObject({ refusal: { code: "script.failed" } });
  });
});

describe("docs/scripts.md", () => {
  const text = readFileSync(new URL("../../docs/scripts.md", import.meta.url), "utf8");
  const [, yaml = ""] = /^```yaml\n(.*?)^```/ms.exec(text) ?? [];
  const rows = text.split("\n").filter((line) => /^\| `\w+` +\| `\{/.test(line));

  it("shows a configuration that is one, and what its scripts answer", async () => {
    const config = parseConfig(yaml);
    if (!config.ok) throw new Error(JSON.stringify(config.error));
    const opened = await nodeHost(bundle, "silent").scripts?.open(config.value.scripts);
    if (opened?.ok !== true) throw new Error(JSON.stringify(opened?.error));
    await using open = opened.value;
    expect(rows.length).toBeGreaterThan(8);
    for (const row of rows) {
      const [name = "", given = "", beside = "", answers = ""] = row
        .split(" | ")
        .map((cell) => cell.replaceAll(/^\| | \|$|`/g, "").trim());
      const { use } = config.value.scripts[name] ?? { use: "route" };
      const query = { ...plain, ...(JSON.parse(given) as Partial<ScriptQuery>) };
      const call = { query, beside: beside === "" ? undefined : (JSON.parse(beside) as unknown) };
      const expected = scriptAnswer(use, JSON.parse(answers));
      expect([name, given, await open.ask(use, name, call)]).toEqual([
        name,
        given,
        { ok: true, value: expected?.value },
      ]);
    }
  });
});

const plain: ScriptQuery = {
  sql: "SELECT 1",
  sqlLength: 8,
  kind: "select",
  parameters: 0,
  user: "ann",
  groups: [],
  roles: [],
  tags: {},
  protocol: "trinoHttp",
  clientAddress: "127.0.0.1",
  headers: {},
  catalog: null,
  schema: null,
  dialect: "trino",
  group: null,
};

/** The rows, or the error as `SQLSTATE message`. */
async function asked(user: string, sql: string, values?: readonly unknown[]): Promise<unknown> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: portOf(gateway, "postgresWire"),
    user,
    database: "memory",
  });
  await client.connect();
  try {
    const { rows } = await client.query(sql, values === undefined ? undefined : [...values]);
    return rows;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return `${code ?? ""} ${message}`;
  } finally {
    await client.end();
  }
}
