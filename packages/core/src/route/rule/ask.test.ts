import { describe, expect, it } from "vitest";
import { virtualHost } from "../../rig/virtual.ts";
import { err } from "../../result.ts";
import type { ScriptFailure, Scripts } from "../../script/scripts.ts";
import { queryOf } from "../rig/queryOf.ts";
import { askScripts } from "./ask.ts";

describe("askScripts", () => {
  it("refuses every call in a process where no script runs", async () => {
    const ask = askScripts(undefined, virtualHost(1));
    expect(await ask("route", "s", { query: queryOf({}) })).toMatchObject({
      error: { code: "script.failed" },
    });
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
      expect(JSON.stringify(host.log.lines)).not.toContain(failure.detail);
    },
  );
});
