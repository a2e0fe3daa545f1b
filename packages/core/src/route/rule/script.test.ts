import { describe, expect, it } from "vitest";
import type { ConditionConfig } from "@gateway/contract/config/router.ts";
import { gatewayError } from "../../error.ts";
import { err, ok } from "../../result.ts";
import { queryOf } from "../rig/queryOf.ts";
import type { AskScript } from "./ask.ts";
import { compoundRule, conditionsOf } from "./compound.ts";
import { scriptRule } from "./script.ts";

describe("scriptRule", () => {
  it("takes the script's word for a group that the router lists, for none, and for a refusal", async () => {
    expect(await routed("lab")).toEqual(ok({ kind: "group", group: "lab" }));
    expect(await routed(null)).toEqual(ok({ kind: "none" }));
    expect(await routed({ deny: "no" })).toEqual(ok({ kind: "deny", error: "no" }));
  });

  it("fails where the script names another group, or fails itself", async () => {
    expect(await routed("constructor")).toMatchObject({ error: { code: "script.failed" } });
    const failing: AskScript = () => Promise.resolve(err(gatewayError("script.busy")));
    const rule = scriptRule("s", ["lab"], failing);
    expect(await rule(queryOf({}))).toMatchObject({ error: { code: "script.busy" } });
  });

  async function routed(answer: unknown) {
    return scriptRule("s", ["lab"], answering({ s: answer }))(queryOf({}));
  }
});

describe("conditionsOf with scripts", () => {
  const trino: ConditionConfig = { type: "protocolBased", protocols: ["trinoHttp"] };
  const mysql: ConditionConfig = { type: "protocolBased", protocols: ["mysqlWire"] };
  const yes: ConditionConfig = { type: "script", script: "yes" };
  const no: ConditionConfig = { type: "script", script: "no" };
  const broken: ConditionConfig = { type: "script", script: "broken" };

  it.each([
    ["all", [trino, yes], true],
    ["all", [yes, no], false],
    ["all", [yes, mysql], false],
    ["any", [mysql, no, yes], true],
    ["any", [no, mysql], false],
    ["any", [no, { type: "compound", combine: "all", conditions: [trino, yes] }], true],
  ] as const)("%s of %j holds: %s", async (combine, conditions, held) => {
    expect(await conditionsOf(combine, conditions, ask)(queryOf({}))).toEqual(ok(held));
  });

  it("asks no script behind a condition that decides, and waits for nothing then", () => {
    expect(conditionsOf("all", [mysql, broken], ask)(queryOf({}))).toBe(false);
    expect(conditionsOf("any", [trino, broken], ask)(queryOf({}))).toBe(true);
  });

  it.each(["all", "any"] as const)(
    "%s has no answer where a script that is asked fails",
    async (combine) => {
      const failed = { ok: false, error: { code: "script.failed" } };
      const order = combine === "all" ? [yes, broken, no] : [no, broken, yes];
      expect(await conditionsOf(combine, order, ask)(queryOf({}))).toMatchObject(failed);
    },
  );

  it.each([
    [yes, { kind: "group", group: "lab" }],
    [no, { kind: "none" }],
  ] as const)(
    "send a query to the group of their router where they hold: %j",
    async (one, decision) => {
      const rule = compoundRule({ combine: "all", conditions: [one], targetGroup: "lab" }, ask);
      expect(await rule(queryOf({}))).toEqual(ok(decision));
    },
  );

  it("send a query nowhere where a script of theirs fails", async () => {
    const rule = compoundRule({ combine: "all", conditions: [broken], targetGroup: "lab" }, ask);
    expect(await rule(queryOf({}))).toMatchObject({ error: { code: "script.failed" } });
  });

  const ask = answering({ yes: true, no: false });
});

/** Scripts by name with their answers; every other one fails. */
function answering(answers: Readonly<Record<string, unknown>>): AskScript {
  return ((_use: string, name: string) =>
    Promise.resolve(
      name in answers ? ok(answers[name]) : err(gatewayError("script.failed")),
    )) as AskScript;
}
