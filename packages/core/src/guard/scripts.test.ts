import { scriptSqlMax, type ScriptAnswers } from "@gateway/contract/script.ts";
import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import { queryOf } from "../run/rig/plane.ts";
import { holds, saidBy, scriptsOf, type AskedGuard } from "./scripts.ts";

const failed = gatewayError("script.failed");

describe("scriptsOf", () => {
  it("is nothing where no guard has a script", () => {
    expect(scriptsOf([guardOf({})], "main", answering().ask)).toBeUndefined();
    expect(scriptsOf([guardOf({ script: "s" })], "main", answering().ask)).toBeDefined();
    expect(scriptsOf([guardOf({ asksScript: true })], "main", answering().ask)).toBeDefined();
  });

  it("shows a script a text up to its limit, and refuses a longer one without asking", async () => {
    const { ask, asked } = answering();
    const guards = scriptsOf([guardOf({ script: "s" })], "main", ask);
    const longest = `select '${"x".repeat(scriptSqlMax - 9)}'`;
    const said = await guards?.(queryOf(longest));
    expect(said?.ok === true && saidBy(said.value, "g")).toBeNull();
    expect(asked).toEqual(["judge s main"]);
    const longer = await guards?.(queryOf(`${longest} `));
    expect(longer?.ok === true && saidBy(longer.value, "g")).toEqual({
      deny: "The text of this statement is too long for a script to see.",
    });
    expect(asked).toHaveLength(1);
  });

  it("asks only the scripts of guards whose conditions hold, and knows of each whether they did", async () => {
    const { ask, asked } = answering({ deny: "no" });
    const guards = [
      guardOf({ name: "holds", script: "a", conditions: () => true }),
      guardOf({ name: "does not", script: "b", asksScript: true, conditions: later(ok(false)) }),
      guardOf({ name: "without", asksScript: true, conditions: later(ok(true)) }),
    ];
    const query = queryOf("select 1");
    const said = await scriptsOf(guards, "main", ask)?.(query);
    if (said?.ok !== true) throw new Error("refused");
    expect(asked).toEqual(["judge a main"]);
    expect(guards.map((guard) => holds(guard, query, said.value))).toEqual([true, false, true]);
    expect(guards.map(({ name }) => saidBy(said.value, name))).toEqual([
      { deny: "no" },
      null,
      null,
    ]);
  });

  it("refuses a query when a script or a condition fails, whatever others say", async () => {
    const query = queryOf("select 1");
    const condition = guardOf({ asksScript: true, conditions: later(err(failed)) });
    expect(await scriptsOf([condition], "main", answering().ask)?.(query)).toEqual(err(failed));
    const { ask } = answering(null, "s");
    const both = [guardOf({ name: "first", script: "other" }), guardOf({ script: "s" })];
    expect(await scriptsOf(both, "main", ask)?.(query)).toEqual(err(failed));
  });

  it("asks nobody about what only the session answers", async () => {
    const { ask, asked } = answering({ deny: "no" });
    const said = await scriptsOf([guardOf({ script: "s" })], "main", ask)?.(queryOf("begin"));
    expect(said).toEqual(ok(new Map()));
    expect(asked).toEqual([]);
  });
});

describe("holds", () => {
  it("takes the absence of an answer for a bug and not for leave to pass", () => {
    const query = queryOf("select 1");
    const asks = guardOf({ asksScript: true, conditions: later(ok(false)) });
    expect(() => holds(asks, query, undefined)).toThrow("was not asked");
    expect(() => holds(asks, query, new Map())).toThrow("was not asked");
    expect(() => saidBy(undefined, "g")).toThrow("was not asked");
    const promised = guardOf({ conditions: later(ok(false)) });
    expect(() => holds(promised, query, undefined)).toThrow("was not asked before");
    expect(holds(guardOf({}), query, undefined)).toBe(true);
    expect(holds(guardOf({ conditions: () => false }), query, undefined)).toBe(false);
  });
});

/** Scripts that all answer the same; one of them may fail. `asked` says who was asked for what. */
function answering(answer: ScriptAnswers["judge"] = null, failing?: string) {
  const asked: string[] = [];
  const ask = ((use, name, { group }) => {
    asked.push(`${use} ${name} ${group}`);
    return Promise.resolve(name === failing ? err(failed) : ok(answer));
  }) as AskScript;
  return { ask, asked };
}

function later(held: Result<boolean, typeof failed>) {
  return () => Promise.resolve(held);
}

function guardOf(some: Partial<AskedGuard>): AskedGuard {
  return { name: "g", conditions: undefined, asksScript: false, script: undefined, ...some };
}
