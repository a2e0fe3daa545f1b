/** What the guides show in tables and commands is what the program does. */
import { readFileSync, readdirSync } from "node:fs";
import { queryRecordSchema } from "@gateway/contract/record.ts";
import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import { redact, redactions } from "@gateway/core/record/redact.ts";
import { noScripts } from "@gateway/core/route/rule/ask.ts";
import { compileGuards, judgedNow } from "@gateway/core/guard/guards.ts";
import { queryOf } from "@gateway/core/run/rig/plane.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { routeExplainer } from "@gateway/core/route/explain.ts";
import { usage } from "@gateway/gateway/command/terminal.ts";
import { parseConfig } from "@gateway/gateway/config/load.ts";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const docs = new URL("docs/", root);

describe("the commands of the guides", () => {
  const pages = readdirSync(docs).filter((name) => name.endsWith(".md"));
  const texts = pages.map((name) => readFileSync(new URL(name, docs), "utf8"));
  texts.push(readFileSync(new URL("README.md", root), "utf8"));

  it("are commands of the gateway", () => {
    const known = usage.split("\n").flatMap((line) => /^ {2}([a-z][a-z-]*)/.exec(line)?.[1] ?? []);
    const named = texts.flatMap((text) =>
      [...text.matchAll(/npx (?:gateway|query-gateway) ([a-z][a-z-]+)/g)].map(([, name]) => name),
    );
    expect(new Set(named).size).toBeGreaterThan(5);
    expect(named.filter((name) => !known.includes(name ?? ""))).toEqual([]);
  });

  it("are scripts of the checkout", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const named = texts.flatMap((text) =>
      [...text.matchAll(/npm run ([a-z:]+)/g)].map(([, name = ""]) => name),
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe("docs/guardrails.md", () => {
  const text = readFileSync(new URL("guardrails.md", docs), "utf8");
  const { guardrails, clusterGroups } = configIn(text);
  const none = { maxExecutionMs: undefined, maxRows: undefined };
  const rows = rowsUnder(text, "Group");

  it("has statements to look at", () => {
    expect(rows.length).toBeGreaterThan(5);
  });

  it.each(rows)("says in %s what happens to %s: it %s", (...row) => {
    const [group = "", written = "", happens = ""] = row;
    expect(Object.keys(clusterGroups)).toContain(group);
    expect(happens).toBe(happensTo(written.replaceAll("`", ""), group));
  });

  function happensTo(sql: string, group: string): string {
    const guards = compileGuards(guardrails?.guards ?? [], group, none, { ask: noScripts });
    if (guards === undefined) return "is not judged";
    const judged = judgedNow(guards, queryOf(sql, { dialect: "trino" }), { acted: () => {} });
    if (!judged.ok) return "is refused";
    const { sql: passed, guarded } = judged.value;
    if (passed !== sql) return "is limited";
    return (guarded?.warnings ?? []).length > 0 ? "warns" : "runs";
  }
});

describe("docs/routing.md", () => {
  const text = readFileSync(new URL("routing.md", docs), "utf8");
  const config = configIn(text);
  const lists = allowListAuthorizer(config.clusterGroups, { groups: [], roles: [] });
  const explain = routeExplainer(config, { authorizer: lists, ask: noScripts, complete: true });
  const rows = rowsUnder(text, "User");

  it("has queries to look at", () => {
    expect(rows.length).toBeGreaterThan(5);
  });

  it.each(rows)("says where a query of %s (%s) goes: %s %s", async (...row) => {
    const [user = "", groups = "", sql = "", extra = "", goesTo] = row;
    const [, tag, tagValue] = /^tag (\w+):(\w+)$/.exec(extra) ?? [];
    const [, header, headerValue] = /^header ([\w-]+): (\w+)$/.exec(extra) ?? [];
    const { group } = await explain({
      sql: sql.replaceAll("`", ""),
      user,
      groups: groups === "" ? [] : groups.split(", "),
      roles: [],
      frontend: "trinoHttp",
      tags: tag === undefined ? {} : { [tag]: tagValue ?? "" },
      headers: header === undefined ? {} : { [header]: headerValue ?? "" },
    });
    expect(group ?? "refused").toBe(goesTo);
  });
});

describe("docs/history.md", () => {
  const text = readFileSync(new URL("history.md", docs), "utf8");
  const [names = [], ...rows] = tableUnder(text, "`redaction`").map((row) =>
    row.map((cell) => cell.replaceAll("`", "")),
  );
  const secret = "hunter2";
  const record = recordOf({
    sql: `select 1 from people where pin = '${secret}' -- ${secret}`,
    errorMessage: `no '${secret}'`,
    tags: { team: "data" },
    routingTrace: [{ step: "fallback", outcome: "default" }],
  });

  it("has every redaction", () => {
    expect(rows.map(([mode]) => mode)).toEqual([...redactions]);
  });

  it.each(rows)("says what a record keeps under %s", (...row) => {
    const mode = redactions.find((one) => one === row[0]) ?? "full";
    const kept = queryRecordSchema.parse(redact(record, mode)) as Record<string, unknown>;
    for (const [at, name] of names.entries()) {
      if (at === 0) continue;
      const value = kept[name];
      const isEmpty = value === undefined || /^(?:\{\}|\[\])$/.test(JSON.stringify(value));
      expect([name, isEmpty]).toEqual([name, row[at] === "no"]);
    }
    expect(JSON.stringify(kept).includes(secret)).toBe(mode === "full");
  });
});

function configIn(text: string) {
  const [, yaml = ""] = /^```yaml\n(.*?)^```/ms.exec(text) ?? [];
  const parsed = parseConfig(yaml);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value;
}

/** Rows of the table whose first heading is `first`, without its head. */
function rowsUnder(text: string, first: string): readonly (readonly string[])[] {
  return tableUnder(text, first).slice(1);
}

function tableUnder(text: string, first: string): readonly (readonly string[])[] {
  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${first} `));
  const to = lines.findIndex((line, at) => at > from && !line.startsWith("|"));
  return lines
    .slice(from, to)
    .filter((line) => !line.startsWith("| -"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
