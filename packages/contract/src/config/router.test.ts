import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fieldsWithoutTitle } from "./rig/fieldsWithoutTitle.ts";
import { routersSchema } from "./router.ts";

const regexRule = { regex: "a", targetGroup: "g" };

describe("routersSchema", () => {
  it("is empty where it is not written", () => {
    expect(routersSchema.parse(undefined)).toEqual([]);
  });

  it("takes every kind that is built and keeps the order", () => {
    const routers = [
      { type: "protocolBased", protocols: { postgresWire: "g" } },
      { type: "header", headerName: "x", headerValueToGroup: { a: "g" } },
      { type: "userGroup", userToGroup: { a: "g" }, groupToGroup: { b: "g" } },
      { type: "tags", rules: [{ tags: { a: "b", c: null }, targetGroup: "g" }] },
    ];
    expect(routersSchema.parse(routers)).toEqual(routers);
    expect(routersSchema.parse([{ type: "queryRegex", rules: [regexRule] }])).toEqual([
      { type: "queryRegex", rules: [{ ...regexRule, caseSensitive: false, action: "route" }] },
    ]);
  });

  it("takes conditions of every kind, one inside the other", () => {
    const conditions = [
      { type: "protocolBased", protocols: ["trinoHttp"] },
      { type: "header", headerName: "x", headerValues: ["a"] },
      { type: "userGroup", users: ["a"], groups: [] },
      { type: "tags", tags: { a: null } },
      { type: "queryRegex", regex: "a", caseSensitive: true },
    ];
    const inner = { type: "compound", combine: "any", conditions };
    const router = { type: "compound", combine: "all", conditions: [inner], targetGroup: "g" };
    expect(routersSchema.parse([router])).toEqual([router]);
    expect(issuesOf([{ ...router, conditions: [] }])).toEqual(["0.conditions too_small"]);
    expect(issuesOf([{ ...router, conditions: [{ ...inner, targetGroup: "g" }] }])).toEqual([
      "0.conditions.0 unrecognized_keys",
    ]);
  });

  it("wants the name of a script, and from a router the groups that it may name", () => {
    const routers = [
      { type: "script" },
      { type: "compound", combine: "any", targetGroup: "g", conditions: [{ type: "script" }] },
      { type: "script", script: "s", targetGroups: ["g"] },
    ];
    const issues = routersSchema.safeParse(routers).error?.issues ?? [];
    expect(issues.map(({ path }) => path.join("."))).toEqual([
      "0.script",
      "0.targetGroups",
      "1.conditions.0.script",
    ]);
  });

  it("wants a target from a rule that routes, and none and no other from one that denies", () => {
    const rules = [
      { regex: "a" },
      { regex: "a", action: "deny", targetGroup: "g" },
      { regex: "a", targetGroup: "g", error: "text" },
      { regex: "a", action: "deny", error: "text" },
    ];
    expect(issuesOf([{ type: "queryRegex", rules }])).toEqual([
      "0.rules.0.targetGroup custom",
      "0.rules.1.targetGroup custom",
      "0.rules.2.error custom",
    ]);
  });

  it("refuses an unknown kind, unknown keys, empty tags and a pattern that is too long", () => {
    const routers = [
      { type: "random" },
      { type: "header", headerName: "x", headerValueToGroup: {}, targetGroup: "g" },
      { type: "tags", rules: [{ tags: {}, targetGroup: "g" }] },
      { type: "queryRegex", rules: [{ regex: "a".repeat(10_001), targetGroup: "g" }] },
    ];
    expect(issuesOf(routers)).toEqual([
      "0.type invalid_union",
      "1 unrecognized_keys",
      "2.rules.0.tags custom",
      "3.rules.0.regex too_big",
    ]);
  });

  it("gives every field a title and a description", () => {
    const schema = z.toJSONSchema(routersSchema, { io: "input", unrepresentable: "any" });
    expect(fieldsWithoutTitle(schema)).toEqual([]);
    expect(fieldsWithoutTitle({ properties: { bare: { type: "string" } } })).toEqual([".bare"]);
  });
});

function issuesOf(routers: readonly unknown[]): readonly string[] {
  const issues = routersSchema.safeParse(routers).error?.issues ?? [];
  return issues.map(({ path, code }) => `${path.join(".")} ${code}`);
}
