import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { routersSchema, type RouterConfig } from "@gateway/contract/config/router.ts";
import type { RoutingStep } from "@gateway/contract/record.ts";
import { gatewayError } from "../error.ts";
import type { Authorizer } from "../port/authorizer.ts";
import { compileRoutes, type RoutesConfig } from "./route.ts";
import { err, ok } from "../result.ts";
import { noScripts, type AskScript } from "./rule/ask.ts";
import { queryOf } from "./rig/queryOf.ts";

const groups = {
  analytics: { enabled: true, order: 2 },
  batch: { enabled: true, order: 1 },
  off: { enabled: false, order: 0 },
  adhoc: { enabled: true, order: 1 },
};

describe("Routes.route", () => {
  it("takes the first router that matches and says what each one before said", async () => {
    const routers = routersOf([
      { type: "header", headerName: "X-Source", headerValueToGroup: { airflow: "batch" } },
      { type: "protocolBased", protocols: { trinoHttp: "analytics" } },
      { type: "userGroup", userToGroup: { alice: "batch" } },
    ]);
    const { routed, trace } = await route({ routers });
    expect(routed).toMatchObject({
      ok: true,
      value: { group: "analytics", sql: "SELECT 1", trace },
    });
    expect(trace).toEqual([
      { step: "header[0]", outcome: "no match" },
      { step: "protocolBased[1]", outcome: "group analytics" },
    ]);
  });

  it("goes to the group that the session chose, unless the first router that matches denies", async () => {
    const rules = [{ regex: "select", action: "deny", error: "No reading here." }];
    const deny = { type: "queryRegex", rules };
    const match = { type: "userGroup", userToGroup: { alice: "batch" } };
    const chosen = await route({ routers: routersOf([match]) }, { chosenGroup: "analytics" });
    expect(chosen.routed).toMatchObject({ ok: true, value: { group: "analytics" } });
    expect(chosen.trace).toEqual([
      { step: "userGroup[0]", outcome: "group batch" },
      { step: "chosen", outcome: "group analytics" },
    ]);
    const denied = await route({ routers: routersOf([deny]) }, { chosenGroup: "analytics" });
    expect(denied.routed).toMatchObject({ ok: false, error: { code: "route.denied" } });
    const foreign = await route({}, { chosenGroup: "analytics", allowed: ["batch"] });
    expect(foreign.routed).toMatchObject({ ok: false, error: { code: "route.forbidden" } });
    const off = await route({}, { chosenGroup: "off" });
    expect(off.routed).toMatchObject({ ok: false, error: { code: "route.noGroup" } });
  });

  it("names the rule that decided", async () => {
    const rules = [
      { regex: "^drop", action: "deny", error: "No drops here." },
      { regex: "^select", targetGroup: "batch" },
    ];
    const { trace } = await route({ routers: routersOf([{ type: "queryRegex", rules }]) });
    expect(trace).toEqual([{ step: "queryRegex[0]", outcome: "rule 1: group batch" }]);
  });

  it("refuses what a rule denies, with the rule's own text, and asks no later router", async () => {
    const rules = [{ regex: "select", action: "deny", error: "No reading here." }];
    const routers = routersOf([
      { type: "queryRegex", rules },
      { type: "userGroup", userToGroup: { alice: "batch" } },
    ]);
    const { routed, trace } = await route({ routers });
    expect(routed).toEqual({
      ok: false,
      error: gatewayError("route.denied", { message: "No reading here." }),
    });
    expect(trace).toEqual([{ step: "queryRegex[0]", outcome: "rule 0: denied" }]);
    const silent = await route({
      routers: routersOf([{ type: "queryRegex", rules: [{ regex: "", action: "deny" }] }], false),
    });
    expect(silent.routed).toEqual({ ok: false, error: gatewayError("route.denied") });
  });

  it("refuses a matched group the caller may not use; the query does not slip to another", async () => {
    const routers = routersOf([
      { type: "userGroup", userToGroup: { alice: "batch" } },
      { type: "protocolBased", protocols: { trinoHttp: "analytics" } },
    ]);
    const { routed, trace } = await route(
      { routers, routingFallback: "adhoc" },
      { allowed: ["analytics", "adhoc"] },
    );
    expect(routed).toEqual({ ok: false, error: gatewayError("route.forbidden") });
    expect(trace.at(-1)).toEqual({ step: "authorization", outcome: "batch is not allowed" });
  });

  it("refuses a matched group that is disabled, and tells nobody who may not use it", async () => {
    const routers = routersOf([{ type: "userGroup", userToGroup: { alice: "off" } }]);
    const { routed, trace } = await route({ routers });
    expect(routed).toEqual({ ok: false, error: gatewayError("route.noGroup") });
    expect(trace.at(-1)).toEqual({ step: "group", outcome: "off is disabled" });
    const stranger = await route({ routers }, { allowed: [] });
    expect(stranger.routed).toEqual({ ok: false, error: gatewayError("route.forbidden") });
  });

  it("falls back to routingFallback where no router matches", async () => {
    const { routed, trace } = await route({ routingFallback: "analytics" });
    expect(routed).toMatchObject({ ok: true, value: { group: "analytics" } });
    expect(trace).toEqual([{ step: "fallback", outcome: "group analytics" }]);
  });

  it("falls back to the first group the caller may use by order, then by name", async () => {
    expect((await route({})).routed).toMatchObject({ value: { group: "adhoc" } });
    const denied = await route({ routingFallback: "analytics" }, { allowed: ["batch"] });
    expect(denied.routed).toMatchObject({ value: { group: "batch" } });
    expect(denied.trace.map(({ outcome }) => outcome)).toEqual([
      "analytics is not allowed",
      "adhoc is not allowed",
      "group batch",
    ]);
    expect((await route({ routingFallback: "off" })).routed).toMatchObject({
      value: { group: "adhoc" },
    });
  });

  it("refuses when no group is left", async () => {
    const { routed, trace } = await route({}, { allowed: [] });
    expect(routed).toEqual({ ok: false, error: gatewayError("route.noGroup") });
    expect(trace.at(-1)).toEqual({ step: "fallback", outcome: "no group is left" });
    expect((await route({ clusterGroups: {} })).routed.ok).toBe(false);
    // The one that is tried first is asked about once.
    const first = await route({ routingFallback: "analytics" }, { allowed: [] });
    const asked = first.trace.filter(({ outcome }) => outcome === "analytics is not allowed");
    expect(asked).toHaveLength(1);
  });

  it("answers the signal's reason when it was aborted while the authorizer was asked", async () => {
    const reason = gatewayError("query.abandoned");
    const routers = routersOf([{ type: "userGroup", userToGroup: { alice: "batch" } }]);
    for (const config of [{ routers }, {}]) {
      const { routed } = await route(config, { signal: AbortSignal.abort(reason) });
      expect(routed).toEqual({ ok: false, error: reason });
    }
  });

  it("asks on behind a script that has no word for the query, and stops at the one that has", async () => {
    const script = (name: string) => ({ type: "script", script: name, targetGroups: ["batch"] });
    const words = new Map([["to batch", "batch"]]);
    const asked: string[] = [];
    const ask = ((_use: string, name: string) => {
      asked.push(name);
      return Promise.resolve(ok(words.get(name) ?? null));
    }) as AskScript;
    const user = { type: "userGroup", userToGroup: { alice: "analytics" } };
    const routed = async (...routers: object[]) =>
      await route({ routers: routersOf(routers) }, { ask });
    const second = await routed(script("none"), script("to batch"), script("last"));
    expect(second.routed).toMatchObject({ ok: true, value: { group: "batch" } });
    expect(second.trace).toEqual([
      { step: "script[0]", outcome: "no match" },
      { step: "script[1]", outcome: "group batch" },
    ]);
    expect(asked).toEqual(["none", "to batch"]);
    const plain = await routed(script("none"), user, script("last"));
    expect(plain.routed).toMatchObject({ ok: true, value: { group: "analytics" } });
    const unmatched = await routed(script("none"), script("nothing either"));
    expect(unmatched.routed).toMatchObject({ ok: true, value: { group: "adhoc" } });
  });

  it("refuses a query about which a script failed, and asks no later router", async () => {
    const script = { type: "script", script: "s", targetGroups: ["batch"] };
    const user = { type: "userGroup", userToGroup: { alice: "analytics" } };
    const failed = gatewayError("script.failed");
    const ask = (() => Promise.resolve(err(failed))) as AskScript;
    const { routed, trace } = await route({ routers: routersOf([script, user]) }, { ask });
    expect(routed).toEqual({ ok: false, error: failed });
    expect(trace).toEqual([{ step: "script[0]", outcome: "failed" }]);
  });

  it("only ever answers a group that is enabled and allowed", async () => {
    const names = ["analytics", "batch", "off", "adhoc"] as const;
    const property = fc.asyncProperty(
      fc.subarray([...names]),
      fc.option(fc.constantFrom(...names), { nil: undefined }),
      fc.option(fc.constantFrom(...names), { nil: undefined }),
      async (allowed, target, routingFallback) => {
        const routers =
          target === undefined
            ? []
            : routersOf([{ type: "userGroup", userToGroup: { alice: target } }]);
        const { routed } = await route({ routers, routingFallback }, { allowed });
        const usable = allowed.filter((name) => name !== "off");
        const expected = target === undefined ? usable : usable.filter((name) => name === target);
        expect(routed.ok).toBe(expected.length > 0);
        expect(routed.ok ? expected : ["none"]).toContain(routed.ok ? routed.value.group : "none");
      },
    );
    await fc.assert(property);
  });
});

async function route(
  config: Partial<RoutesConfig>,
  {
    allowed,
    chosenGroup,
    signal = new AbortController().signal,
    ask = noScripts,
  }: {
    allowed?: readonly string[];
    chosenGroup?: string;
    signal?: AbortSignal;
    ask?: AskScript;
  } = {},
) {
  const authorizer: Authorizer = {
    mayUse: async (_identity, group) => allowed?.includes(group) ?? true,
    mayCancel: async () => false,
  };
  const routes = compileRoutes({ routers: [], clusterGroups: groups, ...config }, authorizer, ask);
  const trace: RoutingStep[] = [];
  const query = queryOf({ sql: "SELECT 1" });
  const asked = { ...query, session: { ...query.session, chosenGroup } };
  const routed = await routes.route(asked, trace, signal);
  return { routed, trace };
}

/** Through the schema, so that the tests speak as a config file does; unchecked for values it refuses. */
function routersOf(routers: readonly unknown[], checked = true): readonly RouterConfig[] {
  return checked ? routersSchema.parse(routers) : (routers as readonly RouterConfig[]);
}
