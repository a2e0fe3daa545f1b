import { scriptSqlMax, type ScriptAnswers } from "@gateway/contract/script.ts";
import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import { queryOf } from "../run/rig/plane.ts";
import { askerOf, holds, saidBy, type AskedGuard } from "./asked.ts";
import type { Hook, HookSaid } from "./webhook.ts";

const failed = gatewayError("script.failed");
const { signal } = new AbortController();

describe("askerOf", () => {
  it("is nothing where no guard has a script", () => {
    expect(askerOf([guardOf({})], "main", answering().ask)).toBeUndefined();
    expect(askerOf([guardOf({ script: "s" })], "main", answering().ask)).toBeDefined();
    expect(askerOf([guardOf({ asksScript: true })], "main", answering().ask)).toBeDefined();
  });

  it("shows a script a text up to its limit, and refuses a longer one without asking", async () => {
    const { ask, asked } = answering();
    const guards = askerOf([guardOf({ script: "s" })], "main", ask);
    const longest = `select '${"x".repeat(scriptSqlMax - 9)}'`;
    const said = await guards?.(queryOf(longest), signal);
    expect(said?.ok === true && saidBy(said.value.said, "g").answer).toBeNull();
    expect(asked).toEqual(["judge s main"]);
    const longer = await guards?.(queryOf(`${longest} `), signal);
    expect(longer?.ok === true && saidBy(longer.value.said, "g").answer).toEqual({
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
    const said = await askerOf(guards, "main", ask)?.(query, signal);
    if (said?.ok !== true) throw new Error("refused");
    expect(asked).toEqual(["judge a main"]);
    expect(guards.map((guard) => holds(guard, query, said.value.said))).toEqual([
      true,
      false,
      true,
    ]);
    expect(guards.map(({ name }) => saidBy(said.value.said, name).answer)).toEqual([
      { deny: "no" },
      null,
      null,
    ]);
  });

  it("refuses a query when a script or a condition fails, whatever others say", async () => {
    const query = queryOf("select 1");
    const condition = guardOf({ asksScript: true, conditions: later(err(failed)) });
    expect(await askerOf([condition], "main", answering().ask)?.(query, signal)).toEqual(
      err(failed),
    );
    const { ask } = answering(null, "s");
    const both = [guardOf({ name: "first", script: "other" }), guardOf({ script: "s" })];
    expect(await askerOf(both, "main", ask)?.(query, signal)).toEqual(err(failed));
  });

  it("asks nobody about what only the session answers", async () => {
    const { ask, asked } = answering({ deny: "no" });
    const said = await askerOf([guardOf({ script: "s" })], "main", ask)?.(queryOf("begin"), signal);
    expect(said).toMatchObject(ok({ said: new Map() }));
    expect(asked).toEqual([]);
  });
});

describe("a service that may write another text", () => {
  const seen: string[] = [];
  const hooked = (name: string, said: HookSaid, more: Partial<Hook> = {}) =>
    guardOf({
      name,
      hook: {
        stages: ["before"],
        rewrites: false,
        ask: ({ query }) => {
          seen.push(`${name}: ${query.sql}`);
          return Promise.resolve(said);
        },
        ...more,
      },
    });
  const asking = async (guards: readonly AskedGuard[], sql = "select 1") => {
    seen.length = 0;
    const { ask } = answering();
    const said = await askerOf(guards, "main", ask)?.(queryOf(sql), signal);
    if (said?.ok !== true) throw new Error("refused");
    return said.value;
  };

  it("is asked before all others, who see what it leaves", async () => {
    const guards = [
      hooked("judge", { warn: "slow" }),
      hooked("first", { rewrite: "select 2" }, { rewrites: true }),
      hooked("second", { rewrite: "select 3" }, { rewrites: true }),
    ];
    const { said, query } = await asking(guards);
    expect(seen).toEqual(["first: select 1", "second: select 2", "judge: select 3"]);
    expect(query).toMatchObject({ sql: "select 3", statement: { sql: "select 3" } });
    expect(saidBy(said, "first")).toMatchObject({ answer: null, rewrote: true });
    expect(saidBy(said, "judge").answer).toEqual({ warn: "slow" });
  });

  it.each(["drop table t", "select 1; select 2", "select $1", "insert into t values (1)", ";"])(
    "is not taken at its word where it writes %s",
    async (rewrite) => {
      const guard = hooked("g", { rewrite }, { rewrites: true });
      const { said, query } = await asking([guard]);
      expect([query.sql, holds(guard, query, said)]).toEqual(["select 1", true]);
      expect(saidBy(said, "g").answer).toMatchObject({ deny: expect.stringContaining("guard g") });
    },
  );

  it("is taken at its word where it writes what was there, as if it had written nothing", async () => {
    const { said, query } = await asking([
      hooked("g", { rewrite: "select 1" }, { rewrites: true }),
    ]);
    expect(query.sql).toBe("select 1");
    expect(said.get("g")).toEqual({ holds: true, answer: null });
  });

  it("decides by the text it was asked about, whatever that became", async () => {
    const conditions = ({ sql }: { readonly sql: string }) => sql === "select 2";
    const first = hooked("first", { rewrite: "select 2" }, { rewrites: true });
    const other = { ...hooked("other", { deny: "no" }), conditions };
    const { said, query } = await asking([other, { ...first, conditions: () => true }]);
    expect(holds(other, query, said)).toBe(true);
    const changed = { ...first, conditions: ({ sql }: { sql: string }) => sql === "select 1" };
    expect(holds(changed, query, said)).toBe(true);
  });

  it("is not asked about listings, or where it is asked for the engine's text alone", async () => {
    await asking([hooked("g", { deny: "no" }, { stages: ["after"] })]);
    const { ask } = answering();
    const listing = { ...queryOf("select 1"), lists: true } as const;
    const said = await askerOf([hooked("g", { deny: "no" })], "main", ask)?.(listing, signal);
    expect(seen).toEqual([]);
    expect(said?.ok === true && saidBy(said.value.said, "g").answer).toBeNull();
  });
});

describe("holds", () => {
  it("takes the absence of an answer for a bug and not for leave to pass", () => {
    const query = queryOf("select 1");
    const asks = guardOf({ asksScript: true, conditions: later(ok(false)) });
    expect(() => holds(asks, query, undefined)).toThrow("nobody was asked");
    expect(() => holds(asks, query, new Map())).toThrow("nobody was asked");
    expect(() => saidBy(undefined, "g")).toThrow("nobody was asked");
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
  const none = { conditions: undefined, asksScript: false, script: undefined, hook: undefined };
  return { name: "g", ...none, ...some };
}
