import { groupSchema } from "@gateway/contract/config/group.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import type { RoutingStep } from "@gateway/contract/record.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorCatalogue } from "@gateway/contract/error.ts";
import { allowListAuthorizer } from "./allowList.ts";
import { routeExplainer, type RouteQuestion } from "./explain.ts";
import { noScripts } from "./rule/ask.ts";
import { compileRoutes } from "./route.ts";
import { queryOf } from "./rig/queryOf.ts";

const group = (more: object) =>
  groupSchema.parse({ members: ["duck"], maxRunningQueries: 1, ...more });

const clusterGroups = {
  open: group({ order: 5 }),
  finance: group({ order: 1, authorization: { allowGroups: ["finance"] } }),
  off: group({ enabled: false }),
};

const config = {
  clusterGroups,
  routingFallback: "open",
  routers: routersSchema.parse([
    { type: "header", headerName: "X-Source", headerValueToGroup: { airflow: "finance" } },
    { type: "tags", rules: [{ tags: { team: "etl" }, targetGroup: "off" }] },
    { type: "protocolBased", protocols: { mysqlWire: "finance" } },
    { type: "userGroup", groupToGroup: { finance: "finance" } },
    { type: "queryRegex", rules: [{ regex: "^drop", action: "deny", error: "No drops here." }] },
  ]),
};

const authorizer = allowListAuthorizer(clusterGroups, { groups: [], roles: [] });
const explain = routeExplainer(config, { authorizer, ask: noScripts, complete: true });

describe("routeExplainer", () => {
  it("answers the group and what each router said", async () => {
    expect(await explain(questionOf({ groups: ["finance"] }))).toEqual({
      group: "finance",
      refusal: undefined,
      trace: [
        { step: "header[0]", outcome: "no match" },
        { step: "tags[1]", outcome: "no match" },
        { step: "protocolBased[2]", outcome: "no match" },
        { step: "userGroup[3]", outcome: "group finance" },
      ],
    });
  });

  it("answers the fallback when no router matches", async () => {
    const { group: chosen, trace } = await explain(questionOf({}));
    expect(chosen).toBe("open");
    expect(trace.at(-1)).toEqual({ step: "fallback", outcome: "group open" });
  });

  it.each([
    ["a rule's own text", { sql: "drop table t" }, "route.denied", "No drops here."],
    [
      "a group that the user may not use",
      { headers: { "X-SOURCE": "airflow" } },
      "route.forbidden",
      errorCatalogue["route.forbidden"].text,
    ],
    [
      "a disabled group",
      { tags: { team: "etl" } },
      "route.noGroup",
      errorCatalogue["route.noGroup"].text,
    ],
  ])("answers the refusal and its trace: %s", async (_why, traits, code, message) => {
    const answer = await explain(questionOf(traits));
    expect(answer).toMatchObject({ group: undefined, refusal: { code, message } });
    expect(answer.trace.length).toBeGreaterThan(0);
  });

  it("leaves a yes open where somebody was not asked, and a no certain", async () => {
    const partly = routeExplainer(config, { authorizer, ask: noScripts, complete: false });
    const open = await partly(questionOf({}));
    expect(open).toMatchObject({ group: undefined, refusal: undefined, undecided: "open" });
    expect(open.trace.at(-1)).toEqual({ step: "fallback", outcome: "group open" });
    const refused = await partly(questionOf({ headers: { "X-SOURCE": "airflow" } }));
    expect(refused.refusal?.code).toBe("route.forbidden");
    expect(refused.undecided).toBeUndefined();
  });

  it("answers as the pipeline decides, whatever is asked", async () => {
    const routes = compileRoutes(config, authorizer, noScripts);
    const question = fc.record({
      sql: fc.constantFrom("select 1", "drop table t", "DROP TABLE t", ""),
      user: fc.constantFrom("alice", "bob"),
      groups: fc.subarray(["finance", "etl"]),
      roles: fc.subarray(["admin"]),
      frontend: fc.constantFrom("trinoHttp", "mysqlWire", "constructor"),
      tags: fc.constantFrom<Record<string, string>>({}, { team: "etl" }, { team: "x" }),
      headers: fc.constantFrom<Record<string, string>>({}, { "x-source": "airflow" }),
    });
    const holds = fc.asyncProperty(question, async (asked) => {
      const trace: RoutingStep[] = [];
      const routed = await routes.route(queryOf(asked), trace, new AbortController().signal);
      const answer = await explain(asked);
      expect(answer.trace).toEqual(trace);
      expect(answer.group).toBe(routed.ok ? routed.value.group : undefined);
      expect(answer.refusal?.code).toBe(routed.ok ? undefined : routed.error.code);
    });
    await fc.assert(holds);
  });
});

function questionOf(traits: Partial<RouteQuestion>): RouteQuestion {
  return {
    sql: "select 1",
    user: "alice",
    groups: [],
    roles: [],
    frontend: "trinoHttp",
    tags: {},
    headers: {},
    ...traits,
  };
}
