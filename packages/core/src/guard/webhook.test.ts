import { guardSchema, type WebhookConfig } from "@gateway/contract/config/guardrail.ts";
import type { GuardAnswer, GuardQuestion } from "@gateway/contract/guardService.ts";
import { scriptSqlMax } from "@gateway/contract/script.ts";
import { describe, expect, it } from "vitest";
import { err, ok, type Result } from "../result.ts";
import { queryOf } from "../run/rig/plane.ts";
import { hookOf } from "./webhook.ts";

const identity = {
  user: "ann",
  groups: ["analysts"],
  roles: ["reader"],
  attributes: { region: "EU" },
  method: "static",
} as const;
const query = queryOf("SELECT * FROM t WHERE name = 'secret'", {
  dialect: "postgres",
  identity,
  tags: new Map([["job", "nightly"]]),
  headers: new Map([["x-key", "header"]]),
});

describe("what a service is told", () => {
  it("is the statement without its values, and of the caller what is named", async () => {
    const { asked } = await say({ decision: "allow" }, {});
    expect(asked).toEqual([
      {
        guard: "hook",
        stage: "before",
        statement: {
          digest: { text: "select * from t where name = ?", fingerprint: expect.any(String) },
        },
        kind: "select",
        dialect: "postgres",
        clusterGroup: "main",
        tags: { job: "nightly" },
        user: "ann",
        groups: ["analysts"],
      },
    ]);
    const none = await say({ decision: "allow" }, { caller: [] });
    expect(JSON.stringify(none.asked)).not.toMatch(/ann|analysts|reader|region|header|secret/);
    const roles = await say({ decision: "allow" }, { caller: ["roles"], statement: "text" });
    expect(roles.asked).toMatchObject([{ roles: ["reader"], statement: { text: query.sql } }]);
    expect(roles.asked[0]).not.toHaveProperty("user");
  });

  it("holds no text where values might show in it", async () => {
    const doubtful = queryOf("select 'a\\' from t where b = ' or 1", { dialect: "generic" });
    const { asked } = await say({ decision: "allow" }, {}, doubtful);
    expect(asked[0]?.statement).toMatchObject({ digest: { text: null } });
  });

  it("is never a part of a text", async () => {
    const ofLength = (length: number) => queryOf(`select '${"x".repeat(length - 9)}'`);
    const long = ofLength(scriptSqlMax + 1);
    const { asked, said } = await say({ decision: "allow" }, { statement: "text" }, long);
    expect(asked).toEqual([]);
    expect(said).toMatchObject({ deny: expect.stringContaining("too long") });
    const longest = ofLength(scriptSqlMax);
    expect((await say({ decision: "allow" }, { statement: "text" }, longest)).said).toBeNull();
  });

  it("is a fingerprint alone where its digest is too long", async () => {
    const textOf = async (length: number) => {
      const long = queryOf(`select ${"x".repeat(length - 7)}`);
      const [asked] = (await say({ decision: "allow" }, {}, long)).asked;
      const { statement } = asked as { statement: { digest: { text: string | null } } };
      return statement.digest.text?.length;
    };
    expect(await textOf(scriptSqlMax)).toBe(scriptSqlMax);
    expect(await textOf(scriptSqlMax + 1)).toBeUndefined();
  });
});

describe("what a service says", () => {
  const text = { statement: "text" };

  it.each([
    [{ decision: "allow" }, null],
    [{ decision: "deny", message: "no" }, { deny: "no" }],
    [{ decision: "deny" }, { deny: expect.stringContaining("denies") }],
    [{ decision: "warn", message: "slow" }, { warn: "slow" }],
  ] as const)("counts as it stands: %j", async (answer, meant) => {
    expect((await say(answer, text)).said).toEqual(meant);
  });

  it("is a rewritten statement only where it may be one", async () => {
    const answer = { decision: "rewrite", sql: "SELECT 1" } as const;
    const unusable = { deny: expect.stringContaining("could not be asked"), unavailable: true };
    expect((await say(answer, { ...text, rewrites: true })).said).toEqual({ rewrite: "SELECT 1" });
    expect((await say(answer, text)).said).toEqual(unusable);
    const late = { ...text, rewrites: true, stages: ["before", "after"] };
    expect((await say(answer, late, query, "lake")).said).toEqual(unusable);
  });

  it("refuses where there is nothing, unless the configuration says warn", async () => {
    expect((await say(undefined, {})).said).toMatchObject({ unavailable: true });
    expect((await say(undefined, { onError: "warn" })).said).toEqual({
      warn: expect.stringContaining("guard hook"),
    });
  });
});

async function say(
  answer: GuardAnswer | undefined,
  config: object,
  about = query,
  cluster?: string,
) {
  const asked: GuardQuestion[] = [];
  const ask = (question: GuardQuestion): Promise<Result<GuardAnswer, string>> => {
    asked.push(question);
    return Promise.resolve(answer === undefined ? err("slow") : ok(answer));
  };
  const guard = { name: "hook", type: "webhook", url: "http://127.0.0.1/", ...config };
  const hook = hookOf(guardSchema.parse(guard) as WebhookConfig, { ask });
  const place = { query: about, group: "main", ...(cluster !== undefined && { cluster }) };
  return { asked, said: await hook.ask(place, new AbortController().signal) };
}
