import { describe, expect, it } from "vitest";
import { err } from "../result.ts";
import { gatewayError } from "../error.ts";
import type { Identified } from "../query/query.ts";
import { queryOf } from "../run/rig/plane.ts";
import { lateSaid, type LateAsked } from "./late.ts";
import type { Hook, HookAsked, HookSaid } from "./webhook.ts";

describe("lateSaid", () => {
  it("asks nobody where no guard is for the engine's text", () => {
    const { asked } = askingWith(null);
    expect(lateSaid({ ...sentAs("select 1"), guarded: undefined }, asked)).toBeUndefined();
  });

  it("asks about the engine's text in the engine's dialect, and about its own stage alone", async () => {
    const { asked, seen } = askingWith({ warn: "slow" });
    const said = await lateSaid(sentAs("select 2"), asked);
    expect(said).toEqual({ ok: true, value: ["slow (guard g)"] });
    expect(seen).toMatchObject([
      { cluster: "lake", query: { sql: "select 2", session: { dialect: "trino" } } },
    ]);
    const both = askingWith({ deny: "no" }, ["before", "after"]);
    expect(await lateSaid(sentAs("select 1"), both.asked)).toEqual({ ok: true, value: [] });
    expect(await lateSaid(sentAs("select 2"), both.asked)).toMatchObject({
      error: { code: "policy.denied" },
    });
    expect(await lateSaid(sentAs("select 2"), askingWith(null).asked)).toEqual({
      ok: true,
      value: [],
    });
    // Nobody may write a text that no policy has seen.
    await expect(
      lateSaid(sentAs("select 2"), askingWith({ rewrite: "select 3" }).asked),
    ).rejects.toThrow("behind policies");
  });

  it("refuses where the configuration no longer has the guard that was to be asked", async () => {
    const { asked } = askingWith(null);
    const gone = { hooks: new Map<string, Hook>(), messages: new Map<string, string>() };
    for (const guards of [undefined, gone]) {
      expect(await lateSaid(sentAs("select 2"), { ...asked, guards })).toMatchObject({
        ok: false,
        error: { code: "policy.unavailable" },
      });
    }
  });

  it("says that the client left, whatever was answered", async () => {
    const left = new AbortController();
    const reason = gatewayError("query.cancelled");
    left.abort(reason);
    const { asked } = askingWith(null);
    expect(await lateSaid(sentAs("select 2"), { ...asked, signal: left.signal })).toEqual(
      err(reason),
    );
  });
});

function askingWith(said: HookSaid, stages: Hook["stages"] = ["after"]) {
  const seen: HookAsked[] = [];
  const hook: Hook = {
    stages,
    rewrites: false,
    ask: (about) => {
      seen.push(about);
      return Promise.resolve(said);
    },
  };
  const asked: LateAsked = {
    guards: { hooks: new Map([["g", hook]]), messages: new Map() },
    dialect: "trino",
    askScan: () => undefined,
    log: { acted: () => {} },
    signal: new AbortController().signal,
  };
  return { asked, seen };
}

/** The client asked `select 1`. */
function sentAs(engineSql: string): Identified {
  const limits = { maxExecutionMs: undefined, maxRows: undefined };
  const made: Partial<Identified> = {
    ...queryOf("select 1"),
    group: "main",
    engineSql,
    slot: { cluster: "lake" } as Identified["slot"],
    guarded: { warnings: [], limits, late: { services: ["g"], scans: [] } },
  };
  return made as Identified;
}
