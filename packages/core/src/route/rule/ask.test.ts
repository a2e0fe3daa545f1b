import { scriptSqlMax } from "@gateway/contract/script.ts";
import { describe, expect, it } from "vitest";
import { virtualHost } from "../../rig/virtual.ts";
import { err, ok } from "../../result.ts";
import type { ScriptCall, ScriptFailure, Scripts } from "../../script/scripts.ts";
import { queryOf } from "../rig/queryOf.ts";
import { askScripts } from "./ask.ts";

describe("askScripts", () => {
  it("refuses every call in a process where no script runs", async () => {
    const ask = askScripts(undefined, virtualHost(1));
    expect(await ask("route", "s", { query: queryOf({}) })).toMatchObject({
      error: { code: "script.failed" },
    });
  });

  it("answers what a script said", async () => {
    const said = ok("batch");
    const scripts = {
      ask: () => Promise.resolve(said),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    } as unknown as Scripts;
    const host = virtualHost(1);
    const ask = askScripts(scripts, host);
    expect(await ask("route", "s", { query: queryOf({}) })).toEqual(said);
    expect(host.log.lines).toEqual([]);
  });

  it("shows a script the start of a long text, and what else it may know", async () => {
    const seen: ScriptCall["query"][] = [];
    const scripts = {
      ask: (_use: string, _name: string, { query }: ScriptCall) => {
        seen.push(query);
        return Promise.resolve(ok(null));
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    } as unknown as Scripts;
    const ask = askScripts(scripts, virtualHost(1));
    const query = queryOf({ sql: "x".repeat(scriptSqlMax), tags: { team: "data" } });
    await ask("route", "s", { query });
    await ask("route", "s", { query, group: "main", sql: `${query.sql}y` });
    expect(seen.map(({ sql, sqlLength }) => [sql.length, sqlLength])).toEqual([
      [scriptSqlMax, scriptSqlMax],
      [scriptSqlMax, scriptSqlMax + 1],
    ]);
    expect(seen).toMatchObject([
      { group: null, user: "alice", tags: { team: "data" }, catalog: null, parameters: 0 },
      { group: "main" },
    ]);
  });

  it.each([
    ["busy", "script.busy"],
    ["threw", "script.failed"],
  ] as const)(
    "tells the client of a script that is %s: %s, and the log more",
    async (code, told) => {
      const host = virtualHost(1);
      const failure: ScriptFailure = { code, detail: "the client's text", line: 3 };
      const scripts: Scripts = {
        ask: () => Promise.resolve(err(failure)),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
      const answer = await askScripts(scripts, host)("route", "s", { query: queryOf({}) });
      expect(answer).toMatchObject({ error: { code: told } });
      expect(host.log.lines).toMatchObject([
        { event: "script.failed", fields: { queryId: "q", script: "s", reason: code, line: 3 } },
      ]);
      const labels = { use: "route", reason: code };
      expect(host.metrics.value("gateway_script_failures_total", labels)).toBe(1);
      expect(JSON.stringify(host.log.lines)).not.toContain(failure.detail);
    },
  );
});
