import { describe, expect, it } from "vitest";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { noScripts } from "./ask.ts";
import { compoundRule } from "./compound.ts";
import { headerCondition, headerRule } from "./header.ts";
import { protocolCondition, protocolRule } from "./protocol.ts";
import { queryOf } from "../rig/queryOf.ts";
import { matchedTextMax, queryRegexCondition, queryRegexRule } from "./queryRegex.ts";
import { tagsCondition, tagsRule } from "./tags.ts";
import { userGroupCondition, userGroupRule } from "./userGroup.ts";

const none = { kind: "none" };

describe("protocolRule", () => {
  it("matches the frontend the query came over", () => {
    const rule = protocolRule({ trinoHttp: "batch", mysqlWire: undefined });
    expect(rule(queryOf({ frontend: "trinoHttp" }))).toEqual({ kind: "group", group: "batch" });
    expect(rule(queryOf({ frontend: "mysqlWire" }))).toEqual(none);
    expect(protocolCondition(["trinoHttp"])(queryOf({ frontend: "trinoHttp" }))).toBe(true);
    expect(protocolCondition(["trinoHttp"])(queryOf({ frontend: "mysqlWire" }))).toBe(false);
  });
});

describe("headerRule", () => {
  it("matches the name in any case and the value exactly", () => {
    const rule = headerRule("X-Source", { airflow: "batch" });
    expect(rule(queryOf({ headers: { "x-source": "airflow" } }))).toEqual({
      kind: "group",
      group: "batch",
    });
    expect(rule(queryOf({ headers: { "x-source": "Airflow" } }))).toEqual(none);
    expect(rule(queryOf({}))).toEqual(none);
    const condition = headerCondition("X-Source", ["airflow", ""]);
    expect(condition(queryOf({ headers: { "x-source": "" } }))).toBe(true);
    expect(condition(queryOf({}))).toBe(false);
  });

  it("does not take a value for a property every object has", () => {
    const rule = headerRule("x-source", { airflow: "batch" });
    expect(rule(queryOf({ headers: { "x-source": "constructor" } }))).toEqual(none);
  });
});

describe("userGroupRule", () => {
  const rule = userGroupRule({ alice: "own" }, { zeta: "z", alpha: "a" });

  it("goes by the user before the user's groups", () => {
    expect(rule(queryOf({ user: "alice", groups: ["alpha"] }))).toEqual({
      kind: "group",
      group: "own",
    });
    expect(rule(queryOf({ user: "bob", groups: ["other"] }))).toEqual(none);
  });

  it("takes the same of several groups, in whatever order the provider gives them", () => {
    const answers = [
      ["zeta", "alpha"],
      ["alpha", "zeta"],
    ].map((all) => rule(queryOf({ user: "bob", groups: all })));
    expect(answers).toEqual([
      { kind: "group", group: "a" },
      { kind: "group", group: "a" },
    ]);
  });

  it("as a condition holds for a listed user or a member of a listed group", () => {
    const condition = userGroupCondition(["alice"], ["staff"]);
    expect(condition(queryOf({ user: "alice" }))).toBe(true);
    expect(condition(queryOf({ user: "bob", groups: ["guests", "staff"] }))).toBe(true);
    expect(condition(queryOf({ user: "bob" }))).toBe(false);
  });
});

describe("queryRegexRule", () => {
  it("takes the first rule that matches, in any case unless told", () => {
    const rule = queryRegexRule([
      { regex: "DROP", caseSensitive: true, action: "deny", error: "no" },
      { regex: "^\\s*drop", caseSensitive: false, action: "route", targetGroup: "admin" },
    ]);
    expect(rule(queryOf({ sql: "DROP TABLE t" }))).toEqual({ kind: "deny", error: "no", rule: 0 });
    expect(rule(queryOf({ sql: "\n dRop table t" }))).toEqual({
      kind: "group",
      group: "admin",
      rule: 1,
    });
    expect(rule(queryOf({ sql: "select 'drop'" }))).toEqual(none);
  });

  it("looks at the first 65,536 characters and no further", () => {
    const condition = queryRegexCondition({ regex: "x", caseSensitive: false });
    expect(condition(queryOf({ sql: `${" ".repeat(matchedTextMax - 1)}x` }))).toBe(true);
    expect(condition(queryOf({ sql: `${" ".repeat(matchedTextMax)}x` }))).toBe(false);
  });
});

describe("tagsRule", () => {
  it("wants all tags of a rule, null accepting any value", () => {
    const rule = tagsRule([
      { tags: { team: "finance", batch: null }, targetGroup: "batch" },
      { tags: { team: "finance" }, targetGroup: "finance" },
    ]);
    expect(rule(queryOf({ tags: { team: "finance", batch: "" } }))).toEqual({
      kind: "group",
      group: "batch",
      rule: 0,
    });
    expect(rule(queryOf({ tags: { team: "finance" } }))).toEqual({
      kind: "group",
      group: "finance",
      rule: 1,
    });
    expect(rule(queryOf({ tags: { team: "sales", batch: "1" } }))).toEqual(none);
    expect(tagsCondition({ team: null })(queryOf({}))).toBe(false);
  });
});

describe("compoundRule", () => {
  const conditions = [
    { type: "protocolBased", protocols: ["trinoHttp"] },
    {
      type: "compound",
      combine: "any",
      conditions: [
        { type: "userGroup", users: ["alice"] },
        { type: "tags", tags: { team: null } },
        { type: "header", headerName: "x-a", headerValues: ["1"] },
        { type: "queryRegex", regex: "^with" },
      ],
    },
  ];

  it("all wants every condition, any wants one, one inside the other", () => {
    const rule = ruleOf("all");
    const hit = { kind: "group", group: "g" };
    expect(rule(queryOf({ user: "alice" }))).toEqual(hit);
    expect(rule(queryOf({ user: "bob", tags: { team: "x" } }))).toEqual(hit);
    expect(rule(queryOf({ user: "bob", headers: { "x-a": "1" } }))).toEqual(hit);
    expect(rule(queryOf({ user: "bob", sql: "WITH a AS" }))).toEqual(hit);
    expect(rule(queryOf({ user: "bob" }))).toEqual(none);
    expect(rule(queryOf({ user: "alice", frontend: "mysqlWire" }))).toEqual(none);
    expect(ruleOf("any")(queryOf({ user: "bob" }))).toEqual(hit);
    expect(ruleOf("any")(queryOf({ user: "bob", frontend: "mysqlWire" }))).toEqual(none);
  });

  function ruleOf(combine: "all" | "any") {
    const [router] = routersSchema.parse([
      { type: "compound", combine, conditions, targetGroup: "g" },
    ]);
    if (router?.type !== "compound") throw new Error("not a compound router");
    return compoundRule(router, noScripts);
  }
});
